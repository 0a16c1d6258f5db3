"""Admission of URLs to a crawl's queue: each URL once, within the scope and the budgets."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import connection

from crawler.database.bulk import insert_rows, row_builder
from crawler.engine.models import Host
from crawler.fetching.http.domains import host_of, registrable_domain
from crawler.frontier.budgets import Budgets, pattern, room_of, shape_refusal
from crawler.frontier.models import Crawl, CrawlHost, CrawlPattern, CrawlUrl
from crawler.frontier.queue import renew_hosts
from crawler.text.keys import digest

State = CrawlUrl.State
_new_url = row_builder(CrawlUrl)


@dataclass(frozen=True, slots=True)
class Found:
    """A link found on a page: canonical URL, class and score; `parent` is None for seeds.

    `key` is the digest of the URL if the caller has computed it. `hops` counts the redirects in a row that
    led to the URL. A `vouched` one is outside the crawl's bounds and asked for all the same, as a sitemap is
    that a site's robots.txt names.
    """

    url: str
    link: str
    score: float
    depth: int
    parent: int | None = None
    key: uuid.UUID | None = None
    hops: int = 0
    vouched: bool = False


@dataclass(frozen=True, slots=True)
class Admitted:
    """The result of an admission: new URLs, duplicates, and refusals by cause (each URL counted once)."""

    new: int
    duplicates: int
    refused: Counter[str]


def admit(
    crawl: Crawl, found_links: Sequence[Found], now: datetime, budgets: Budgets | None = None
) -> Admitted:
    """Queue the URLs that are new to the crawl. The caller's transaction holds the lock on the crawl's row.

    A URL that is queued, leased or finished counts as a duplicate; a dropped URL is queued again. A URL that
    waits has the depth of the shortest way to it that is known. If the strategy accumulates, it gains the
    scores of its duplicates.
    """
    default_budgets = Budgets() if crawl.max_depth is None else Budgets(depth=crawl.max_depth)
    limits, scope = budgets or default_budgets, crawl.bounds()
    accumulates = crawl.rules().accumulates
    links, gained = _once(found_links)
    states = _known(crawl, list(links))
    _bring_nearer(
        crawl, {key: links[key].depth for key, (_, depth) in states.items() if links[key].depth < depth}
    )
    refused: Counter[str] = Counter()
    candidates = []
    for key, link in links.items():
        if key not in states:
            # A sitemap that robots.txt names may lie on the host of a site's files, outside of the crawl's
            # bounds.
            cause = (
                shape_refusal(link.url, link.depth, limits)
                if link.vouched or scope.allows(link.url)
                else "scope"
            )
            if cause:
                refused[cause] += 1
            else:
                candidates.append((key, link))
    # After the scope: URLs that are refused anyway must create no rows of hosts.
    room = _room(crawl, [link.url for _, link in candidates], limits)
    rows = []
    for key, link in candidates:
        host, cause = room.take(link.url)
        if cause:
            refused[cause] += 1
            continue
        score = gained[key] if accumulates else link.score
        rows.append(
            _new_url(
                crawl_id=crawl.pk, host_id=host, url=link.url, key=key, parent=link.parent, depth=link.depth,
                hops=link.hops, link=link.link, score=score, state=State.QUEUED.value, queued=now,
                not_before=now,
            )
        )  # fmt: skip
    room.save()
    # Found once more, so that somebody still links to it.
    again = _again(crawl, [key for key, (state, _) in states.items() if state == State.DROPPED], now)
    touched = {*insert_rows(CrawlUrl, rows, returning="host_id"), *again}
    if accumulates and states:
        touched |= _pay(crawl, {key: gained[key] for key in states})
    renew_hosts(crawl, touched)
    duplicates = len(found_links) - len(links) + len(states) - len(again)
    return Admitted(len(rows) + len(again), duplicates, refused)


@dataclass(slots=True)
class _Room:
    """The URLs already admitted per host and per URL pattern, with the ones this admission adds."""

    crawl: Crawl
    budgets: Budgets
    ids: Mapping[str, int]
    used: dict[int, int]
    families: dict[uuid.UUID, int]
    new_hosts: float
    hosts: Counter[int] = field(default_factory=Counter)
    patterns: Counter[tuple[uuid.UUID, str]] = field(default_factory=Counter)

    def take(self, url: str) -> tuple[int, str]:
        """Return the URL's host and the cause of its refusal.

        An empty cause means that its place is taken.
        """
        host, family = self.ids[host_of(url)], pattern(url)
        key_and_family = (digest(family), family)
        # Counted with those of this very batch, which are not stored yet.
        if host not in self.used and host not in self.hosts:
            if self.new_hosts < 1:
                return host, "hosts"
            self.new_hosts -= 1
        if self.used.get(host, 0) + self.hosts[host] >= self.budgets.per_host:
            return host, "host"
        if self.families.get(key_and_family[0], 0) + self.patterns[key_and_family] >= room_of(
            family, self.budgets
        ):
            return host, "pattern"
        self.hosts[host] += 1
        self.patterns[key_and_family] += 1
        return host, ""

    def save(self) -> None:
        """Add the admitted URLs to the counts of the crawl's hosts and patterns."""
        domains = {self.ids[name]: registrable_domain(name) for name in self.ids}
        if self.hosts:
            _run(
                _COUNT_HOSTS,
                self.crawl,
                list(self.hosts),
                [domains[h] for h in self.hosts],
                list(self.hosts.values()),
            )
        if self.patterns:
            keys, texts = zip(*self.patterns, strict=True)
            _run(_COUNT_PATTERNS, self.crawl, list(keys), list(texts), list(self.patterns.values()))


