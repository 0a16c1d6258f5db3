"""Watching a site, the whole way: mapped, visited, its changes told, in one process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out, lease_seconds, sweep
from crawler.frontier.budgets import MAX_REDIRECTS
from crawler.frontier.crawls import cancel
from crawler.frontier.crawls import tend as tend_crawls
from crawler.frontier.decision import MAX_ATTEMPTS
from crawler.frontier.models import Crawl
from crawler.messages import Batch, Report, decode, encode
from crawler.operation.site import retention
from crawler.terminals.client import terminal_client
from crawler.terminals.serve import serve_host
from recrawl.comparing.differences import Difference
from recrawl.inline import work_off
from recrawl.models import Announcement, Change, Check, Site, Source, Visit, Wanted, WatchedPage
from recrawl.pages.site_summary import in_words
from recrawl.visiting import visits
from recrawl.visiting.mapping import SiteError, add_site, map_again
from tests.recrawl.sites import Paper, changes, visit, watch
from tests.servers import Reply, Request

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "tried_again_soon"),
]


@pytest.fixture
def paper() -> Iterator[Paper]:
    with Paper() as web:
        yield web


def test_a_site_is_mapped_from_its_top_page(paper: Paper) -> None:
    site = watch(paper)
    assert (site.state, site.title) == (Site.State.WATCHED, "Front")
    assert sorted(page.path for page in site.pages.filter(state="live")) == [
        "/", "/about", "/news/", "/news/a", "/news/b", "/news/c", "/news/d", "/news/e",
    ]  # fmt: skip
    assert site.next_visit > timezone.now() + timedelta(days=6)
    assert len(paper.paths) == len(set(paper.paths))


def test_only_pages_below_the_top_page_s_directory_belong_to_it(paper: Paper) -> None:
    site = watch(paper, "/news/")
    assert "/about" not in paper.paths
    assert site.pages.filter(state="live").count() == 6


def test_a_top_page_that_leads_elsewhere_is_followed_there(paper: Paper) -> None:
    paper.replies["/start"] = Reply(status=302, headers={"Location": "/news/"})
    site = watch(paper, "/start")
    assert site.url == f"{paper.origin}/news/"
    assert site.former == [f"{paper.origin}/start"]
    assert site.state == Site.State.WATCHED


def test_a_site_without_a_readable_top_page_says_so_and_can_be_mapped_again(paper: Paper) -> None:
    front = paper.replies.pop("/")
    site = watch(paper)
    assert site.state == Site.State.FAILED
    explanation = "The server says that this request is wrong or the document is not there."
    assert site.trouble == f"Its top page cannot be read (404): {explanation}"
    paper.replies["/"] = front
    assert map_again(site)
    assert not map_again(site)
    work_off([site])
    site.refresh_from_db()
    assert (site.state, site.trouble) == (Site.State.WATCHED, "")


def test_a_site_that_could_not_be_mapped_is_mapped_again_when_it_is_due(paper: Paper) -> None:
    front = paper.replies.pop("/")
    site = watch(paper)
    now = datetime.now(UTC)
    assert site.next_visit > now and not visits.has_work(now)
    later = site.next_visit + timedelta(seconds=1)
    assert visits.has_work(later)
    paper.replies["/"] = front
    visits.tend(later)
    work_off([site])
    site.refresh_from_db()
    assert (site.state, site.trouble) == (Site.State.WATCHED, "")


def test_whoever_waits_for_a_server_that_refuses_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attempt once; when there are none left the site says so itself."""
    monkeypatch.setattr("crawler.frontier.decision.RETRY_SECONDS", 0.001)
    monkeypatch.setattr("recrawl.inline.TEND_SECONDS", 0.0)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        site = add_site(f"http://127.0.0.1:{closed.getsockname()[1]}/")
        lines: list[str] = []
        work_off([site], tell=lines.append)
    assert lines and len(set(lines)) == len(lines)
    assert f"waits for {site.url} (robots.txt cannot be read now" in lines[0]
    assert f"Tried 1 of {MAX_ATTEMPTS} times" in lines[0] and "the workers go on" in lines[0]
    site.refresh_from_db()
    assert site.state == Site.State.FAILED and "cannot be read" in site.trouble


