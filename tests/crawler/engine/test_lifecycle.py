"""Every kind of work, and documents of the pipeline, live one life: seven promises, each for all of them."""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from articles.edits.models import ArticleVersion, PageRecheck
from articles.models import Article
from articles.models import Page as ArticlePage
from crawler.engine import check_in as checking
from crawler.engine.leased import MAX_LOSSES
from crawler.engine.leases import hand_out, lease_seconds, sweep
from crawler.engine.models import Host
from crawler.frontier.models import Body, CrawlUrl
from crawler.messages import Batch, Report, decode, encode
from crawler.pipeline import documents
from crawler.pipeline.messages import Done, PhaseWork
from crawler.pipeline.models import Document
from crawler.pipeline.phases import run
from crawler.terminals.client import terminal_client
from crawler.terminals.serve import serve_host
from crawler.text.keys import digest
from feeds.models import Feed, Retrieval
from feeds.websub.models import HubSubscription, Push
from recrawl.models import Check, Wanted
from tests.hostile.jobs import JOBS, PIECES, Job, web
from tests.servers import WebServer, article

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("terminal_on_loopback")]

LEASED = (Feed, ArticlePage, PageRecheck, HubSubscription, Push, CrawlUrl, Wanted, Document)
MADE = (Article, ArticlePage, ArticleVersion, Retrieval, Push, Check, Document)


class Killed(BaseException):
    """The process ends here."""


