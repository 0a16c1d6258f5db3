"""The queue of crawls in PostgreSQL: URLs come in once, go out under leases, are dropped when they wait long.

Two levels: hosts by the first of their waiting URLs, and URLs within a host. So a lease looks at as many
rows as it takes, however many wait, and hosts that are busy hold up nobody.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction

from crawler.engine.leased import Room
from crawler.engine.models import Host
from crawler.frontier.models import Crawl, CrawlHost
from crawler.messages import Assignment


def lease_urls(
    leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], crawl: Crawl, now: datetime
) -> dict[int, list[Assignment]]:
    """Put waiting URLs under the leases of their hosts, best first, at most `room` of a host.

    One that has lost a lease goes when no other does, alone (`crawler.engine.leased`).
    """
    taken: dict[int, list[Assignment]] = {}
    selectors = None if crawl.selectors is None else tuple(crawl.selectors)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH chosen AS (
                SELECT asked.lease, first.page_id
                FROM unnest(%s::bigint[], %s::uuid[], %s::int[], %s::bool[], %s::bool[])
                    AS asked(host, lease, places, empty, fresh)
                CROSS JOIN LATERAL (
                    WITH fresh AS (
                        SELECT page_id FROM frontier_waiting
                        WHERE crawl_id = %s AND host_id = asked.host AND losses = 0
                            AND (not_before IS NULL OR not_before <= %s) AND asked.fresh
                        ORDER BY score DESC, page_id LIMIT asked.places
                    ), suspect AS (
                        SELECT page_id FROM frontier_waiting
                        WHERE crawl_id = %s AND host_id = asked.host AND losses > 0
                            AND (not_before IS NULL OR not_before <= %s)
                            AND asked.empty AND NOT EXISTS (SELECT FROM fresh)
                        ORDER BY score DESC, page_id LIMIT least(asked.places, 1)
                    )
                    SELECT page_id FROM fresh UNION ALL SELECT page_id FROM suspect
                ) AS first
            ), gone AS (
                DELETE FROM frontier_waiting AS place USING chosen WHERE place.page_id = chosen.page_id
                RETURNING place.*, chosen.lease
            )
            INSERT INTO frontier_leased
                (page_id, crawl_id, host_id, url, link, score, queued, not_before, attempts, losses, lease,
                waited)
            SELECT page_id, crawl_id, host_id, url, link, score, queued, not_before, attempts + 1, losses,
                lease, extract(epoch FROM %s - queued)
            FROM gone RETURNING host_id, page_id, url, score, losses
            """,
            [
                list(leases),
                list(leases.values()),
                [room[host].places for host in leases],
                [room[host].empty for host in leases],
                [room[host].fresh for host in leases],
                *(crawl.pk, now, crawl.pk, now, now),
            ],
        )
        rows = sorted(cursor.fetchall(), key=lambda row: (-row[3], row[1]))
    for host, key, url, _, losses in rows:
        taken.setdefault(host, []).append(
            Assignment("crawl", key, url, any_type=crawl.into_graph, selectors=selectors, suspect=losses > 0)
        )
    CrawlHost.objects.filter(crawl=crawl, host__in=leases).update(served=now)
    renew_hosts(crawl.pk, set(leases))
    return taken


def hosts_in_order(crawl: Crawl, most: int, now: datetime, among: Sequence[int] | None = None) -> list[Host]:
    """Free hosts with waiting URLs, locked: those with the best first, or by turns; only `among` these."""
    order = "served ASC NULLS FIRST, head" if crawl.rules().by_turns else "best DESC, head"
    return list(
        Host.objects.raw(
            f"""
            SELECT host.* FROM frontier_crawlhost AS place
            JOIN crawler_host AS host ON host.id = place.host_id
            WHERE place.crawl_id = %s AND place.best IS NOT NULL AND place.ready <= %s
                AND host.lease IS NULL AND (host.not_before IS NULL OR host.not_before <= %s)
                AND (%s::bigint[] IS NULL OR place.host_id = ANY(%s))
            ORDER BY {order} LIMIT %s FOR UPDATE OF host SKIP LOCKED
            """,  # noqa: S608 - one of two orders written here
            [crawl.pk, now, now, among, among, most],
        )
    )


def release_urls(leases: Sequence[uuid.UUID]) -> int:
    """Move URLs that were not visited back into the queue; they wait as long as before. How many."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH back AS (
                DELETE FROM frontier_leased WHERE lease = ANY(%s) RETURNING *
            )
            INSERT INTO frontier_waiting
                (page_id, crawl_id, host_id, url, link, score, queued, not_before, attempts, losses)
            SELECT page_id, crawl_id, host_id, url, link, score, queued, not_before, attempts - 1, losses
            FROM back RETURNING crawl_id, host_id
            """,
            [list(leases)],
        )
        rows = cursor.fetchall()
    for crawl in sorted({row[0] for row in rows}):
        renew_hosts(crawl, {row[1] for row in rows if row[0] == crawl})
    return len(rows)


@transaction.atomic
def release_lost() -> int:
    """Let URLs wait again that are under leases which no host has any more. How many.

    A host and its URLs change together, so there are none but where somebody changed rows by hand.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT DISTINCT place.lease FROM frontier_leased AS place
            LEFT JOIN crawler_host AS host ON host.id = place.host_id AND host.lease = place.lease
            WHERE host.id IS NULL
            """
        )
        lost = [lease for (lease,) in cursor.fetchall()]
    return release_urls(lost) if lost else 0


