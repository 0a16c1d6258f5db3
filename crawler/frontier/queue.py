"""The queue of crawls in PostgreSQL: URLs enter once, go out under leases, and are dropped when they expire.

It has two levels: hosts ordered by the first of their waiting URLs, and URLs within a host. So leasing reads
only as many rows as it takes, however many wait, and busy hosts do not delay others.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from crawler.engine.leased import BatchSpace, lease_rows
from crawler.engine.models import Host
from crawler.frontier.models import Crawl, CrawlHost, CrawlUrl
from crawler.frontier.orders import PageOrder
from crawler.frontier.signals import binaries_wanted
from crawler.messages import Assignment

ATTEMPT_PENALTY = 1e12
"""Amount to subtract, per attempt, from the score by which a host is ordered; larger than any score.

Within its host a URL comes behind all that were tried less often, so that a slow one does not block its host.
"""


def lease_urls(
    leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], crawl: Crawl, now: datetime
) -> dict[int, list[Assignment]]:
    """Lease waiting URLs of a crawl under the leases of their hosts, best first.

    Returns assignments by host id.
    """
    assignments: dict[int, list[Assignment]] = {}
    binaries = crawl.into_graph and any(is_wanted for _, is_wanted in binaries_wanted.send(sender=Crawl))
    selectors = None if crawl.selectors is None else tuple(crawl.selectors)
    order = PageOrder(any_type=crawl.into_graph, binaries=binaries, selectors=selectors)
    rows = lease_rows(
        CrawlUrl,
        leases,
        space,
        now,
        where=f"crawl_id = {int(crawl.pk)} AND state = 'queued'",
        order="attempts, score DESC, id",
        also_set="attempts = attempts + 1, waited = extract(epoch FROM %(now)s - queued)",
        returning=("host_id", "id", "url", "losses"),
    )
    for host, key, url, losses in rows:
        assignments.setdefault(host, []).append(
            Assignment("crawl", key, url, suspect=losses > 0, order=order)
        )
    CrawlHost.objects.filter(crawl=crawl, host__in=leases).update(served=now)
    renew_hosts(crawl, set(leases))
    return assignments


def hosts_in_order(crawl: Crawl, limit: int, now: datetime, among: Sequence[int] | None = None) -> list[Host]:
    """Lock and return free hosts with waiting URLs, ordered by best URL or by turns.

    `among` restricts them to these host ids.
    """
    # A bare "served" would be the host's, which all crawls share.
    order = "place.served ASC NULLS FIRST" if crawl.rules().by_turns else "place.best DESC"
    return list(
        Host.objects.raw(
            f"""
            SELECT host.* FROM frontier_crawlhost AS place
            JOIN crawler_host AS host ON host.id = place.host_id
            WHERE place.crawl_id = %s AND place.best IS NOT NULL AND place.ready <= %s
                AND host.lease IS NULL AND (host.not_before IS NULL OR host.not_before <= %s)
                AND (%s::bigint[] IS NULL OR place.host_id = ANY(%s))
            ORDER BY {order}, place.head LIMIT %s FOR UPDATE OF host SKIP LOCKED
            """,  # noqa: S608 - one of two orders written here
            [crawl.pk, now, now, among, among, limit],
        )
    )


def release_urls(leases: Sequence[uuid.UUID]) -> int:
    """Return leased URLs that were not visited to the queue. Returns their number.

    Their waiting time counts from when they were queued.
    """
    # The attempt was counted at the lease, and nothing was asked.
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE frontier_crawlurl SET lease = NULL, attempts = attempts - 1, waited = NULL
            WHERE lease = ANY(%s) RETURNING crawl_id, host_id
            """,
            [list(leases)],
        )
        rows = cursor.fetchall()
    # Sorted, the order in which crawls are locked.
    for key, crawl in sorted(Crawl.objects.in_bulk({row[0] for row in rows}).items()):
        renew_hosts(crawl, {row[1] for row in rows if row[0] == key})
    return len(rows)


@dataclass(frozen=True, slots=True)
class Remaining:
    """Flags of a crawl: URLs wait, URLs are `out` with terminals, and `hosts` have a first waiting URL."""

    waiting: bool
    out: bool
    hosts: bool


