"""Lists of articles for readers: newest first, or search results, without loading their texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.postgres.search import SearchRank
from django.db import connection
from django.db.models import DateTimeField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.functions import Left

from articles.models import Article
from articles.search import article_query, wanted_stems
from crawler.database.estimates import estimate
from crawler.text.snippets import snippet

RANKED = 500
"""Matches that are ranked by relevance, the newest: to rank a frequent word's millions takes minutes."""

MANY = 50_000
"""The number of articles from which on a search looks at the newest first."""

FEW = 5_000
"""Matches, as far as the newest articles let one guess, below which all are found at once."""

FIRST_SHARE, LAST_SHARE, MIN_GROWTH = 0.01, 0.5, 4.0
"""The newest share of all articles that is searched first, the greatest below all, and the least growth."""

SNIPPET_CHARACTERS = 50_000
"""Characters of an article in which the words of a search are looked for to show them."""


def lean(articles: QuerySet[Article]) -> QuerySet[Article]:
    """Add feeds and an `excerpt` of the text; defer text, HTML and search vector."""
    slim = articles.defer(
        "text", "content", "summary", "search", "enclosures", "details", "feed__fingerprints"
    )
    return slim.select_related("feed").annotate(excerpt=Left("text", 280))


def latest(limit: int) -> QuerySet[Article]:
    """Return the `limit` articles stored last."""
    return lean(Article.objects.order_by("-id"))[:limit]


def in_order(keys: Sequence[int]) -> list[Article]:
    """Return the articles with these keys, in their order; those that have gone are left out."""
    rows = {row.pk: row for row in lean(Article.objects.filter(pk__in=keys))}
    return [rows[key] for key in keys if key in rows]


def once_a_page(keys: Sequence[int]) -> list[int]:
    """Return these keys of articles with the first alone of those that lead to one page.

    Two feeds of one site bring the same article, which stood twice in searches (issue 57).
    """
    pages = dict(Article.objects.filter(id__in=keys, page__isnull=False).values_list("id", "page_id"))
    first: dict[object, int] = {}
    for key in keys:
        first.setdefault(("page", pages[key]) if key in pages else key, key)
    return list(first.values())


def newest_keys(articles: QuerySet[Article], limit: int) -> list[int]:
    """Return the keys of the `limit` newest articles of a query, the newest first.

    PostgreSQL would find all articles with a word and order them, or go through the newest of all until it
    has met enough; one or the other is slow for many words. So it is asked for the matches of a short time,
    by the indexes of words and dates together, and of longer ones until there are enough.
    """
    days, share = _dates(), FIRST_SHARE
    while days and share < LAST_SHARE:
        since = days[int((1 - share) * (len(days) - 1))]
        keys = _ordered_keys(articles.filter(published__gte=since), limit)
        if len(keys) == limit:
            return keys
        if len(keys) / share < FEW:
            break
        share *= max(MIN_GROWTH, 1.5 * limit / len(keys))
    if days and estimate(articles.only("id")) > MANY:
        # All are older than what was searched, or no index knows them: the newest are met soon.
        return list(articles.order_by("-published", "-id").values_list("id", flat=True)[:limit])
    return _ordered_keys(articles, limit)


def _ordered_keys(articles: QuerySet[Article], limit: int) -> list[int]:
    """Return the keys of the newest articles of a query, all found before they are ordered."""
    published = ExpressionWrapper(F("published") + Value(timedelta(0)), output_field=DateTimeField())
    return list(articles.order_by(published.desc(), "-id").values_list("id", flat=True)[:limit])


def _dates() -> list[datetime]:
    """Return times that part all articles into equal shares, the oldest first; none for fewer than MANY."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT histogram_bounds::text::timestamptz[] FROM pg_stats
            WHERE schemaname = 'public' AND tablename = 'articles_article' AND attname = 'published' AND (
                SELECT reltuples FROM pg_class WHERE oid = 'articles_article'::regclass
            ) >= %s
            """,
            [MANY],
        )
        row = cursor.fetchone()
        return row[0] or [] if row else []


def by_relevance(articles: QuerySet[Article], words: str) -> QuerySet[Article]:
    """Order the newest RANKED matches by relevance."""
    newest = articles.order_by("-published", "-id").values("id")[:RANKED]
    return by_rank(Article.objects.filter(id__in=newest), words)


def by_rank(articles: QuerySet[Article], words: str) -> QuerySet[Article]:
    """Order articles by relevance, the newer first where it is the same."""
    rank = SearchRank(F("search"), article_query(words))
    return articles.order_by(rank.desc(), "-published", "-id")


def snippets(articles: Sequence[Article], words: str) -> dict[int, str]:
    """Return text snippets with the search words highlighted, by article."""
    rows = Article.objects.filter(id__in=[article.id for article in articles])
    stems = wanted_stems(words)
    texts = rows.values_list("id", Left("text", SNIPPET_CHARACTERS))
    return {key: snippet(text, stems) for key, text in texts}


def languages() -> list[str]:
    """Return the languages of articles, with one index look-up for each instead of a scan of all rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH RECURSIVE found(language) AS (
                (SELECT language FROM articles_article ORDER BY language LIMIT 1)
                UNION ALL
                SELECT (
                    SELECT a.language FROM articles_article a
                    WHERE a.language > found.language ORDER BY a.language LIMIT 1
                ) FROM found WHERE found.language IS NOT NULL
            )
            SELECT language FROM found WHERE language <> '' LIMIT 200
            """
        )
        return [row[0] for row in cursor.fetchall()]
