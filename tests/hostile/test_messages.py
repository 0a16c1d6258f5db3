"""Messages that come twice, late, truncated, forged or out of time, and results that nothing can store."""

from __future__ import annotations

import base64
import contextlib
import time
import uuid
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from articles import tasks as of_articles
from articles.models import Article
from articles.models import Page as ArticlePage
from crawler.engine import tasks
from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out, sweep
from crawler.engine.models import Host
from crawler.failures import Failure
from crawler.messages import Assignment, Batch, Harvest, Report, decode, encode
from crawler.reading.documents import PageDocument
from crawler.terminals.client import terminal_client, terminal_threads
from crawler.terminals.serve import serve
from feeds.models import Feed, Retrieval
from feeds.websub.models import Push
from recrawl.models import Check
from tests.hostile.jobs import JOBS, PIECES, Job, web
from tests.servers import WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("product")]

EVERY_JOB = pytest.mark.parametrize("job", JOBS, ids=lambda job: job.kind)
DAYS = 12
GIVEN_OUT = {"hub": DAYS, "page": 24}
"""Times that a piece of work is given out at most: a hub is asked once a day for ever, and a page that was
lost three times has had one of its eight attempts."""

MOST = 6
"""The same for all others."""

ODD: dict[str, dict[str, Any]] = {
    "a status beyond its column": {"status": 10**9},
    "a time beyond all calendars": {"at": 1e300, "retry_after": 1.0},
    "a time that is no number": {"at": float("nan"), "retry_after": 1.0},
    "an unknown failure": {"failure": "no-such-name"},
    "a size below zero": {"bytes": -(2**70), "elapsed": -1e308},
}


@pytest.fixture
def server() -> Iterator[WebServer]:
    with web() as one:
        yield one


@pytest.fixture(autouse=True)
def _unhurried(settings: Any) -> None:
    """A batch is done within its lease however slow the machine; pages are left alone."""
    settings.CRAWL_LEASE_SLACK_SECONDS = 60.0
    settings.FEED_ARTICLE_PAGES = False


def batches(job: Job, now: datetime | None = None) -> list[Batch]:
    """What goes out of a kind of work, as it comes from a queue."""
    found = [decode(Batch, encode(batch)) for batch in hand_out(now or datetime.now(UTC))]
    return [batch for batch in found if any(one.kind == job.kind for one in batch.assignments)]


def served(given: list[Batch]) -> list[Report]:
    """What a terminal brings for it."""
    groups = serve(terminal_client(), given, terminal_threads())
    return [decode(Report, encode(report)) for group in groups for report in group]


def rows() -> dict[str, int]:
    """How many rows there are of what checking in makes."""
    return {model.__name__: model.objects.count() for model in (Article, Retrieval, Check, ArticlePage, Push)}


def end_leases() -> None:
    """Let all leases be over."""
    past = datetime.now(UTC) - timedelta(seconds=1)
    Host.objects.filter(lease__isnull=False).update(leased_until=past)
    Push.objects.filter(lease__isnull=False).update(leased_until=past)


@EVERY_JOB
def test_a_report_that_comes_twice_counts_once(job: Job, server: WebServer) -> None:
    job.make(server)
    reports = served(batches(job))
    check_in(reports)
    assert job.stored() == PIECES
    before = rows()
    check_in(reports)
    assert (job.stored(), rows()) == (PIECES, before)


@EVERY_JOB
def test_a_report_that_comes_late_changes_nothing(job: Job, server: WebServer) -> None:
    job.make(server)
    late = served(batches(job))
    end_leases()
    sweep(datetime.now(UTC))
    for hours in range(2, 8):  # what was lost may go alone, and a hub is not asked again within the hour
        again = hand_out(datetime.now(UTC) + timedelta(hours=hours))
        check_in(served([replace(batch, expires=time.time() + 60) for batch in again]))
    assert job.stored() == PIECES
    before = rows()
    check_in(late)
    assert (job.stored(), rows()) == (PIECES, before)


