"""The PageRank of what a crawl knows so far, given to the URLs that wait (strategy `known-rank`)."""

from __future__ import annotations

import numpy as np
import psycopg
from django.db import connection
from django.db.models import Sum

from crawler.database.bulk import update_rows
from crawler.frontier.graph import Integers, known_ranks
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.frontier.queue import renew_all_hosts
from crawler.frontier.strategies import FIRST_RANKING, next_ranking

MAX_LINKS = 500_000
"""Links beyond which a crawl is not ranked again: its order goes on by OPIC's cash."""
_BLOCK = 5_000
_MIN_CHANGE = 0.1
"""The relative change of a score that is worth a write: smaller ones leave the order as good."""


def rank_known(crawl: Crawl) -> int:
    """Give the waiting URLs of a crawl the PageRank of the known links, when that is due.

    Returns the number of changed URLs. The caller's transaction holds the lock on the crawl's row.
    """
    if not crawl.rules().ranks_known or crawl.crawled < (crawl.ranked_again or FIRST_RANKING):
        return 0
    Crawl.objects.filter(pk=crawl.pk).update(ranked_again=next_ranking(crawl.crawled))
    links = crawl.urls.filter(state=CrawlUrl.State.CRAWLED).aggregate(all=Sum("inter") + Sum("intra"))["all"]
    if not links or links > MAX_LINKS:
        return 0
    source, target, host, ids = _links(crawl)
    rank = dict(zip(ids.tolist(), known_ranks(source, target, host).tolist(), strict=True))
    scores = dict(crawl.waiting.values_list("id", "score"))
    moved = [
        key
        for key, before in scores.items()
        if key in rank and abs(rank[key] - before) > _MIN_CHANGE * before
    ]
    # One that is just being leased is left out: to wait for it here could be to wait for each other.
    changed = 0
    # In blocks, so that check-ins that wait for these rows get their turn between them.
    for begin in range(0, len(moved), _BLOCK):
        free = crawl.waiting.filter(id__in=moved[begin : begin + _BLOCK]).select_for_update(skip_locked=True)
        rows = [CrawlUrl(id=key, score=rank[key]) for key in free.values_list("id", flat=True)]
        update_rows(CrawlUrl, rows, ["score"])
        changed += len(rows)
    renew_all_hosts(crawl)
    return changed


def _links(crawl: Crawl) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the links of a crawl's pages as places (m,) of sources and of targets, and (n,) hosts and ids.

    The known pages are those that were crawled and those that wait or are out.
    """
    ids, hosts = _two_columns(
        """
        SELECT id AS a, host_id AS b FROM frontier_crawlurl
        WHERE crawl_id = %s AND state IN ('crawled', 'queued')
        """,
        crawl.pk,
    )
    source, target = _two_columns(
        """
        SELECT source.id AS a, target.id AS b FROM frontier_crawlurl AS source
        CROSS JOIN LATERAL unnest(source.out) AS link(key)
        JOIN frontier_crawlurl AS target ON target.crawl_id = source.crawl_id AND target.key = link.key
        WHERE source.crawl_id = %s AND source.state = 'crawled'
            AND target.state IN ('crawled', 'queued') AND target.id <> source.id
        """,
        crawl.pk,
    )
    order = np.argsort(ids)
    ids, hosts = ids[order], hosts[order]
    host = np.unique(hosts, return_inverse=True)[1]
    return np.searchsorted(ids, source), np.searchsorted(ids, target), host, ids


def _two_columns(query: str, crawl: int) -> tuple[Integers, Integers]:
    """Return the columns `a` and `b` (bigint, not null) of a query as arrays.

    The server joins them into one value: a million rows would take Python a second and more.
    """
    connection.ensure_connection()
    with (
        connection.wrap_database_errors,
        psycopg.Cursor(connection.connection) as cursor,
    ):
        cursor.execute(
            f"SELECT string_agg(int8send(a) || int8send(b), '') FROM ({query}) AS pairs",  # noqa: S608 - above
            [crawl],
            binary=True,
        )
        row = cursor.fetchone()
    pairs = np.frombuffer(row[0] if row and row[0] else b"", dtype=">i8").astype(np.int64)
    return pairs[::2], pairs[1::2]
