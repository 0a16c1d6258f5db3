"""Check-in of a terminal's harvests into their crawls, inside the caller's transaction."""

from __future__ import annotations

import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import psycopg
from django.db import connection
from django.db.models import F

from crawler.database.bulk import columns_except, update_rows
from crawler.engine.models import Host
from crawler.failures import Failure
from crawler.fetching.http.domains import host_of, registrable_domain
from crawler.fetching.http.site_lines import sitemaps_in
from crawler.frontier.admission import Found, admit
from crawler.frontier.decision import decide
from crawler.frontier.figures import note
from crawler.frontier.models import Body, Crawl, CrawlUrl
from crawler.frontier.queue import drop_expired, renew_hosts
from crawler.frontier.strategies import Parent
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage
from crawler.text.keys import digest

State = CrawlUrl.State
CHANGED = columns_except(CrawlUrl, "crawl", "host", "url", "key", "parent", "depth", "hops", "link", "score")
"""Fields of a URL that a check-in writes: all but those of its admission."""


_SITEMAP = re.compile(r"\.(xml|txt)(\.gz)?$", re.IGNORECASE)
"""The end of a sitemap's address, which an index on another host may name."""


@dataclass(slots=True)
class _Gain:
    """The changes that a batch makes to one crawl."""

    rows: list[CrawlUrl] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    pages: list[CrawledPage] = field(default_factory=list)
    links_over_limit: int = 0
    nofollow_links: int = 0
    bytes: int = 0
    hosts_of_retries: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Settled:
    """The URLs that a check-in has settled: pages to add to the graph, and URLs of crawls that map a site."""

    graphed: list[CrawlUrl] = field(default_factory=list)
    mapped: list[tuple[CrawlUrl, Harvest]] = field(default_factory=list)


def check_in_crawls(harvests: Iterable[Harvest], leases: Sequence[uuid.UUID], now: datetime) -> Settled:
    """Store pages and queue their links.

    Skips harvests of URLs that are no longer under one of the leases, so that a second call changes nothing.
    """
    by_page = {harvest.id: harvest for harvest in harvests}
    settled = Settled()
    if not by_page:
        return settled
    # By id, as everywhere: two check-ins may hold URLs of one crawl.
    leased = CrawlUrl.objects.under(leases).select_for_update().filter(id__in=by_page).order_by("id")
    rows = list(leased)
    gains: dict[int, _Gain] = defaultdict(_Gain)
    crawls = Crawl.objects.in_bulk({row.crawl_id for row in rows})
    for row in rows:
        _settle(row, by_page[row.pk], crawls[row.crawl_id], gains[row.crawl_id])
    # By crawl id, the order in which crawls are locked.
    for key, gain in sorted(gains.items()):
        _store(crawls[key], gain, now)
    for key, gain in gains.items():
        if crawls[key].into_graph:
            # Bodies of errors and redirects are for the archive alone.
            settled.graphed.extend(row for row in gain.rows if row.state == State.CRAWLED and row.body_id)
        if crawls[key].selectors is not None:
            settled.mapped.extend((row, by_page[row.pk]) for row in gain.rows if row.state != State.QUEUED)
    return settled


def queue_named_sitemaps(hosts: Sequence[Host], now: datetime) -> None:
    """Queue the sitemaps named in these hosts' robots.txt, for crawls that use sitemaps."""
    sitemaps = {
        host.pk: sitemaps_in(host.robots_text, host.robots_origin)
        for host in hosts
        if "sitemap:" in host.robots_text.lower()
    }
    if not sitemaps:
        return
    interested = Crawl.objects.running().filter(sitemaps=True, hosts__host__in=sitemaps).distinct()
    crawls = Crawl.objects.select_for_update().running().filter(id__in=interested.values("id"))
    for crawl in crawls.order_by("id"):  # locked, so that none ends with a sitemap in its queue
        crawled_hosts = set(crawl.hosts.filter(host__in=sitemaps).values_list("host_id", flat=True))
        urls = [url for host in crawled_hosts for url in sitemaps[host]]
        score = crawl.rules().links(Parent(0, 1.0, 0, len(urls))).intra
        vouched = not crawl.scope
        admit(crawl, [Found(url, CrawlUrl.Link.INTRA, score, 1, vouched=vouched) for url in urls], now)


