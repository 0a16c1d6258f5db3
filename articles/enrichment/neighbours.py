"""Articles that a batch may share stories with, read in a few queries for the whole batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import psycopg
from django.db import connection
from django.db.models import Count

from articles.enrichment.fingerprints import likenesses, signatures
from articles.enrichment.models import Enrichment
from articles.enrichment.sameness import WINDOW_DAYS
from articles.models import Article

MAX_COMPARED = 12
"""Neighbours whose texts are compared: those with the most similar fingerprints."""
MAX_CANDIDATES = 5_000
"""Stored articles whose fingerprints are compared with those of a batch, the newest."""
LIKELY = 0.35
"""The estimated Jaccard index from which two texts are compared."""
_COLUMNS = (
    "story", "reason", "similarity", "language", "address",
    "article__title", "article__url", "article__feed", "article__page",
)  # fmt: skip
"""The columns of a stored neighbour that are read before its text."""
_WINDOW = timedelta(days=WINDOW_DAYS)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An article as far as it is known before its text is read; `published` in epoch seconds."""

    pk: int
    feed: int
    page: int | None
    published: float
    signature: bytes


class Neighbours:
    """The neighbours of a batch's articles: stored ones, and those of the batch that come before them.

    All rows of the batch have fingerprints. A stored neighbour is one object for the whole batch, so that a
    story that one article gives it is seen by the next.
    """

    def __init__(self, rows: Sequence[Enrichment], alone: Iterable[int]) -> None:
        """Read the neighbours of `rows`; `alone` are keys of those with a page of their own in their feed."""
        self._batch = {row.pk: row for row in rows}
        self._alone = set(alone)
        similar = self._similar(rows)
        keys = {pk for pks in similar.values() for pk in pks} - self._batch.keys()
        stored = Enrichment.objects.filter(pk__in=keys).select_related("article").only(*_COLUMNS)
        self._stored = {row.pk: row for row in alone_on_their_pages(stored)}
        self._by_text = similar
        self._by_address = self._same_address(rows)

    def by_text(self, row: Enrichment) -> list[Enrichment]:
        """Return articles of other feeds within WINDOW_DAYS with similar fingerprints, most similar first.

        Articles of the same page are left out: they have the page's text, whatever their entries say.
        """
        return self._rows(self._by_text.get(row.pk, ()))[:MAX_COMPARED]

    def by_address(self, row: Enrichment) -> list[Enrichment]:
        """Return articles of other feeds with the same canonical address, the oldest first."""
        return self._rows(self._by_address.get(row.pk, ()))[:MAX_COMPARED]

    def _rows(self, keys: Iterable[int]) -> list[Enrichment]:
        rows = []
        for key in keys:
            if key in self._stored:
                rows.append(self._stored[key])
            elif key in self._alone:
                rows.append(self._batch[key])
        return rows

    def load_texts(self, rows: Iterable[Enrichment]) -> None:
        """Read the texts of stored neighbours, all at once; those of the batch have theirs."""
        without = {row.pk: row.article for row in rows if "text" in row.article.get_deferred_fields()}
        if without:
            for pk, text in Article.objects.filter(pk__in=without).values_list("pk", "text"):
                without[pk].text = text

    def _similar(self, rows: Sequence[Enrichment]) -> dict[int, list[int]]:
        """Return the keys of each row's neighbours by text, most similar first."""
        with_bands = [row for row in rows if row.bands]
        if not with_bands:
            return {}
        batch = [_candidate(row) for row in with_bands]
        stored = self._with_bands(with_bands)
        table = signatures([*(candidate.signature for candidate in (*batch, *stored))])
        neighbours: dict[int, list[int]] = {}
        for place, row in enumerate(with_bands):
            values = likenesses(table[place], table)
            values[place : len(batch)] = 0.0  # neither itself nor those of the batch that come after it
            likely = (values >= LIKELY).nonzero()[0].tolist()
            pairs = [
                (float(values[at]), -candidate.pk)
                for at in likely
                if _may_be_one(
                    batch[place], candidate := batch[at] if at < len(batch) else stored[at - len(batch)]
                )
                and not (at < len(batch) and with_bands[at].reason == Enrichment.Reason.APART)
            ]
            if pairs:
                # More than are compared: some share their page with others, and are left out then.
                neighbours[row.pk] = [-key for _, key in sorted(pairs, reverse=True)[: 3 * MAX_COMPARED]]
        return neighbours

    def _with_bands(self, rows: Sequence[Enrichment]) -> list[_Candidate]:
        """Return stored articles with any of the bands of these, the newest first."""
        bands = list({band for row in rows for band in row.bands})
        dates = [row.article.published for row in rows]
        with connection.cursor() as cursor:
            # By the index of bands: the table's statistics are older than the batch.
            cursor.execute("SELECT set_config('enable_seqscan', 'off', true)")
            cursor.execute("SELECT set_config('enable_indexscan', 'off', true)")
        with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as raw:
            # The newest ones: bands of boilerplate fit tens of thousands of articles.
            raw.execute(
                """
                SELECT alike.article_id, article.feed_id, article.page_id,
                    extract(epoch FROM article.published)::float8, alike.signature
                FROM (
                    SELECT article_id, signature FROM enrichment_enrichment
                    WHERE bands && %b::bigint[] AND reason <> 'apart' AND article_id <> ALL(%b::bigint[])
                    ORDER BY article_id DESC LIMIT %s
                ) AS alike
                CROSS JOIN LATERAL (
                    SELECT feed_id, page_id, published FROM articles_article WHERE id = alike.article_id
                ) AS article
                WHERE article.published BETWEEN %s AND %s ORDER BY alike.article_id DESC
                """,
                [bands, list(self._batch), MAX_CANDIDATES, min(dates) - _WINDOW, max(dates) + _WINDOW],
                binary=True,
            )
            candidates = [_Candidate(*row) for row in raw.fetchall()]
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('enable_seqscan', 'on', true)")
            cursor.execute("SELECT set_config('enable_indexscan', 'on', true)")
        return candidates

    def _same_address(self, rows: Sequence[Enrichment]) -> dict[int, list[int]]:
        """Return the keys of each row's neighbours by address, the oldest first."""
        addresses = {row.address for row in rows if row.address is not None}
        if not addresses:
            return {}
        stored = Enrichment.objects.filter(address__in=addresses).exclude(pk__in=self._batch)
        stored = stored.exclude(reason=Enrichment.Reason.APART).select_related("article").order_by("pk")
        others = alone_on_their_pages(stored[: 10 * MAX_CANDIDATES])
        # One object for each article, also where its text is similar, too.
        others = [self._stored.setdefault(neighbour.pk, neighbour) for neighbour in others]
        neighbours: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            if row.address is None:
                continue
            alike = [neighbour for neighbour in (*others, *rows[:place]) if neighbour.address == row.address]
            neighbours[row.pk] = sorted(
                neighbour.pk
                for neighbour in alike
                if neighbour.article.feed_id != row.article.feed_id
                and neighbour.reason != Enrichment.Reason.APART
            )
        return neighbours


def _candidate(row: Enrichment) -> _Candidate:
    article = row.article
    published = article.published.timestamp()
    return _Candidate(row.pk, article.feed_id, article.page_id, published, bytes(row.signature))


def _may_be_one(first: _Candidate, second: _Candidate) -> bool:
    """Return whether two articles may be one story: of two feeds and two pages, and close in time."""
    if first.feed == second.feed or abs(first.published - second.published) > _WINDOW.total_seconds():
        return False
    return second.page is None or second.page != first.page


def alone_on_their_pages(rows: Iterable[Enrichment]) -> list[Enrichment]:
    """Return the articles that share their page with no other article of their feed.

    Entries that share a page are comments or notes on a front page: they have its address and text, but are
    not that page. Entries whose address has a fragment are excluded, too.
    """
    rows = [row for row in rows if "#" not in row.article.url]
    pages = {row.article.page_id for row in rows} - {None}
    if not pages:
        return rows
    shared = set(
        Article.objects.filter(page__in=pages)
        .values_list("feed_id", "page_id")
        .annotate(entries=Count("pk"))
        .filter(entries__gt=1)
        .values_list("feed_id", "page_id")
    )
    return [row for row in rows if (row.article.feed_id, row.article.page_id) not in shared]
