"""schemathesis over the API, in process: no server error, and no answer that the schema does not tell of.

A few cases of each operation, the same in every run. `python -m benchmarks.api_fuzz` makes as many as one
likes, against a web server. schemathesis keeps 0.8 to 2 GB for as long as its process lives, so each run has
a process of its own: what the same worker of pytest forked afterwards took seconds (CI of 2026-11-30).
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.db import connections
from schemathesis import engine
from schemathesis.config import SchemathesisConfig
from schemathesis.engine.events import FatalError, NonFatalError, ScenarioFinished

from crawler.isolation.forks import ForkedResult
from crawler.web.requests import Utf8WSGIHandler
from tests.demo import seed
from tests.factories import make_token, make_user
from tests.hostile.test_requests import restart_numbering

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)
EXAMPLES = {"administrator": 2, "user": 1, "anonymous": 1}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("person", EXAMPLES)
def test_every_answer_is_in_the_schema(person: str) -> None:
    restart_numbering()
    seed(datetime.now(UTC), replayed=False)
    tokens = {
        "administrator": make_token(User.objects.get(username="keeper")),
        "user": make_token(make_user("ordinary")),
    }
    for connection in connections.all():
        connection.close_pool()
    failures = ForkedResult(
        lambda: failures_of(tokens.get(person), tokens["user"], EXAMPLES[person]), person
    ).get()
    assert failures == ""


def failures_of(token: str | None, reader: str, examples: int) -> str:
    """Return the failures of all operations, asked with a token or none; the schema is read with `reader`."""
    config = SchemathesisConfig.from_dict(
        {
            "seed": 1,
            "headers": {"Accept-Encoding": "identity"} | ({"Authorization": token} if token else {}),
            "generation": {"max-examples": examples, "deterministic": True, "no-shrink": True},
            "phases": {name: {"enabled": False} for name in ("examples", "coverage", "stateful")},
            "checks": {"enabled": False, **{name: {"enabled": True} for name in CHECKS}},
            "continue-on-failure": True,
            # How long invented data takes says something of the machine: beside other work it failed a run.
            "suppress-health-check": ["too_slow"],
        }
    )
    schema = schemathesis.openapi.from_wsgi(
        "/api/schema/",
        Utf8WSGIHandler(),
        config=config,
        headers={"Authorization": reader, "Accept-Encoding": "identity"},
    )
    answers, failures = 0, []
    for event in engine.from_schema(schema).execute():
        assert not isinstance(event, FatalError | NonFatalError), event
        if isinstance(event, ScenarioFinished):
            answers += len(event.recorder.interactions)
            for nodes in event.recorder.checks.values():
                failed = [node.failure_info for node in nodes if node.failure_info]
                failures += [f"{event.recorder.label}: {info}" for info in failed]
    assert answers > 100
    return "\n".join(failures)
