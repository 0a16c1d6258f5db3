"""The update rule of crawled URLs, one branch each, without a database."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from crawler.frontier import decision as rule
from crawler.frontier.budgets import MAX_REDIRECTS
from crawler.frontier.decision import MAX_ATTEMPTS, State, UrlDecision, decide
from crawler.frontier.models import CrawlUrl
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage

AT = datetime(2026, 1, 5, 10, 20, tzinfo=UTC)


def decided(*, attempts: int = 1, hops: int = 0, keep_bodies: bool = True, **said: Any) -> UrlDecision:
    """The decision about an answer at AT."""
    harvest = Harvest("crawl", 1, AT.timestamp(), "https://site.example/", **{"status": 200, **said})
    return decide(attempts, hops, harvest, keep_bodies=keep_bodies)


def test_its_words_are_those_of_the_database() -> None:
    assert set(get_args(State)) == set(CrawlUrl.State.values) - {"dropped"}


@pytest.mark.parametrize(
    ("said", "state", "reason", "is_followed"),
    [
        ({}, "crawled", "", True),
        ({"status": 226}, "crawled", "", True),
        ({"status": 301}, "moved", "", True),
        ({"status": 301, "hops": MAX_REDIRECTS}, "failed", "redirect", False),
        ({"status": 404, "failure": "http-404"}, "failed", "http-404", False),
        ({"status": 500, "failure": "http-500"}, "queued", "http-500", False),
        ({"status": 429, "failure": "throttled"}, "queued", "throttled", False),
        ({"status": 500, "failure": "http-500", "attempts": MAX_ATTEMPTS}, "failed", "http-500", False),
        ({"status": 503, "failure": "robots"}, "queued", "robots", False),
        ({"failure": "robots"}, "failed", "robots", False),
    ],
)
def test_an_answer_leads_to_a_state(said: dict[str, Any], state: str, reason: str, is_followed: bool) -> None:
    decision = decided(**said)
    assert (decision.state, decision.reason, decision.is_followed) == (state, reason, is_followed)
    assert (decision.changes["state"], decision.changes["failure"]) == (state, reason)
    assert (decision.changes["lease"], decision.changes["losses"]) == (None, 0)
    assert ("not_before" in decision.changes) == (state == "queued")


@pytest.mark.parametrize(
    ("attempts", "retry_after", "seconds"), [(1, None, 5), (3, None, 80), (1, 60.0, 60), (1, 9999.0, 600)]
)
def test_retries_wait_longer_each_time(
    attempts: int, retry_after: float | None, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule, "RETRY_SECONDS", 5.0)
    changes = decided(attempts=attempts, failure="dns", retry_after=retry_after, elapsed=2.0).changes
    assert changes["queued"] == changes["not_before"] == AT + timedelta(seconds=2 + seconds)


@pytest.mark.parametrize("keep", [True, False])
def test_a_body_is_named_only_where_it_is_kept(keep: bool) -> None:
    page = CrawledPage(digest="0" * 32, body=b"1", size=1, title="A page", headers=(("a", "b"),))
    decision = decided(payload=page, keep_bodies=keep)
    assert (decision.is_kept, decision.changes["body_id"]) == (keep, uuid.UUID(int=0) if keep else None)
    assert (decision.changes["title"], decision.changes["headers"]) == ("A page", [["a", "b"]])
