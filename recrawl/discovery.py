"""Pages and sources that come to light: each once, within the site, within its bounds."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crawler.database.bulk import insert_rows
from crawler.frontier.budgets import Budgets, shape_refusal
from crawler.http.urls import BadUrl, canonical_url
from crawler.reading.documents import CrawledPage, FeedLink
from recrawl.models import Site, Source, Visit, Wanted, WatchedPage, key_of

MOST_SOURCES = 50
_BOUNDS = Budgets()


def inside(site: Site, url: str) -> bool:
    """Whether a URL (canonical) belongs to the site."""
    return url.startswith(site.prefix) or url == site.url


def describe(page: WatchedPage, crawled: CrawledPage, site: Site) -> None:
    """Write down that a page is there, and all that was read of it but its text."""
    page.state, page.leads_to = WatchedPage.State.LIVE, ""
    page.title = crawled.title or page.title
    page.size, page.raw = crawled.size, uuid.UUID(crawled.digest)
    page.links = [key_of(url) for url in crawled.links if inside(site, url)]


def find_pages(site: Site, visit: Visit, found: Mapping[str, str], *, lost: bool = False) -> int:
    """Want pages that are not known, given with the reason; `lost` ones, too, that were given up. How many.

    Beyond what the site may have, pages are left out.
    """
    keys = {key_of(url): url for url in found if inside(site, url) and not shape_refusal(url, 0, _BOUNDS)}
    known = set(WatchedPage.objects.filter(site=site, key__in=keys).values_list("key", flat=True))
    new = [WatchedPage(site=site, url=url, key=key) for key, url in keys.items() if key not in known]
    if new:
        room = max(site.max_pages - WatchedPage.objects.filter(site=site).count(), 0)
        WatchedPage.objects.bulk_create(new[:room], ignore_conflicts=True)
    states = [WatchedPage.State.FOUND]
    if lost:
        states += [WatchedPage.State.GONE, WatchedPage.State.MOVED, WatchedPage.State.FAILED]
    open_ones = WatchedPage.objects.filter(site=site, key__in=keys, state__in=states)
    rows = open_ones.exclude(all_checks__visit=visit).order_by("id").values_list("id", "key")
    return want(visit, site, [(page, found[keys[key]]) for page, key in rows])


def want(visit: Visit, site: Site, pages: Sequence[tuple[int, str]]) -> int:
    """Let the visit fetch these pages, for these reasons, each once; how many were not on its list."""
    return len(insert_rows(Wanted, to_fetch(visit, site, pages), returning="id"))


def to_fetch(visit: Visit, site: Site, pages: Iterable[tuple[int, str]]) -> list[Wanted]:
    """Rows, not stored yet, for pages and the reasons to fetch them."""
    return [_wanted(visit, site, page_id=page, reason=reason) for page, reason in pages]


def to_read(visit: Visit, site: Site, sources: Iterable[Source]) -> list[Wanted]:
    """The same for sitemaps and feeds."""
    return [_wanted(visit, site, source=source, reason="tells of news") for source in sources]


def _wanted(visit: Visit, site: Site, **what: Any) -> Wanted:
    return Wanted(visit=visit, host_id=site.host_id, not_before=datetime.now(UTC), **what)


def name_feeds(site: Site, feeds: Sequence[FeedLink]) -> None:
    """Note the feeds that the top page names, those on its own host."""
    _name(site, [feed.url for feed in feeds], Source.Kind.FEED)


def name_sitemaps(site: Site, urls: Sequence[str], told: str = "") -> None:
    """Note sitemaps; `told` is what an index says of their time."""
    _name(site, urls, Source.Kind.SITEMAP, told)


def _name(site: Site, urls: Sequence[str], kind: Source.Kind, told: str = "") -> None:
    room = MOST_SOURCES - site.sources.count()
    for url in urls:
        try:
            address = canonical_url(url)
        except BadUrl:
            continue
        if not address.startswith(f"{site.origin}/"):
            continue
        key = key_of(address)
        if site.sources.filter(key=key).update(told=told) or room < 1:
            continue
        Source.objects.get_or_create(
            site=site, key=key, defaults={"url": address, "kind": kind, "told": told}
        )
        room -= 1