def named_sitemaps(host: Host) -> list[str]:
    """Return the sitemaps on this host that its robots.txt names, a few at most."""
    urls = sitemaps_in(host.robots_text, host.robots_origin)
    return [url for url in urls if host_of(url) == host.name]


def _settle(row: CrawlUrl, harvest: Harvest, crawl: Crawl, gain: _Gain) -> None:
    decision = decide(row.attempts, row.hops, harvest, keep_bodies=crawl.keep_bodies)
    for name, value in decision.changes.items():
        setattr(row, name, value)
    gain.bytes += harvest.bytes
    gain.rows.append(row)
    if decision.is_kept:
        gain.pages.append(decision.page)
    if decision.state == "queued":
        gain.hosts_of_retries.add(row.host_id)
    if decision.is_followed:
        gain.links_over_limit += decision.page.cut
        gain.nofollow_links += decision.page.withheld
        gain.found += _links(row, decision.page, crawl)


def _links(row: CrawlUrl, page: CrawledPage, crawl: Crawl) -> list[Found]:
    """Return the page's links with their classes and scores.

    The target of a redirect takes over the page's class, score, parent and depth: a redirect is no link.
    """
    urls = _vouched_for(row.url, page.links) if page.sitemap else list(page.links)
    keys = [digest(url) for url in urls]
    row.out = list(keys)
    if row.state == State.MOVED:
        return [Found(url, row.link, row.score, row.depth, row.parent, hops=row.hops + 1) for url in urls]
    own_domain = registrable_domain(host_of(row.url))
    is_external = [registrable_domain(host_of(url)) != own_domain for url in urls]
    row.inter = sum(is_external)
    row.intra = len(is_external) - row.inter
    if crawl.link_query:  # it alone names what is followed
        return []
    scores = crawl.rules().links(Parent(row.depth, row.score, row.inter, row.intra))
    inter, intra = CrawlUrl.Link.INTER.value, CrawlUrl.Link.INTRA.value
    is_elsewhere = page.sitemap and not crawl.scope and not crawl.bounds().allows(row.url)
    return [
        Found(
            url,
            inter if external else intra,
            scores.inter if external else scores.intra,
            row.depth + 1,
            row.id,
            key,
            vouched=is_elsewhere and bool(_SITEMAP.search(url)),
        )
        for url, external, key in zip(urls, is_external, keys, strict=True)
    ]


def _vouched_for(sitemap: str, urls: Sequence[str]) -> list[str]:
    """Return those of a sitemap's URLs for which it may speak.

    It speaks for its own host, and for each host whose robots.txt names a sitemap there (sitemaps.org,
    "Sitemaps & Cross Submits"): a site's sitemaps often lie on the host of its files.
    """
    own_host = host_of(sitemap)
    names = {host_of(url) for url in urls} - {own_host}
    others = Host.objects.filter(name__in=names, robots_text__icontains="sitemap:") if names else ()
    speaks_for = {own_host} | {
        host.name
        for host in others
        # A site's sitemap may name pages of others only where their robots.txt allows it, or anybody could
        # fill a crawl.
        if any(host_of(url) == own_host for url in sitemaps_in(host.robots_text, host.robots_origin))
    }
    return [url for url in urls if host_of(url) in speaks_for]