def remaining(crawl: Crawl) -> Remaining:
    """Query a crawl's waiting and leased URLs in one statement, so that a URL that moves is not missed."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT EXISTS (
                    SELECT FROM frontier_crawlurl
                    WHERE crawl_id = %(crawl)s AND state = 'queued' AND lease IS NULL
                ),
                EXISTS (SELECT FROM frontier_crawlurl WHERE crawl_id = %(crawl)s AND lease IS NOT NULL),
                EXISTS (SELECT FROM frontier_crawlhost WHERE crawl_id = %(crawl)s AND best IS NOT NULL)
            """,
            {"crawl": crawl.pk},
        )
        return Remaining(*cursor.fetchone())


def renew_all_hosts(crawl: Crawl) -> None:
    """Update the first waiting URL of every host that has waiting URLs."""
    renew_hosts(crawl, set(crawl.waiting.order_by().values_list("host", flat=True).distinct()))


def drop_expired(crawl: Crawl, now: datetime) -> int:
    """Drop URLs that have waited longer than the crawl allows (the time control). Returns their number."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE frontier_crawlurl SET state = 'dropped'
            WHERE crawl_id = %s AND state = 'queued' AND lease IS NULL AND queued < %s RETURNING host_id
            """,
            [crawl.pk, now - timedelta(minutes=crawl.max_wait)],
        )
        hosts = [row[0] for row in cursor.fetchall()]
    renew_hosts(crawl, set(hosts))
    return len(hosts)


def renew_hosts(crawl: Crawl, hosts: set[int]) -> None:
    """Update the first waiting URL of these hosts, and the score by which they are ordered.

    It is that of the URL, or the host's promise where the strategy ranks what is known
    (`crawler.frontier.strategies.promise`).
    """
    if not hosts:
        return
    with connection.cursor() as cursor:
        # In one order, so that no two wait for each other.
        cursor.execute(
            """
            SELECT FROM frontier_crawlhost WHERE crawl_id = %s AND host_id = ANY(%s)
            ORDER BY host_id FOR UPDATE
            """,
            [crawl.pk, sorted(hosts)],
        )
        cursor.execute(
            """
            UPDATE frontier_crawlhost AS place SET head = first.id,
                best = first.score * CASE WHEN %(promise)s THEN admitted / greatest(crawled, 0.5) ELSE 1 END
                    - first.attempts * %(penalty)s,
                ready = coalesce(first.not_before, place.ready)
            FROM unnest(%(hosts)s::bigint[]) AS asked(host)
            LEFT JOIN LATERAL (
                SELECT id, score, attempts, (
                    SELECT min(not_before) FROM (
                        SELECT not_before FROM frontier_crawlurl
                        WHERE crawl_id = %(crawl)s AND host_id = asked.host
                            AND state = 'queued' AND lease IS NULL
                        ORDER BY attempts, score DESC, id LIMIT 50
                    ) AS front
                ) AS not_before
                FROM frontier_crawlurl
                WHERE crawl_id = %(crawl)s AND host_id = asked.host AND state = 'queued' AND lease IS NULL
                ORDER BY attempts, frontier_crawlurl.score DESC, id LIMIT 1
            ) AS first ON true
            WHERE place.crawl_id = %(crawl)s AND place.host_id = asked.host
            """,
            {
                "hosts": sorted(hosts),
                "penalty": ATTEMPT_PENALTY,
                "crawl": crawl.pk,
                "promise": crawl.rules().ranks_known,
            },
        )


def keep_statistics() -> None:
    """Run ANALYZE on tables of the queue in which more rows have changed than they had at the last ANALYZE.

    A queue grows from nothing to a million rows within minutes, and autovacuum looks once a minute: until
    then PostgreSQL would plan for an empty table, and scan the whole table for every host.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT relid::regclass::text FROM pg_stat_user_tables JOIN pg_class ON pg_class.oid = relid
            WHERE pg_class.relname IN ('frontier_crawlurl', 'frontier_crawlhost', 'frontier_crawlpattern')
                AND n_mod_since_analyze > greatest(reltuples, 1000)
            """
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f"ANALYZE {table}")
