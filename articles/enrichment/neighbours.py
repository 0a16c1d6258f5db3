"""Articles that a batch may share stories with, read in a few queries for the whole batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Count

from articles.enrichment.fingerprints import resemblances
from articles.enrichment.models import Enrichment
from articles.enrichment.sameness import WINDOW_DAYS
from articles.models import Article

MAX_COMPARED = 12
"""Neighbours whose texts are compared: those with the most similar fingerprints."""
MAX_CANDIDATES = 500
"""Articles whose fingerprints are compared with an article's, the newest; a batch has ten times that."""
LIKELY = 0.35
"""The estimated Jaccard index from which two texts are compared."""
_WINDOW = timedelta(days=WINDOW_DAYS)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An article as far as it is known before its text is read."""

    pk: int
    feed: int
    page: int | None
    published: datetime
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
        stored = Enrichment.objects.filter(pk__in=keys).select_related("article")
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

    def _similar(self, rows: Sequence[Enrichment]) -> dict[int, list[int]]:
        """Return the keys of each row's neighbours by text, most similar first."""
        with_bands = [row for row in rows if row.bands]
        if not with_bands:
            return {}
        by_band: defaultdict[int, list[int]] = defaultdict(list)
        for place, row in enumerate(with_bands):
            for band in row.bands:
                by_band[band].append(place)
        candidates: defaultdict[int, list[_Candidate]] = defaultdict(list)
        for bands, candidate in self._with_bands(list(by_band), with_bands):
            for place in {place for band in bands for place in by_band.get(band, ())}:
                if _may_be_one(with_bands[place], candidate) and len(candidates[place]) < MAX_CANDIDATES:
                    candidates[place].append(candidate)
        for place, row in enumerate(with_bands):
            earlier = {at for band in row.bands for at in by_band[band] if at < place}
            earlier_candidates = [
                _candidate(with_bands[at]) for at in earlier if with_bands[at].reason != "apart"
            ]
            candidates[place] += [
                candidate for candidate in earlier_candidates if _may_be_one(row, candidate)
            ]
        return {
            row.pk: _most_similar(bytes(row.signature), candidates[place])
            for place, row in enumerate(with_bands)
            if candidates[place]
        }

    def _with_bands(self, bands: list[int], rows: Sequence[Enrichment]) -> list[tuple[list[int], _Candidate]]:
        """Return stored articles with any of these bands and their own, the newest first."""
        dates = [row.article.published for row in rows]
        with connection.cursor() as cursor:
            # By the index of bands: the table's statistics are older than the batch.
            cursor.execute("SELECT set_config('enable_seqscan', 'off', true)")
            cursor.execute("SELECT set_config('enable_indexscan', 'off', true)")
            cursor.execute(
                """
                SELECT alike.bands, alike.article_id, article.feed_id, article.page_id, article.published,
                    alike.signature
                FROM (
                    SELECT article_id, bands, signature FROM enrichment_enrichment
                    WHERE bands && %s::bigint[] AND reason <> 'apart' AND article_id <> ALL(%s)
                    ORDER BY article_id DESC LIMIT %s
                ) AS alike
                CROSS JOIN LATERAL (
                    SELECT feed_id, page_id, published FROM articles_article WHERE id = alike.article_id
                ) AS article
                WHERE article.published BETWEEN %s AND %s ORDER BY alike.article_id DESC
                """,
                [bands, list(self._batch), 10 * MAX_CANDIDATES, min(dates) - _WINDOW, max(dates) + _WINDOW],
            )
            rows_with_bands = cursor.fetchall()
            cursor.execute("SELECT set_config('enable_seqscan', 'on', true)")
            cursor.execute("SELECT set_config('enable_indexscan', 'on', true)")
        return [
            (own_bands, _Candidate(pk, feed, page, published, bytes(signature)))
            for own_bands, pk, feed, page, published, signature in rows_with_bands
        ]

    def _same_address(self, rows: Sequence[Enrichment]) -> dict[int, list[int]]:
        """Return the keys of each row's neighbours by address, the oldest first."""
        addresses = {row.address for row in rows if row.address is not None}
        if not addresses:
            return {}
        stored = Enrichment.objects.filter(address__in=addresses).exclude(pk__in=self._batch)
        stored = stored.exclude(reason=Enrichment.Reason.APART).select_related("article").order_by("pk")
        others = alone_on_their_pages(stored[: 10 * MAX_CANDIDATES])
        # One object for each article, also where its text is similar, too.
        others = [self._stored.setdefault(other.pk, other) for other in others]
        neighbours: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            if row.address is None:
                continue
            alike = [other for other in (*others, *rows[:place]) if other.address == row.address]
            neighbours[row.pk] = sorted(
                other.pk
                for other in alike
                if other.article.feed_id != row.article.feed_id and other.reason != Enrichment.Reason.APART
            )
        return neighbours


def _candidate(row: Enrichment) -> _Candidate:
    article = row.article
    return _Candidate(row.pk, article.feed_id, article.page_id, article.published, bytes(row.signature))


def _may_be_one(row: Enrichment, candidate: _Candidate) -> bool:
    """Return whether two articles may be one story: of two feeds and two pages, and close in time."""
    article = row.article
    if candidate.feed == article.feed_id or abs(candidate.published - article.published) > _WINDOW:
        return False
    return candidate.page is None or candidate.page != article.page_id


def _most_similar(signature: bytes, candidates: Sequence[_Candidate]) -> list[int]:
    """Return the keys of the likely candidates with the most similar fingerprints.

    They are more than are compared: some share their page with others, and are left out then.
    """
    values = resemblances(signature, [candidate.signature for candidate in candidates])
    likely = [
        (value, -candidate.pk) for value, candidate in zip(values, candidates, strict=True) if value >= LIKELY
    ]
    return [-key for _, key in sorted(likely, reverse=True)[: 3 * MAX_COMPARED]]


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
