"""Every kind of work has one life: leased, given back, lost, lost too often; and no other pays for it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from msgspec.structs import replace

from articles.models import Page
from crawler.database.transactions import passing
from crawler.engine import check_in as checking
from crawler.engine.check_in import check_in
from crawler.engine.leased import MAX_LOSSES, TURNS
from crawler.engine.leases import hand_out, lease_seconds, sweep
from crawler.engine.models import Host
from crawler.failures import Failure
from crawler.fetching.http.site_lines import Robots
from crawler.frontier.crawls import begin
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.messages import Assignment, Batch, Harvest
from crawler.reading.documents import CrawledPage
from crawler.text.keys import digest
from feeds.models import Feed, Retrieval
from feeds.websub.models import HubSubscription
from recrawl import models as recrawl
from tests.factories import make_feed
from tests.harvests import entry, failed, found, page, report, select

pytestmark = pytest.mark.django_db
HOST = "one.example"
NUMBER = 4  # rows of each kind


def make_feeds() -> None:
    select(*(make_feed(f"https://{HOST}/feed{number}") for number in range(NUMBER)))


def make_pages() -> None:
    host = Host.objects.get_or_create(name=HOST)[0]
    urls = [f"https://{HOST}/{number}" for number in range(NUMBER)]
    Page.objects.bulk_create(Page(url=url, url_key=digest(url), host=host) for url in urls)


def make_hubs() -> None:
    host = Host.objects.get_or_create(name=HOST)[0]
    for number in range(NUMBER):
        feed = make_feed(f"https://feed.example/{number}")
        HubSubscription.objects.create(feed=feed, hub=f"https://{HOST}/hub", host=host, topic=feed.url)


def make_urls() -> None:
    begin(Crawl(seeds=[f"https://{HOST}/{number}" for number in range(NUMBER)]))


def make_wanted() -> None:
    host = Host.objects.get_or_create(name=HOST)[0]
    site = recrawl.Site.objects.create(url=f"https://{HOST}/", host=host)
    visit = recrawl.Visit.objects.create(
        site=site, number=1, started=datetime.now(UTC), weekly=NUMBER, budget=NUMBER
    )
    for number in range(NUMBER):
        url = f"https://{HOST}/{number}"
        row = recrawl.WatchedPage.objects.create(site=site, url=url, key=recrawl.key_of(url))
        recrawl.Wanted.objects.create(visit=visit, host=host, page=row, not_before=datetime.now(UTC))


def feed_failures() -> dict[int, str]:
    return dict(Feed.objects.exclude(failure="").values_list("id", "failure"))


def page_failures() -> dict[int, str]:
    return dict(Page.objects.exclude(failure="").values_list("id", "failure"))


def hub_failures() -> dict[int, str]:
    rows = HubSubscription.objects.exclude(detail="").values_list("pk", "detail")
    return {key: detail.partition(":")[0] for key, detail in rows}


def url_failures() -> dict[int, str]:
    return dict(CrawlUrl.objects.exclude(failure="").values_list("id", "failure"))


def wanted_failures() -> dict[int, str]:
    """By the row that wanted the page, which is gone: rows and pages were made in one order."""
    first = recrawl.WatchedPage.objects.order_by("id")[0].pk
    checks = recrawl.Check.objects.exclude(failure="").values_list("page_id", "failure")
    return {page - first: failure for page, failure in checks}


KINDS: dict[str, tuple[Callable[[], None], Callable[[], dict[int, str]]]] = {
    "feed": (make_feeds, feed_failures),
    "page": (make_pages, page_failures),
    "hub": (make_hubs, hub_failures),
    "crawl": (make_urls, url_failures),
    "watch": (make_wanted, wanted_failures),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, settings: Any) -> Iterator[str]:
    settings.PUBLIC_URL = "https://freshet.example"
    settings.FETCH_HOST_SPACING_SECONDS = 0.0
    settings.FEED_ARTICLE_PAGES = False
    KINDS[request.param][0]()
    yield request.param


def failures(kind: str) -> dict[int, str]:
    return KINDS[kind][1]()


def out() -> Batch:
    """The one batch that goes out now."""
    (batch,) = hand_out(datetime.now(UTC))
    return batch


def answered(assignment: Assignment) -> Harvest:
    """A good answer to any kind of assignment."""
    if assignment.kind == "feed":
        return found(assignment, entry(assignment.id))
    if assignment.kind == "page":
        return page(assignment)
    now = datetime.now(UTC).timestamp()
    read = CrawledPage(title="A page", content_type="text/html", digest=uuid.uuid4().hex, size=1, body=b"x")
    if assignment.kind == "watch":
        read = replace(read, body=b"")
    crawled = None if assignment.kind == "hub" else read
    return Harvest(assignment.kind, assignment.id, now, assignment.url, status=200, payload=crawled)


def lose() -> None:
    """The terminal never answers."""
    assert sweep(datetime.now(UTC) + timedelta(seconds=lease_seconds() + 1)) == 1


def due_again(done: Sequence[int] = ()) -> None:
    """As if the time had come at which hubs that gave no answer are asked again."""
    HubSubscription.objects.filter(detail="").exclude(pk__in=done).update(not_before=datetime.now(UTC))


def test_what_was_not_visited_is_given_back_and_costs_nothing(kind: str) -> None:
    batch = out()
    assert len(batch.assignments) == NUMBER
    for _ in range(MAX_LOSSES + 1):
        check_in([report(batch)])
        due_again()
        batch = out()
        assert len(batch.assignments) == NUMBER
        assert not any(one.suspect for one in batch.assignments)
    assert failures(kind) == {}


def test_what_was_lost_goes_out_alone_and_the_others_are_done(kind: str) -> None:
    """One of them ends whatever terminal takes it: it fails as lost, the others had to be lost only once."""
    poison = out().assignments[1].id
    lose()
    leases = 1
    taken: list[int] = []
    while not failures(kind) or len(taken) < NUMBER - 1:
        due_again(taken)
        batch = out()
        (one,) = batch.assignments
        leases += 1
        assert one.suspect
        if one.id == poison:
            lose()
        else:
            taken.append(one.id)
            check_in([report(batch, answered(one))])
    assert leases == MAX_LOSSES + NUMBER - 1
    assert list(failures(kind).values()) == ["lost"]
    assert len(set(taken)) == NUMBER - 1
    assert Host.objects.filter(lease__isnull=False).count() == 0


def test_what_was_lost_has_its_turns_where_others_wait_all_the_time(kind: str) -> None:
    """A host with hundreds of feeds may have some that are due whenever it is free."""
    lost = {(kind, one.id) for one in out().assignments}
    lose()
    batches, taken = 0, []
    while lost and batches < 2 * TURNS * NUMBER:
        due_again(taken)
        select(make_feed(f"https://{HOST}/new{batches}"))
        batch = out()
        batches += 1
        assert len(batch.assignments) == 1 or not any(one.suspect for one in batch.assignments)
        check_in([report(batch, *map(answered, batch.assignments))])
        taken += [one.id for one in batch.assignments if one.kind == kind]
        lost -= {(one.kind, one.id) for one in batch.assignments}
    assert batches == TURNS * NUMBER
    assert failures(kind) == {}


@pytest.mark.parametrize("kind", ["feed", "page", "hub"], indirect=True)
def test_a_loss_in_between_is_forgotten(kind: str) -> None:
    """Of what goes out again after it was answered."""
    batch = out()
    lose()
    for _ in range(NUMBER):
        due_again()
        batch = out()
        check_in([report(batch, failed(batch.assignments[0], "http-500", 500))])
    models = {"feed": Feed, "page": Page, "hub": HubSubscription}
    assert set(models[kind].objects.values_list("losses", flat=True)) == {0}


def test_an_answer_that_cannot_be_stored_is_the_only_one_to_fail(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = out()
    bad = batch.assignments[2].id
    refuse(monkeypatch, lambda harvest: harvest.id == bad and harvest.failure != Failure.UNSTORABLE)
    check_in([report(batch, *map(answered, batch.assignments), robots=Robots(200, "", 0.0))])
    assert list(failures(kind).values()) == ["unstorable"]
    assert Host.objects.get(name=HOST).lease is None
    assert Host.objects.get(name=HOST).robots_status == 200


def test_a_report_of_which_nothing_can_be_stored_counts_as_lost(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for lost in range(1, MAX_LOSSES + 1):
        due_again()
        batch = out()
        assert len(batch.assignments) == (NUMBER if lost == 1 else 1)
        with monkeypatch.context() as patch:
            refuse(patch, lambda harvest: harvest.failure != Failure.LOST)
            check_in([report(batch, *map(answered, batch.assignments))])
        if lost == 1:
            keep_one(kind, batch.assignments[0].id)
    assert list(failures(kind).values()) == ["lost"]
    assert hand_out(datetime.now(UTC)) == []


def keep_one(kind: str, key: int) -> None:
    """Delete the rows of this kind but one."""
    models = {"feed": Feed, "page": Page, "hub": HubSubscription, "watch": recrawl.Wanted}
    if kind == "crawl":
        Crawl.objects.get().waiting.exclude(pk=key).delete()
    else:
        models[kind].objects.exclude(pk=key).delete()


def refuse(patch: pytest.MonkeyPatch, is_bad: Callable[[Harvest], bool]) -> None:
    """Let the database refuse what is bad, as it refuses NUL in a text."""
    settle = checking.settle

    def settle_or_refuse(harvests: list[Harvest], held: list[uuid.UUID]) -> None:
        settle(harvests, held)
        if any(map(is_bad, harvests)):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 'no number'::int")

    patch.setattr(checking, "settle", settle_or_refuse)


def test_robots_that_cannot_be_stored_count_as_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    make_feeds()
    batch = out()
    check_in([report(batch, *map(answered, batch.assignments), robots=Robots(200, "NUL \0", 0.0))])
    host = Host.objects.get(name=HOST)
    assert (host.lease, host.robots_status, host.robots_text) == (None, 500, "")
    assert Retrieval.objects.filter(outcome="new").count() == NUMBER


@pytest.mark.parametrize("lease", ["", "7", "x" * 36, "\0"])
def test_a_report_without_a_lease_is_nobodys(lease: str) -> None:
    make_feeds()
    batch = out()
    forged = replace(report(batch, *map(answered, batch.assignments)), lease=lease)
    check_in([forged, replace(forged, lease=str(uuid.uuid4()))])
    assert Retrieval.objects.count() == 0
    assert Host.objects.get(name=HOST).lease is not None


def test_every_number_that_a_terminal_may_send_ends_in_a_row() -> None:
    """Times beyond the calendar, sizes beyond the columns: each is one failure."""
    make_pages()
    batch = out()
    odd = [{"at": 1e300}, {"at": -1e300}, {"bytes": 2**70}, {"status": 2**40, "failure": "http-500"}]
    answers = [replace(answered(one), **fields) for one, fields in zip(batch.assignments, odd, strict=True)]
    check_in([report(batch, *answers)])
    assert Host.objects.get(name=HOST).lease is None
    assert Page.objects.filter(lease__isnull=False).count() == 0
    assert Page.objects.filter(attempts=0).count() == 0


@pytest.mark.parametrize(
    ("code", "blamed"),
    [("54000", True), ("22P05", True), ("23505", True), ("40P01", False), ("53100", False), ("57014", False)],
)
def test_what_the_data_are_to_blame_for(code: str, blamed: bool) -> None:
    """An index row too long, a character that no text holds, a duplicate; no deadlock, no full disk."""
    with pytest.raises(DatabaseError) as caught, connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'a test' USING ERRCODE = '{code}'; END $$")
    assert passing(caught.value) is not blamed


def test_a_full_disk_is_no_answers_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    make_pages()
    batch = out()

    def full(*_: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$")

    with monkeypatch.context() as patch, pytest.raises(DatabaseError, match="no space"):
        patch.setattr(checking, "settle", full)
        check_in([report(batch, *map(answered, batch.assignments))])
    assert page_failures() == {}
    check_in([report(batch, *map(answered, batch.assignments))])
    assert Page.objects.filter(status="stored").count() == NUMBER
