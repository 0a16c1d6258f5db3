"""Three pieces of each kind of work on one host of loopback, ready to be handed out.

A job is a line in JOBS: how the work is made, how many pieces were stored, and by which name those that were
not have failed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from articles.edits.models import PageRecheck
from articles.models import Page as ArticlePage
from articles.personal.following import subscriber_of
from articles.saved.saving import PageToSave, save_pages
from crawler.engine.models import Host
from crawler.fetching.http.urls import host_key
from crawler.frontier.crawls import begin as begin_crawl
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.messages import Kind
from crawler.text.keys import digest
from feeds.models import Feed, Retrieval
from feeds.websub.models import HubSubscription, Push
from recrawl.models import Check, Site, Source, Visit, Wanted, WatchedPage, key_of
from tests.factories import make_feed, make_user
from tests.servers import Reply, WebServer, article, rss

PIECES = 3


@dataclass(frozen=True)
class Job:
    """A kind of work. `stored` counts pieces that were; `failures` are the names of the others."""

    kind: Kind
    make: Callable[[WebServer], None]
    stored: Callable[[], int]
    failures: Callable[[], list[str]]


def web() -> WebServer:
    """A host that has everything."""
    server = WebServer()
    for number in range(PIECES):
        server.replies[f"/page{number}"] = Reply(article(number), headers={"Content-Type": "text/html"})
        server.replies[f"/feed{number}"] = Reply(
            rss(server.origin, range(number * 10, number * 10 + 2)), headers={"Content-Type": "text/xml"}
        )
        server.replies[f"/sitemap{number}.xml"] = Reply(
            f"<urlset><url><loc>{server.origin}/page{number}</loc></url></urlset>".encode(),
            headers={"Content-Type": "application/xml"},
        )
        server.replies[f"/hub{number}"] = Reply(status=202)
    return server


def _host(server: WebServer) -> int:
    name = host_key(server.origin)
    return Host.objects.named({name})[name]


def _feeds(server: WebServer) -> list[Feed]:
    return [make_feed(f"{server.origin}/feed{number}") for number in range(PIECES)]


def _make_feeds(server: WebServer) -> None:
    now = datetime.now(UTC)
    keys = [feed.pk for feed in _feeds(server)]
    Feed.objects.filter(pk__in=keys).update(selected_at=now, selected_because="a test", not_before=now)


def _make_pages(server: WebServer) -> None:
    for number in range(PIECES):
        url = f"{server.origin}/page{number}"
        ArticlePage.objects.create(url=url, url_key=digest(url), host_id=_host(server))


def _make_saved(server: WebServer) -> None:
    pages = [PageToSave(f"{server.origin}/page{number}") for number in range(PIECES)]
    save_pages(subscriber_of(make_user()), pages, datetime.now(UTC))


def _make_rechecks(server: WebServer) -> None:
    now = datetime.now(UTC)
    _make_pages(server)
    ArticlePage.objects.update(status="stored", text="As it was before.", fetched=now)
    for page in ArticlePage.objects.all():
        PageRecheck.objects.create(
            page=page, host_id=page.host_id, since=now, due=now, not_before=now, is_chosen=True
        )


def _make_crawl(server: WebServer) -> None:
    begin_crawl(Crawl(seeds=[f"{server.origin}/page{number}" for number in range(PIECES)], max_depth=0))


def _visit(server: WebServer) -> Visit:
    site = Site.objects.create(
        url=f"{server.origin}/", host_id=_host(server), state=Site.State.WATCHED, visited=1,
        next_visit=datetime.now(UTC) + timedelta(days=7),
    )  # fmt: skip
    return Visit.objects.create(
        site=site, number=1, method=site.method, started=datetime.now(UTC), pages=PIECES, weekly=9, budget=9
    )


def _make_watched(server: WebServer) -> None:
    visit = _visit(server)
    for number in range(PIECES):
        url = f"{server.origin}/page{number}"
        page = WatchedPage.objects.create(
            site=visit.site, url=url, key=key_of(url), state=WatchedPage.State.FOUND
        )
        _want(visit, server, page=page)


def _make_sources(server: WebServer) -> None:
    visit = _visit(server)
    for number in range(PIECES):
        url = f"{server.origin}/sitemap{number}.xml"
        source = Source.objects.create(site=visit.site, url=url, key=key_of(url), kind=Source.Kind.SITEMAP)
        _want(visit, server, source=source)


def _want(visit: Visit, server: WebServer, **what: object) -> None:
    now = datetime.now(UTC)
    Wanted.objects.create(visit=visit, host_id=_host(server), reason="a test", not_before=now, **what)


def _make_hubs(server: WebServer) -> None:
    for number, feed in enumerate(_feeds(server)):
        HubSubscription.objects.create(
            feed=feed, hub=f"{server.origin}/hub{number}", host_id=_host(server), topic=feed.url,
            not_before=datetime.now(UTC),
        )  # fmt: skip


def _make_pushes(server: WebServer) -> None:
    for number, feed in enumerate(_feeds(server)):
        body = rss(server.origin, range(number * 10, number * 10 + 2))
        Push.objects.create(feed=feed, body=zlib.compress(body), content_type="text/xml")


def _stored_hubs() -> int:
    """The answer leaves no trace of its own but the end of the lease, and that it is not asked again soon."""
    later = datetime.now(UTC) + timedelta(minutes=30)
    return HubSubscription.objects.filter(lease=None, not_before__gt=later, detail="").count()


def _names(*columns: object) -> Callable[[], list[str]]:
    def read() -> list[str]:
        return [name for rows in columns for name in rows() if name]  # type: ignore[operator]

    return read


def _failed_hubs() -> list[str]:
    return [detail.partition(":")[0] for detail in HubSubscription.objects.values_list("detail", flat=True)]


JOBS: tuple[Job, ...] = (
    Job(
        "feed", _make_feeds, lambda: Feed.objects.filter(last_success__isnull=False).count(),
        _names(lambda: Feed.objects.values_list("failure", flat=True)),
    ),
    Job(
        "page", _make_pages, lambda: ArticlePage.objects.filter(status="stored").count(),
        _names(lambda: ArticlePage.objects.values_list("failure", flat=True)),
    ),
    Job(
        "crawl", _make_crawl, lambda: CrawlUrl.objects.filter(state="crawled").count(),
        _names(lambda: CrawlUrl.objects.values_list("failure", flat=True)),
    ),
    Job(
        "watch", _make_watched, lambda: WatchedPage.objects.filter(state="live").count(),
        _names(lambda: Check.objects.values_list("failure", flat=True)),
    ),
    Job(
        "source", _make_sources, lambda: Source.objects.filter(read__isnull=False).count(),
        _names(lambda: Source.objects.values_list("failure", flat=True)),
    ),
    Job(
        "saved-page", _make_saved, lambda: ArticlePage.objects.filter(status="stored").count(),
        _names(lambda: ArticlePage.objects.values_list("failure", flat=True)),
    ),
    Job(
        "recheck", _make_rechecks, lambda: PageRecheck.objects.filter(rung=1, failure="").count(),
        _names(lambda: PageRecheck.objects.values_list("failure", flat=True)),
    ),
    Job("hub", _make_hubs, _stored_hubs, _names(_failed_hubs)),
    Job(
        "push", _make_pushes, lambda: Retrieval.objects.filter(pushed=True, failure="").count(),
        _names(lambda: Retrieval.objects.filter(pushed=True).values_list("failure", flat=True)),
    ),
)  # fmt: skip
