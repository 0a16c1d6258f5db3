"""The PageRank of what a crawl knows so far, given to the URLs that wait (strategy `known-rank`)."""

from __future__ import annotations

import numpy as np
from django.db import connection
from django.db.models import Sum

from crawler.database.bulk import update_rows
from crawler.frontier.graph import ranks
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.frontier.queue import renew_all_hosts
from crawler.frontier.strategies import FIRST_RANKING, RANK_TOLERANCE, next_ranking

MOST_LINKS = 1_000_000
"""Links beyond which a crawl is not ranked again: its order goes on by OPIC's cash."""
_LEAST_CHANGE = 0.1
"""The relative change of a score that is worth a write: smaller ones leave the order as good."""


def rank_known(crawl: Crawl) -> int:
    """Give the waiting URLs of a crawl the PageRank of the known links, when that is due.

    Returns the number of changed URLs. The caller's transaction holds the lock on the crawl's row.
    """
    if not crawl.rules().ranks_known or crawl.crawled < (crawl.ranked_again or FIRST_RANKING):
        return 0
    Crawl.objects.filter(pk=crawl.pk).update(ranked_again=next_ranking(crawl.crawled))
    links = crawl.urls.filter(state=CrawlUrl.State.CRAWLED).aggregate(all=Sum("inter") + Sum("intra"))["all"]
    if not links or links > MOST_LINKS:
        return 0
    source, target = _links(crawl)
    waiting = list(crawl.waiting.select_for_update(of=["self"], skip_locked=True).values_list("id", "score"))
    known = np.unique(np.concatenate([source, target, np.array([row[0] for row in waiting], dtype=np.int64)]))
    found = ranks(
        len(known), np.searchsorted(known, source), np.searchsorted(known, target), tolerance=RANK_TOLERANCE
    )
    rank = dict(zip(known.tolist(), found.tolist(), strict=True))
    rows = [
        CrawlUrl(id=key, score=rank[key])
        for key, before in waiting
        if abs(rank[key] - before) > _LEAST_CHANGE * before
    ]
    update_rows(CrawlUrl, rows, ["score"])
    renew_all_hosts(crawl)
    return len(rows)


def _links(crawl: Crawl) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of the pages that link, and of what they link to, as two arrays of one length."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT source.id, target.id FROM frontier_crawlurl AS source
            CROSS JOIN LATERAL unnest(source.out) AS link(key)
            JOIN frontier_crawlurl AS target ON target.crawl_id = source.crawl_id AND target.key = link.key
            WHERE source.crawl_id = %s AND source.state = 'crawled' AND target.id <> source.id
            """,
            [crawl.pk],
        )
        pairs = np.fromiter(cursor, dtype=np.dtype((np.int64, 2)))
    return pairs[:, 0], pairs[:, 1]