_COUNT_HOSTS = """
    INSERT INTO frontier_crawlhost AS kept (crawl_id, host_id, domain, admitted)
    SELECT %s, host, domain, admitted
    FROM unnest(%s::bigint[], %s::text[], %s::int[]) AS given(host, domain, admitted) ORDER BY host
    ON CONFLICT (crawl_id, host_id) DO UPDATE SET admitted = kept.admitted + EXCLUDED.admitted
"""
_COUNT_PATTERNS = """
    INSERT INTO frontier_crawlpattern AS kept (crawl_id, key, pattern, admitted)
    SELECT %s, key, pattern, admitted
    FROM unnest(%s::uuid[], %s::text[], %s::int[]) AS given(key, pattern, admitted) ORDER BY key
    ON CONFLICT (crawl_id, key) DO UPDATE SET admitted = kept.admitted + EXCLUDED.admitted
"""
# Only waiting ones: a score that is paid to a leased page changes nothing any more.
_PAY = """
    UPDATE frontier_crawlurl AS url SET score = url.score + paid.gain
    FROM unnest(%s::uuid[], %s::float8[]) AS paid(key, gain)
    WHERE url.crawl_id = %s AND url.key = paid.key AND url.state = 'queued' AND url.lease IS NULL
    RETURNING host_id
"""
_NEARER = """
    UPDATE frontier_crawlurl AS url SET depth = nearer.depth
    FROM unnest(%s::uuid[], %s::int[]) AS nearer(key, depth)
    WHERE url.crawl_id = %s AND url.key = nearer.key AND url.state IN ('queued', 'dropped')
"""


def _once(found_links: Sequence[Found]) -> tuple[dict[uuid.UUID, Found], dict[uuid.UUID, float]]:
    """Return the links by key without duplicates, each with its least depth, and the total score of each
    key's links.
    """
    keys: dict[str, uuid.UUID] = {}
    links: dict[uuid.UUID, Found] = {}
    gained: dict[uuid.UUID, float] = {}
    for link in found_links:
        key = keys.get(link.url)
        if key is None:
            key = keys[link.url] = link.key or digest(link.url)
            links[key] = link
            gained[key] = link.score
        else:
            gained[key] += link.score
            if link.depth < links[key].depth:
                links[key] = replace(links[key], depth=link.depth)
    return links, gained


def _known(crawl: Crawl, keys: list[uuid.UUID]) -> dict[uuid.UUID, tuple[str, int]]:
    """Return the states and depths of the crawl's URLs by key, by raw SQL: Django would bind each key
    separately.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, state, depth FROM frontier_crawlurl WHERE crawl_id = %s AND key = ANY(%s)",
            [crawl.pk, keys],
        )
        return {key: (state, depth) for key, state, depth in cursor.fetchall()}


def _bring_nearer(crawl: Crawl, depths: Mapping[uuid.UUID, int]) -> None:
    """Set the depths of URLs that wait, or were dropped, to those of a shorter way."""
    if depths:
        with connection.cursor() as cursor:
            cursor.execute(_NEARER, [list(depths), list(depths.values()), crawl.pk])


def _room(crawl: Crawl, urls: Sequence[str], budgets: Budgets) -> _Room:
    ids = Host.objects.named({host_of(url) for url in urls})
    hosts = CrawlHost.objects.filter(crawl=crawl, host__in=ids.values())
    families = [digest(text) for text in {pattern(url) for url in urls}]
    patterns = CrawlPattern.objects.filter(crawl=crawl, key__in=families)
    return _Room(
        crawl,
        budgets,
        ids,
        dict(hosts.values_list("host_id", "admitted")),
        dict(patterns.values_list("key", "admitted")),
        float("inf") if crawl.max_hosts is None else crawl.max_hosts - crawl.hosts.count(),
    )


def _run(statement: str, crawl: Crawl, *columns: Sequence[object]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, [crawl.pk, *(list(column) for column in columns)])


def _again(crawl: Crawl, keys: Sequence[uuid.UUID], now: datetime) -> list[int]:
    """Queue dropped URLs again. Returns their hosts, one for each URL."""
    if not keys:
        return []
    dropped = CrawlUrl.objects.select_for_update().filter(crawl=crawl, key__in=keys, state=State.DROPPED)
    hosts = dict(dropped.order_by("id").values_list("id", "host_id"))
    CrawlUrl.objects.filter(id__in=hosts).update(
        state=State.QUEUED, queued=now, not_before=now, attempts=0, losses=0
    )
    return list(hosts.values())


def _pay(crawl: Crawl, gains: Mapping[uuid.UUID, float]) -> set[int]:
    """Raise the scores of waiting URLs. Returns the ids of their hosts."""
    with connection.cursor() as cursor:
        cursor.execute(_PAY, [list(gains), list(gains.values()), crawl.pk])
        return {host for (host,) in cursor.fetchall()}