def test_a_visit_tells_what_it_asks_for_again(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recrawl.visiting.check_in.retry_at", lambda harvest, attempts: datetime.now(UTC))
    monkeypatch.setattr("recrawl.inline.TEND_SECONDS", 0.0)
    site = watch(paper)
    paper.replies["/about"] = Reply(status=500)
    visits.begin([site.pk], datetime.now(UTC))
    lines: list[str] = []
    work_off([site], tell=lines.append)
    assert f"waits for {paper.origin}/about. Tried 1 of 4 times" in lines[0]


def test_a_site_is_watched_once(paper: Paper) -> None:
    watch(paper)
    with pytest.raises(SiteError, match="watched already"):
        add_site(f"{paper.origin}/")
    with pytest.raises(SiteError):
        add_site("no address")


def test_an_unchanged_site_costs_conditional_requests_and_nothing_else(paper: Paper) -> None:
    site = watch(paper)
    done = visit(site)
    assert (done.fetched, done.requests, done.conditional, done.not_modified) == (8, 8, 8, 8)
    assert (done.changed, done.failed, changes(done)) == (0, 0, [])
    assert done.bytes < done.whole / 2 or done.whole < 8000


def test_a_change_is_told_with_its_lines(paper: Paper) -> None:
    site = watch(paper)
    paper.write("/news/b", "Story b", "What b did at last", ["/news/"])
    done = visit(site)
    assert (done.changed, changes(done)) == (1, [("edited", "/news/b")])
    gain = Difference.unpacked(bytes(Change.objects.get().difference))
    assert (gain.lines_removed, gain.lines_added) == (["What b did"], ["What b did at last"])
    page = WatchedPage.objects.get(url__endswith="/news/b")
    assert (page.checks, page.changes) == (1, 1)
    assert "edited" in in_words(site) or "changed:" in in_words(site)
    assert changes(visit(site)) == []


def test_what_only_the_template_says_is_no_change_but_stays_on_record(paper: Paper) -> None:
    site = watch(paper)
    before = dict(site.pages.values_list("id", "raw"))
    paper.built = "2026-02-03 11:11"
    done = visit(site)
    assert (done.changed, done.fetched) == (0, 8)
    assert set(Check.objects.filter(visit=done).values_list("outcome", flat=True)) == {"minor"}
    assert all(before[pk] != raw for pk, raw in site.pages.filter(state="live").values_list("id", "raw"))
    assert {kind for kind, _ in changes(done)} == {"template"}


def test_a_new_design_of_all_pages_is_no_change_of_each(paper: Paper) -> None:
    site = watch(paper)
    for name in "abcde":
        paper.write(
            f"/news/{name}", f"Story {name}", f"What {name} did</p><p>Follow us on the new app", ["/news/"]
        )
    paper.write("/about", "About", "Who we were", ["/"])
    assert changes(visit(site)) == [
        ("edited", "/about"),
        *(("template", f"/news/{name}") for name in "abcde"),
    ]


def test_ignore_rules_keep_a_change_quiet(paper: Paper) -> None:
    site = watch(paper, ignore_patterns=["^What "])
    paper.write("/news/b", "Story b", "What b did not", ["/news/"])
    assert changes(visit(site)) == [("template", "/news/b")]


def test_changed_selectors_set_a_new_beginning(paper: Paper) -> None:
    site = watch(paper)
    Site.objects.filter(pk=site.pk).update(ignore_selectors=["h1"])
    done = visit(site)
    assert (done.changed, done.not_modified) == (0, 0)
    assert visit(site).not_modified == 8


def test_small_changes_add_up(paper: Paper) -> None:
    site = watch(paper, minimum_change=30)
    paper.write("/about", "About", "Who we ax", ["/"])
    assert visit(site).changed == 0
    paper.write("/about", "About", "Who we are, and who we were in the years before", ["/"])
    assert visit(site).changed == 1


def test_new_and_vanished_pages_are_changes(paper: Paper) -> None:
    site = watch(paper)
    paper.write("/news/f", "Story f", "What f did", ["/news/g"])
    paper.write("/news/g", "Story g", "What g did", ["/news/"])
    paper.write("/news/", "News", "What is new", [f"/news/{name}" for name in "abcdf"])
    del paper.replies["/news/e"]
    done = visit(site)
    assert changes(done) == [
        ("edited", "/news/"), ("gone", "/news/e"), ("new", "/news/f"), ("new", "/news/g"),
    ]  # fmt: skip
    assert (done.found, done.vanished) == (2, 1)
    assert paper.paths.count("/news/e") == 3  # when it was mapped, and twice to be sure
    paper.write("/news/e", "Story e", "What e did again", ["/news/"])
    paper.write("/news/", "News", "What is new", [f"/news/{name}" for name in "abcdef"])
    assert ("back", "/news/e") in changes(visit(site))


def test_a_page_that_leads_elsewhere_is_told_and_followed(paper: Paper) -> None:
    site = watch(paper)
    paper.replies["/about"] = Reply(status=301, headers={"Location": "/us"})
    paper.write("/us", "Us", "Who we are", ["/"])
    assert changes(visit(site)) == [("moved", "/about"), ("new", "/us")]
    assert changes(visit(site)) == []


def test_no_failure_is_called_a_change(paper: Paper) -> None:
    site = watch(paper)
    paper.replies["/news/a"] = Reply(status=403)
    paper.replies["/news/b"] = Reply(b"\x89PNG", headers={"Content-Type": "image/png"})
    asked = {"n": 0}
    story = paper.replies["/news/c"]

    def once(request: Request) -> Reply:
        asked["n"] += 1
        return Reply(status=404) if asked["n"] == 1 else story(request)  # type: ignore[operator]

    paper.replies["/news/c"] = once
    done = visit(site)
    assert (done.changed, done.vanished, done.failed, changes(done)) == (0, 0, 2, [])
    assert site.pages.filter(state="live").count() == 8
    assert not Check.objects.filter(outcome="changed").exists()


def test_a_sitemap_names_pages_and_tells_which_changed(paper: Paper) -> None:
    paper.write("/hidden", "Hidden", "Nobody links here")
    stamps = {
        "/hidden": "2026-01-01",
        "/about": "2026-01-01",
        "/news/a": "2026-01-01",
        "/news/b": "2026-01-01",
    }
    paper.sitemap(stamps)
    site = watch(paper, method="adaptive", budget=0.3)
    assert site.pages.filter(state="live", url__endswith="/hidden").exists()
    assert not site.pages.filter(url__endswith=".xml").exists()
    visit(site)
    assert not Announcement.objects.exclude(since=0).exists()
    paper.write("/news/b", "Story b", "Something else", ["/news/"])
    paper.sitemap(stamps | {"/news/b": "2026-02-01"})
    done = visit(site)
    assert ("edited", "/news/b") in changes(done)
    assert Check.objects.get(visit=done, page__url__endswith="/news/b").reason.startswith("announced by")


def test_a_feed_of_the_site_names_new_pages(paper: Paper) -> None:
    front = (
        "<html><head><title>Front</title><link rel='alternate' type='application/rss+xml' href='/rss'></head>"
        "<body><a href='/about'>about</a></body></html>"
    )
    item = "<item><guid>{0}</guid><link>{1}{0}</link><title>{0}</title></item>"
    rss = "<rss version='2.0'><channel><title>Front</title>{}</channel></rss>"
    html, xml = {"Content-Type": "text/html"}, {"Content-Type": "application/rss+xml"}
    paper.replies["/"] = Reply(front.encode(), headers=html)
    paper.replies["/rss"] = Reply(rss.format(item.format("/about", paper.origin)).encode(), headers=xml)
    site = watch(paper)
    assert [(one.kind, one.url) for one in Source.objects.all()] == [("feed", f"{paper.origin}/rss")]
    visit(site)
    both = item.format("/news/a", paper.origin) + item.format("/about", paper.origin)
    paper.replies["/rss"] = Reply(rss.format(both).encode(), headers=xml)
    assert ("new", "/news/a") in changes(visit(site))


def test_a_visit_stays_within_its_budget_and_saves_what_is_left(paper: Paper) -> None:
    site = watch(paper, budget=0.25)
    assert visit(site).fetched == 2
    Site.objects.filter(pk=site.pk).update(method="C")
    assert visit(site).fetched == 1  # the top page has not changed
    site.refresh_from_db()
    assert site.saved == pytest.approx(1.0)
    assert visit(site).budget == 3


@pytest.mark.parametrize(
    "method", ["A", "B", "C", "history", "server-sampling", "server-sampling+B", "adaptive"]
)
def test_every_method_visits_and_ends(paper: Paper, method: str) -> None:
    site = watch(paper, method=method)
    paper.write("/", "Front", "All the latest news", ["/news/", "/about"])
    done = visit(site)
    assert done.finished is not None
    assert done.failed == 0
    assert 1 <= done.fetched <= 8


def test_a_page_that_cannot_be_had_ends_no_visit_and_stops_none(paper: Paper) -> None:
    for method in ("A", "C", "adaptive"):
        site = watch(paper, method=method)
        paper.replies["/"] = Reply(status=403)
        done = visit(site)
        assert done.finished is not None
        assert done.failed == 1
        Site.objects.all().delete()
        paper.write("/", "Front", "All the news", ["/news/", "/about"])


def begun(site: Site) -> Visit:
    """A visit whose first round waits."""
    made = visits.begin([site.pk], datetime.now(UTC))[0]
    visits.advance([made.pk], datetime.now(UTC))
    return made


def one_batch() -> tuple[Batch, Report]:
    (batch,) = hand_out(datetime.now(UTC))
    return batch, decode(Report, encode(serve_host(terminal_client(), decode(Batch, encode(batch)))))


def test_a_report_that_comes_twice_counts_once(paper: Paper) -> None:
    site = watch(paper)
    paper.write("/news/b", "Story b", "Else", ["/news/"])
    made = begun(site)
    _, report = one_batch()
    check_in([report])
    check_in([report])
    assert Check.objects.filter(visit=made).count() == 8
    assert Change.objects.count() == 1
    assert Visit.objects.get(pk=made.pk).fetched == 8


def test_what_a_lost_terminal_had_taken_is_fetched_again(paper: Paper) -> None:
    site = watch(paper)
    made = begun(site)
    (lost,) = hand_out(datetime.now(UTC))
    assert not hand_out(datetime.now(UTC))
    assert sweep(datetime.now(UTC) + timedelta(seconds=lease_seconds() + 1)) == 1
    assert Wanted.objects.filter(visit=made, lease__isnull=True).count() == len(lost.assignments)
    for _ in lost.assignments:  # each alone, lest one of them was what the terminal was lost by
        batch, report = one_batch()
        assert len(batch.assignments) == 1
        check_in([report])
    visits.tend(datetime.now(UTC))
    assert Visit.objects.get(pk=made.pk).finished is not None


def test_a_controller_that_dies_in_a_round_leaves_the_visit_as_it_was(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = watch(paper)
    made = begun(site)
    _, report = one_batch()
    check_in([report])

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(visits, "_mark_template_changes", die)
    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        visits.advance([made.pk], datetime.now(UTC))
    assert Visit.objects.get(pk=made.pk).finished is None
    monkeypatch.undo()
    visits.advance([made.pk], datetime.now(UTC))
    visits.advance([made.pk], datetime.now(UTC))
    site.refresh_from_db()
    assert Visit.objects.get(pk=made.pk).finished is not None
    assert site.saved == 0


def test_visits_begin_when_they_are_due_and_one_at_a_time(paper: Paper) -> None:
    site = watch(paper, every=1.0)
    now = datetime.now(UTC)
    assert not visits.has_work(now)
    tomorrow = now + timedelta(days=1, minutes=1)
    assert visits.has_work(tomorrow)
    visits.tend(tomorrow)
    assert visits.begin([site.pk], tomorrow) == []
    assert not Site.objects.due(tomorrow + timedelta(days=3)).exists()


def test_a_paused_site_ends_its_visit_and_goes_on_later(paper: Paper) -> None:
    site = watch(paper)
    made = begun(site)
    _, report = one_batch()
    assert visits.pause(site, datetime.now(UTC))
    assert Visit.objects.get(pk=made.pk).finished is not None
    check_in([report])
    assert not Check.objects.exists()
    assert not visits.visit_now(site, datetime.now(UTC))
    assert visits.resume(site)
    assert visits.visit_now(site, datetime.now(UTC))
    assert Site.objects.due(datetime.now(UTC)).exists()


def test_robots_are_respected(paper: Paper) -> None:
    paper.replies["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /news/a\n")
    site = watch(paper)
    visit(site)
    assert "/news/a" not in paper.paths


def test_a_cancelled_mapping_crawl_is_told(paper: Paper) -> None:
    site = add_site(f"{paper.origin}/")
    cancel(Crawl.objects.all())
    tend_crawls(datetime.now(UTC))
    visits.tend(datetime.now(UTC))
    site.refresh_from_db()
    assert (site.state, site.trouble) == (Site.State.FAILED, "Its mapping crawl was cancelled.")
    assert site.next_visit is None and not Site.objects.failed(datetime.now(UTC)).exists()


def test_checks_and_changes_older_than_their_retention_go(paper: Paper, settings: Any) -> None:
    site = watch(paper)
    paper.write("/about", "About", "Who we are now", ["/"])
    visit(site)
    later = datetime.now(UTC) + timedelta(days=40)
    settings.RETENTION_CHECKS_DAYS, settings.RETENTION_CHANGES_DAYS = 30, 0
    assert retention.tidy(later)["checks"] == 8
    assert Change.objects.exists()
    settings.RETENTION_CHANGES_DAYS = 30
    assert retention.tidy(later)["changes"] == 1


def test_a_site_that_cannot_be_planned_keeps_no_other_waiting(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = watch(paper), watch(paper, "/news/")
    for site in (broken, sound):
        visits.begin([site.pk], datetime.now(UTC))
    knowledge_of = visits.knowledge_of

    def fail(site: Site, *rows: Any) -> Any:
        if site.pk == broken.pk:
            raise RuntimeError("a plan that breaks")
        return knowledge_of(site, *rows)

    monkeypatch.setattr(visits, "knowledge_of", fail)
    assert visits.tend(datetime.now(UTC)) is False
    assert not Wanted.objects.filter(visit__site=broken).exists()
    assert Wanted.objects.filter(visit__site=sound).exists()


def endless_redirects(paper: Paper, path: str) -> None:
    """Let `path` lead to a new address each time, and each of these to another."""

    def lead_on(request: Request) -> Reply:
        target = f"/lost-{len(paper.requests)}"
        paper.replies[target] = lead_on
        return Reply(status=302, headers={"Location": target})

    paper.replies[path] = lead_on


def test_mapping_ends_among_redirects_to_ever_new_addresses(paper: Paper) -> None:
    endless_redirects(paper, "/about")
    site = watch(paper)
    assert site.state == Site.State.WATCHED
    assert sum(path.startswith("/lost-") for path in paper.paths) == MAX_REDIRECTS


def test_a_visit_ends_among_redirects_to_ever_new_addresses(paper: Paper) -> None:
    site = watch(paper)
    endless_redirects(paper, "/about")
    done = visit(site)
    assert done.finished is not None
    assert sum(path.startswith("/lost-") for path in paper.paths) == MAX_REDIRECTS
    assert changes(done) == [("moved", "/about")]