@EVERY_JOB
def test_a_damaged_report_is_refused_and_the_others_are_stored(job: Job, server: WebServer) -> None:
    job.make(server)
    texts = [encode(report) for report in served(batches(job))]
    for text in texts:
        for length in (0, 1, 7, len(text) // 2, len(text) - 5, len(text) - 1):
            with pytest.raises(ValueError, match=r"."):
                decode(Report, text[:length])
    with contextlib.suppress(ValueError):
        tasks.store.run([texts[0][:-9], "", "%%%", *texts])
    assert job.stored() == PIECES


@EVERY_JOB
def test_a_report_under_a_lease_that_nobody_has_changes_nothing(job: Job, server: WebServer) -> None:
    job.make(server)
    reports = served(batches(job))
    before = rows()
    forged = [replace(report, lease=str(uuid.uuid4())) for report in reports]
    forged += [replace(report, lease=lease) for report in reports for lease in ("", "x", "\x00", "0" * 400)]
    for one in forged:
        with contextlib.suppress(ValueError):
            tasks.store.run([encode(one)])
    assert (job.stored(), rows()) == (0 if job.kind != "hub" else job.stored(), before)
    check_in(reports)
    assert job.stored() == PIECES


@EVERY_JOB
def test_a_lease_gives_no_right_to_another_host_s_work(job: Job, server: WebServer) -> None:
    job.make(server)
    reports = served(batches(job))
    other = Host.objects.create(name="other.example")
    lease = uuid.uuid4()
    Host.objects.filter(pk=other.pk).update(
        lease=lease, leased_until=datetime.now(UTC) + timedelta(minutes=1)
    )
    before = rows()
    harvests = tuple(harvest for report in reports for harvest in report.harvests)
    check_in([Report("other.example", str(lease), harvests)])
    assert rows() == before
    check_in(reports)
    assert job.stored() == PIECES


@EVERY_JOB
def test_a_batch_whose_lease_is_over_is_dropped_without_a_request(job: Job, server: WebServer) -> None:
    job.make(server)
    given = [replace(batch, expires=time.time() - 100) for batch in batches(job)]
    assert given
    reports = served(given)
    assert [harvest for report in reports for harvest in report.harvests] == []
    assert server.paths == []


@EVERY_JOB
def test_work_that_no_terminal_comes_back_from_fails_by_a_name(job: Job, server: WebServer) -> None:
    """Each day it is handed out to somebody who dies."""
    job.make(server)
    given = 0
    now = datetime.now(UTC)
    for day in range(80 if job.kind == "page" else DAYS):  # what was lost goes alone, one a day
        given += sum(len(batch.assignments) for batch in batches(job, now + timedelta(days=day)))
        end_leases()
        sweep(now + timedelta(days=day))
    assert given >= PIECES
    assert given <= GIVEN_OUT.get(job.kind, MOST) * PIECES
    assert job.failures() == [Failure.LOST] * PIECES
    assert not Host.objects.filter(lease__isnull=False).exists()


@EVERY_JOB
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_a_result_that_cannot_be_stored_is_a_failure_of_its_own(
    job: Job, odd: dict[str, Any], server: WebServer
) -> None:
    job.make(server)
    first: int | None = None
    handed_out = 0
    now = datetime.now(UTC)
    for day in range(10):
        given = batches(job, now + timedelta(days=day))
        spoilt = []
        for report in served([replace(batch, expires=time.time() + 60) for batch in given]):
            ids = [harvest.id for harvest in report.harvests]
            first = ids[0] if first is None else first
            handed_out += ids.count(first)
            harvests = tuple(replace(h, **odd) if h.id == first else h for h in report.harvests)
            spoilt.append(replace(report, harvests=harvests))
        check_in(spoilt)
        end_leases()
        sweep(now + timedelta(days=day))
    assert job.stored() >= PIECES - 1
    assert handed_out <= GIVEN_OUT.get(job.kind, MOST)
    named = job.failures()
    assert job.stored() == PIECES or named, "neither stored nor failed"
    assert set(named) <= {"unstorable", "no-such-name"} or job.stored() == PIECES


def packed(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw, 9)).decode("ascii")


@pytest.mark.parametrize("kind", [Batch, Report, Harvest])
def test_a_message_is_inflated_to_a_bound(kind: type[Any]) -> None:
    raw = b'{"host": "' + b"x" * 300_000_000 + b'", "lease": "1", "harvests": []}'
    text = packed(raw)
    del raw
    with pytest.raises(ValueError, match=r"."):
        decode(kind, text)


@pytest.mark.parametrize(
    "raw", [b"null", b"[]", b"7", b'"x"', b"{}", b'{"host": 1}', b"[" * 100_000, b'{"a":1}']
)
def test_what_is_no_message_is_a_value_error(raw: bytes) -> None:
    for kind in (Batch, Report, Harvest, Assignment):
        with pytest.raises(ValueError, match=r"."):
            decode(kind, packed(raw))


def test_no_text_of_a_message_holds_what_a_database_refuses() -> None:
    odd = "a\x00b\ud800c"
    harvest = Harvest(
        "feed", 1, 1.0, odd, detail=odd, etag=odd, payload=PageDocument(title=odd, text=odd, content_type=odd)
    )
    back = decode(Report, encode(Report(odd, odd, (harvest,)))).harvests[0]
    page = back.brought(PageDocument)
    assert page is not None
    for text in (back.url, back.detail, back.etag, page.title, page.text, page.content_type):
        assert "\x00" not in text
        assert not any(0xD800 <= ord(sign) <= 0xDFFF for sign in text)


def test_a_forged_reading_of_a_stored_page_changes_nothing(server: WebServer) -> None:
    url = f"{server.origin}/page0"
    host = Host.objects.named({"127.0.0.1"})["127.0.0.1"]
    page = ArticlePage.objects.create(
        url=url, url_key=uuid.uuid4(), host_id=host, status="stored", text="true"
    )
    forged = PageDocument(title="forged", text="forged", canonical_url="javascript:alert(1)")
    message = encode(Harvest("page", page.pk, time.time(), url, payload=forged))
    with contextlib.suppress(ValueError, TypeError):
        of_articles.take_reread.run([message])
    page.refresh_from_db()
    assert (page.text, page.title, page.canonical_url) == ("true", "", "")


def test_a_tick_finds_feeds_that_were_lost_again(server: WebServer) -> None:
    """A failure by the name `lost` is a failure like others: the feed is visited again, later."""
    job = JOBS[0]
    job.make(server)
    for day in range(4):
        batches(job, datetime.now(UTC) + timedelta(days=day))
        end_leases()
        sweep(datetime.now(UTC) + timedelta(days=day))
    feed = Feed.objects.first()
    assert feed is not None
    assert (feed.failure, feed.status) == (Failure.LOST, Feed.Status.ACTIVE)
    assert feed.not_before > datetime.now(UTC)