class Life:
    """A kind of work of the engine: what its two sides do with it, every message as it comes from a queue."""

    seconds = staticmethod(lease_seconds)
    last_step = (checking, "give_back")
    """The end of the transaction of a check-in."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def hand_out(self, now: datetime) -> list[Any]:
        """What goes out of it now."""
        given = [decode(Batch, encode(batch)) for batch in hand_out(now)]
        return [batch for batch in given if any(one.kind == self.job.kind for one in batch.assignments)]

    def pieces(self, batch: Batch) -> list[int]:
        return [one.id for one in batch.assignments if one.kind == self.job.kind]

    def serve(self, batches: Sequence[Batch]) -> list[Any]:
        """What workers bring for it."""
        return [decode(Report, encode(serve_host(terminal_client(), batch))) for batch in batches]

    def unserved(self, batch: Batch) -> Report:
        return Report(batch.host, batch.lease)

    def check_in(self, reports: Sequence[Any]) -> None:
        checking.check_in(reports)

    def sweep(self, now: datetime) -> int:
        return sweep(now)


class DocumentLife(Life):
    """A document in its first phase: batches are work for it, reports what a worker has done."""

    last_step = (documents, "note")

    @staticmethod
    def seconds() -> float:
        return documents.LEASE_SECONDS

    def hand_out(self, now: datetime) -> list[Any]:
        work = documents.work("detect", documents.lease("detect", now))
        return [decode(PhaseWork, encode(batch)) for batch in work]

    def pieces(self, batch: PhaseWork) -> list[int]:  # type: ignore[override]
        return [task.id for task in batch.tasks]

    def serve(self, batches: Sequence[PhaseWork]) -> list[Any]:  # type: ignore[override]
        return [decode(Done, encode(run(batch, "a worker"))) for batch in batches]

    def check_in(self, reports: Sequence[Done]) -> None:
        for report in reports:
            documents.settle(report)

    def sweep(self, now: datetime) -> int:
        return documents.sweep(now)


def make_documents(server: WebServer) -> None:
    host = Host.objects.create(name="127.0.0.1")
    for number in range(PIECES):
        url, content = f"{server.origin}/page{number}", article(number)
        body = Body.objects.create(digest=uuid.uuid4(), content=zlib.compress(content), size=len(content))
        Document.objects.create(
            url=url, key=digest(url), host=host, source=Document.Source.ADDRESS, body=body,
            content_type="text/html", fetched=datetime.now(UTC),
        )  # fmt: skip


DOCUMENT = Job(
    "document", make_documents, lambda: Document.objects.filter(state="detected").count(),
    lambda: list(Document.objects.exclude(failure="").values_list("failure", flat=True)),
)  # fmt: skip
LIVES = [*map(Life, JOBS), DocumentLife(DOCUMENT)]


@pytest.fixture(params=LIVES, ids=lambda life: life.job.kind)
def life(request: pytest.FixtureRequest, settings: Any) -> Iterator[Life]:
    """A kind of work of which PIECES wait."""
    settings.CRAWL_LEASE_SLACK_SECONDS = 60.0
    settings.FEED_ARTICLE_PAGES = False
    settings.PUBLIC_URL = "https://freshet.example"
    with web() as server:
        request.param.job.make(server)
        yield request.param


def out() -> int:
    """How many rows are under a lease, hosts among them."""
    return sum(model.objects.filter(lease__isnull=False).count() for model in (*LEASED, Host))  # type: ignore[attr-defined]


def state(life: Life) -> tuple[Any, ...]:
    """What is stored of it, and all rows that checking in makes."""
    return life.job.stored(), life.job.failures(), [model.objects.count() for model in MADE]  # type: ignore[attr-defined]


def all_out(life: Life) -> list[Any]:
    """All pieces are handed out, together or each in a batch of its own."""
    batches = life.hand_out(datetime.now(UTC))
    assert sum(len(life.pieces(batch)) for batch in batches) == PIECES
    return batches


def test_what_waits_is_handed_out_once(life: Life) -> None:
    batches = all_out(life)
    assert len({piece for batch in batches for piece in life.pieces(batch)}) == PIECES
    assert out() >= PIECES
    assert life.hand_out(datetime.now(UTC)) == []


def test_what_was_brought_is_settled(life: Life) -> None:
    life.check_in(life.serve(all_out(life)))
    assert (life.job.stored(), set(life.job.failures()) - {""}, out()) == (PIECES, set(), 0)
    assert life.hand_out(datetime.now(UTC)) == []


def test_what_comes_twice_counts_once(life: Life) -> None:
    reports = life.serve(all_out(life))
    life.check_in(reports)
    before = state(life)
    life.check_in(reports)
    assert state(life) == before


def test_what_comes_late_changes_nothing_and_goes_out_again(life: Life) -> None:
    before, begun = state(life), datetime.now(UTC)
    late = life.serve(all_out(life))
    over = begun + timedelta(seconds=life.seconds() + 30)
    assert life.sweep(over)
    life.check_in(late)
    assert (state(life), out()) == (before, 0)
    assert life.hand_out(over)


@pytest.mark.parametrize("life", LIVES[: len(JOBS)], ids=lambda life: life.job.kind, indirect=True)
def test_what_was_not_done_is_given_back_and_has_lost_nothing(life: Life) -> None:
    """But for documents: what a worker leaves of a batch waits for the end of its lease."""
    before = state(life)
    for _ in range(MAX_LOSSES + 1):
        life.check_in([life.unserved(batch) for batch in all_out(life)])
        assert (state(life), out()) == (before, 0)
    life.check_in(life.serve(all_out(life)))
    assert life.job.stored() == PIECES


def test_what_is_lost_goes_alone_and_fails_by_its_name_after_so_many(life: Life) -> None:
    now, leases = datetime.now(UTC), 0
    while leases < MAX_LOSSES * PIECES:
        batches = life.hand_out(now)
        assert batches
        if leases:
            assert all(len(life.pieces(batch)) == 1 for batch in batches)
        leases += sum(len(life.pieces(batch)) for batch in batches)
        now += timedelta(seconds=life.seconds() + 1)
        life.sweep(now)
    assert life.job.failures() == ["lost"] * PIECES
    assert (leases, life.job.stored(), out()) == (MAX_LOSSES * PIECES, 0, 0)
    assert life.hand_out(now) == []


def test_a_check_in_that_is_killed_in_the_middle_has_changed_nothing(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = life.serve(all_out(life))
    before, leases = state(life), out()

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(*life.last_step, die)
        life.check_in(reports)
    assert (state(life), out()) == (before, leases)
    life.check_in(reports)
    assert (life.job.stored(), out()) == (PIECES, 0)