def _store(crawl: Crawl, gain: _Gain, now: datetime) -> None:
    """Store one crawl's changes under its lock: bodies, rows, links and counters."""
    Crawl.objects.select_for_update().only("id").get(pk=crawl.pk)
    if gain.pages:
        keep_bodies(gain.pages)
    update_rows(CrawlUrl, gain.rows, CHANGED)
    renew_hosts(crawl, gain.hosts_of_retries)
    dropped = drop_expired(crawl, now)
    _follow_seeds(crawl, gain.found)
    admitted = admit(crawl, gain.found, now)
    crawled = [row for row in gain.rows if row.state == State.CRAWLED]
    _count_crawled(crawl.pk, Counter(row.host_id for row in crawled))
    refused = admitted.refused + Counter(links=gain.links_over_limit, nofollow=gain.nofollow_links)
    Crawl.objects.filter(pk=crawl.pk).update(
        crawled=F("crawled") + len(crawled),
        # What robots.txt forbids was never asked for.
        requests=F("requests") + sum(row.failure != Failure.ROBOTS for row in gain.rows),
        dropped=F("dropped") + dropped,
        duplicates=F("duplicates") + admitted.duplicates,
        bytes=F("bytes") + gain.bytes,
    )
    if refused:
        _count_refused(crawl.pk, refused)
    note(
        crawl.pk,
        now,
        crawled=len(crawled),
        dropped=dropped,
        duplicates=admitted.duplicates,
        waiting=[row.waited or 0.0 for row in crawled],
        parent=[row.elapsed or 0.0 for row in crawled if row.inter or row.intra],
        size=[float(row.size or 0) for row in crawled],
    )


def _count_crawled(crawl: int, pages: Mapping[int, int]) -> None:
    """Add to the crawled pages of each host, by its id."""
    if not pages:
        return
    with connection.cursor() as cursor:
        # In one order, so that no two wait for each other.
        cursor.execute(
            """
            SELECT FROM frontier_crawlhost WHERE crawl_id = %s AND host_id = ANY(%s)
            ORDER BY host_id FOR UPDATE
            """,
            [crawl, sorted(pages)],
        )
        cursor.execute(
            """
            UPDATE frontier_crawlhost AS place SET crawled = crawled + given.pages
            FROM unnest(%s::bigint[], %s::int[]) AS given(host, pages)
            WHERE place.crawl_id = %s AND place.host_id = given.host
            """,
            [list(pages), list(pages.values()), crawl],
        )


def _follow_seeds(crawl: Crawl, found_links: Sequence[Found]) -> None:
    """Make the target of a start address's redirect a start address, so that its host is crawled, too.

    A crawl of a site that had moved to another host ended after one request, and did not say why. The bounds
    that people set themselves stay. The caller holds the lock on the crawl's row.
    """
    moved = [each.url for each in found_links if each.link == CrawlUrl.Link.SEED and each.hops]
    if not moved or crawl.scope:
        return
    bounds = crawl.bounds()
    seeds = [url for url in moved if not bounds.allows(url)]
    if not seeds:
        return
    existing_seeds = Crawl.objects.values_list("seeds", flat=True).get(pk=crawl.pk)
    crawl.seeds = list(dict.fromkeys([*existing_seeds, *seeds]))
    Crawl.objects.filter(pk=crawl.pk).update(seeds=crawl.seeds)


def keep_bodies(pages: Sequence[CrawledPage]) -> None:
    """Store the bodies that are not stored yet."""
    stored = set(
        Body.objects.filter(digest__in=[uuid.UUID(page.digest) for page in pages]).values_list(
            "digest", flat=True
        )
    )
    new = {page.digest: page for page in pages if uuid.UUID(page.digest) not in stored}
    # In binary, by psycopg's own cursor: Django's would spell the bytes in the statement.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(
            """
            INSERT INTO frontier_body (digest, content, size)
            SELECT * FROM unnest(%b::uuid[], %b::bytea[], %b::int[]) ON CONFLICT DO NOTHING
            """,
            [
                [uuid.UUID(key) for key in new],
                [page.body for page in new.values()],
                [page.size for page in new.values()],
            ],
        )


def _count_refused(crawl: int, refused: Mapping[str, int]) -> None:
    # Read and added under the crawl's lock, which the caller holds: JSON has no F().
    row = Crawl.objects.only("refused").get(pk=crawl)
    Crawl.objects.filter(pk=crawl).update(refused=dict(Counter(row.refused) + Counter(refused)))