@dataclass(frozen=True, slots=True)
class Left:
    """Whether a crawl has URLs that wait, are out, are to be crawled at all; hosts to ask; documents."""

    waiting: bool
    out: bool
    queued: bool
    hosts: bool
    documents: bool

    @property
    def any(self) -> bool:
        """Whether something may still come of it."""
        return self.waiting or self.out or self.queued or self.documents

    @property
    def lost(self) -> bool:
        """Whether URLs are to be crawled that no host would ever be asked for."""
        return not self.out and (not self.hosts if self.waiting else self.queued)


def left_of(crawl: Crawl) -> Left:
    """What is left of a crawl, seen by one statement: what moves meanwhile is in one place or the other."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT EXISTS (SELECT FROM frontier_waiting WHERE crawl_id = %(crawl)s),
                EXISTS (SELECT FROM frontier_leased WHERE crawl_id = %(crawl)s),
                EXISTS (SELECT FROM frontier_crawlurl WHERE crawl_id = %(crawl)s AND state = 'queued'),
                EXISTS (SELECT FROM frontier_crawlhost WHERE crawl_id = %(crawl)s AND best IS NOT NULL),
                %(graph)s AND EXISTS (
                    SELECT FROM pipeline_document WHERE crawl_id = %(crawl)s AND state NOT IN ('done', 'dead')
                )
            """,
            {"crawl": crawl.pk, "graph": crawl.into_graph},
        )
        return Left(*cursor.fetchone())


def repair(crawl: Crawl) -> int:
    """Let URLs wait that are to be crawled and in no queue, and find the first of every host again; how many.

    Of use after damage alone: the tables change together.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO frontier_waiting (page_id, crawl_id, host_id, url, link, score, queued, attempts)
            SELECT id, crawl_id, host_id, url, link, score, now(), attempts FROM frontier_crawlurl AS url
            WHERE crawl_id = %s AND state = 'queued'
                AND NOT EXISTS (SELECT FROM frontier_waiting WHERE page_id = url.id)
                AND NOT EXISTS (SELECT FROM frontier_leased WHERE page_id = url.id)
            ON CONFLICT DO NOTHING RETURNING host_id
            """,
            [crawl.pk],
        )
        back = len(cursor.fetchall())
    renew_hosts(crawl.pk, set(crawl.waiting.order_by().values_list("host", flat=True).distinct()))
    return back


def enqueue(pages: Sequence[int]) -> set[int]:
    """Let these URLs wait, which neither wait nor are out; their hosts, which the caller renews."""
    if not pages:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO frontier_waiting (page_id, crawl_id, host_id, url, link, score, queued, attempts)
            SELECT id, crawl_id, host_id, url, link, score, queued, 0
            FROM frontier_crawlurl WHERE id = ANY(%s) RETURNING host_id
            """,
            [list(pages)],
        )
        return {host for (host,) in cursor.fetchall()}


def drop_expired(crawl: Crawl, now: datetime) -> int:
    """The time control: drop what has waited longer than the crawl allows; how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH gone AS (
                DELETE FROM frontier_waiting WHERE crawl_id = %s AND queued < %s RETURNING page_id
            )
            UPDATE frontier_crawlurl SET state = 'dropped' FROM gone WHERE id = page_id RETURNING host_id
            """,
            [crawl.pk, now - timedelta(minutes=crawl.max_wait)],
        )
        hosts = [row[0] for row in cursor.fetchall()]
    renew_hosts(crawl.pk, set(hosts))
    return len(hosts)


def renew_hosts(crawl: int, hosts: set[int]) -> None:
    """Find the first waiting URL of these hosts again."""
    if not hosts:
        return
    with connection.cursor() as cursor:
        # In one order, so that no two wait for each other.
        cursor.execute(
            """
            SELECT FROM frontier_crawlhost WHERE crawl_id = %s AND host_id = ANY(%s)
            ORDER BY host_id FOR UPDATE
            """,
            [crawl, sorted(hosts)],
        )
        cursor.execute(
            """
            UPDATE frontier_crawlhost AS place SET best = first.score, head = first.page_id,
                ready = coalesce(first.not_before, place.ready)
            FROM unnest(%s::bigint[]) AS asked(host)
            LEFT JOIN LATERAL (
                SELECT page_id, score, (
                    SELECT min(coalesce(not_before, queued)) FROM (
                        SELECT not_before, queued FROM frontier_waiting
                        WHERE crawl_id = %s AND host_id = asked.host ORDER BY score DESC, page_id LIMIT 50
                    ) AS front
                ) AS not_before
                FROM frontier_waiting
                WHERE crawl_id = %s AND host_id = asked.host ORDER BY score DESC, page_id LIMIT 1
            ) AS first ON true
            WHERE place.crawl_id = %s AND place.host_id = asked.host
            """,
            [sorted(hosts), crawl, crawl, crawl],
        )


def keep_statistics() -> None:
    """Let PostgreSQL count its tables anew when they have grown to twice what it knows.

    A queue grows from nothing to a million rows within minutes, and its autovacuum looks once a minute:
    until then it would plan for an empty table, and scan all of it for every host.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT relid::regclass::text FROM pg_stat_user_tables JOIN pg_class ON pg_class.oid = relid
            WHERE pg_class.relname IN (
                    'frontier_crawlurl', 'frontier_waiting', 'frontier_crawlhost', 'frontier_crawlpattern'
                )
                AND n_mod_since_analyze > greatest(reltuples, 1000)
            """
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f"ANALYZE {table}")
