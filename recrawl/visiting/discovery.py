"""Discovery of pages and sources: each once, within the site and its limits."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crawler.database.bulk import insert_rows
from crawler.engine.models import Host
from crawler.fetching.http.domains import host_of
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.frontier.budgets import Budgets, shape_refusal
from crawler.frontier.check_in import keep_bodies
from crawler.reading.documents import CrawledPage, FeedLink
from crawler.text.keys import digest_of_bytes
from crawler.text.marking import gettext_noop
from recrawl.models import Site, Source, Visit, Wanted, WatchedPage, key_of
from recrawl.visiting.decision import described

MAX_SOURCES = 50
_BOUNDS = Budgets()


def inside(site: Site, url: str) -> bool:
    """Return whether a canonical URL belongs to the site. Lists take no pages but those chosen."""
    return not site.is_list and (url.startswith(site.prefix) or url == site.url)


def describe(page: WatchedPage, crawled: CrawledPage, site: Site) -> None:
    """Store that a page is live, and everything read from it except its text."""
    links = [key_of(url) for url in crawled.links if inside(site, url)]
    for name, value in described(page.title, crawled, links, keep_copies=site.keep_copies).items():
        setattr(page, name, value)
    keep_copies(crawled, site)


def keep_copies(crawled: CrawledPage, site: Site) -> None:
    """Store a page's bytes, where the site wants them, and its screenshot."""
    if site.keep_copies and crawled.body:
        keep_bodies([crawled])
    if crawled.picture:
        key = digest_of_bytes(crawled.picture)
        size, content = len(crawled.picture), zlib.compress(crawled.picture, 1)
        keep_bodies([CrawledPage(digest=key.hex, size=size, body=content)])


def find_pages(
    site: Site,
    visit: Visit,
    reasons: Mapping[str, str],
    *,
    lost: bool = False,
    hops: Mapping[str, int] | None = None,
) -> int:
    """Plan fetches of new pages, given by URL with the reason. Returns their number.

    `lost` includes pages that are gone, moved or failed. Pages beyond the site's `max_pages` are left out.
    `hops` counts the redirects in a row that led to a URL.
    """
    # A site that makes addresses without end (calendars, sessions) would fill max_pages with them.
    keys = {key_of(url): url for url in reasons if inside(site, url) and not shape_refusal(url, 0, _BOUNDS)}
    stored = set(WatchedPage.objects.filter(site=site, key__in=keys).values_list("key", flat=True))
    new = [WatchedPage(site=site, url=url, key=key) for key, url in keys.items() if key not in stored]
    if new:
        room = max(site.max_pages - WatchedPage.objects.filter(site=site).count(), 0)
        WatchedPage.objects.bulk_create(new[:room], ignore_conflicts=True)
    states = [WatchedPage.State.FOUND]
    if lost:
        states += [WatchedPage.State.GONE, WatchedPage.State.MOVED, WatchedPage.State.FAILED]
    candidates = WatchedPage.objects.filter(site=site, key__in=keys, state__in=states)
    # Once a visit: a page that two pages redirect to would otherwise be asked twice.
    rows = candidates.exclude(all_checks__visit=visit).order_by("id").values_list("id", "key")
    rows_to_fetch = [
        _wanted(visit, site, page_id=page, reason=reasons[keys[key]], hops=(hops or {}).get(keys[key], 0))
        for page, key in rows
    ]
    return len(insert_rows(Wanted, rows_to_fetch, returning="id"))


def to_fetch(visit: Visit, site: Site, pages: Iterable[tuple[int, str]]) -> list[Wanted]:
    """Return unsaved rows for pages, given by primary key, and the reasons to fetch them."""
    reasons = dict(pages)
    if not site.is_list:
        return [_wanted(visit, site, page_id=page, reason=reason) for page, reason in reasons.items()]
    urls = WatchedPage.objects.filter(pk__in=reasons).order_by("id").values_list("id", "url")
    names = {page: host_of(url) for page, url in urls}
    hosts = Host.objects.named(set(names.values()))
    return [
        _wanted(visit, site, host_id=hosts[name], page_id=page, reason=reasons[page])
        for page, name in names.items()
    ]


def to_read(visit: Visit, site: Site, sources: Iterable[Source]) -> list[Wanted]:
    """Return unsaved rows for sitemaps and feeds to read."""
    return [_wanted(visit, site, source=source, reason=gettext_noop("tells of news")) for source in sources]


def _wanted(visit: Visit, site: Site, **fields: Any) -> Wanted:
    return Wanted(**{"visit": visit, "host_id": site.host_id, "not_before": datetime.now(UTC), **fields})


def name_feeds(site: Site, feeds: Sequence[FeedLink]) -> None:
    """Add the feeds on the site's own host that the top page names."""
    _add_sources(site, [feed.url for feed in feeds], Source.Kind.FEED)


def name_sitemaps(site: Site, urls: Sequence[str], index_stamp: str = "") -> None:
    """Add sitemaps. `index_stamp` is the modification time that a sitemap index gives."""
    _add_sources(site, urls, Source.Kind.SITEMAP, index_stamp)


def _add_sources(site: Site, urls: Sequence[str], kind: Source.Kind, index_stamp: str = "") -> None:
    room = MAX_SOURCES - site.sources.count()
    for url in urls:
        try:
            address = canonical_url(url)
        except BadUrl:
            continue
        # sitemaps.org: a sitemap speaks for its own host.
        if not address.startswith(f"{site.origin}/"):
            continue
        key = key_of(address)
        if site.sources.filter(key=key).update(told=index_stamp) or room < 1:
            continue
        Source.objects.get_or_create(
            site=site, key=key, defaults={"url": address, "kind": kind, "told": index_stamp}
        )
        room -= 1
