"""Lists of articles for readers: newest first, or what a search finds, without loading their texts."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.postgres.search import SearchRank
from django.db import connection
from django.db.models import F, QuerySet
from django.db.models.functions import Left

from articles.models import Article
from articles.search import article_query, highlighted

RANKED = 2000
"""Matches that are ranked by relevance, the newest: to rank a frequent word's millions takes minutes."""


def lean(articles: QuerySet[Article]) -> QuerySet[Article]:
    """With their feeds and the beginning of their text (`excerpt`), without text, HTML and vector."""
    slim = articles.defer("text", "content", "summary", "search", "enclosures", "feed__fingerprints")
    return slim.select_related("feed").annotate(excerpt=Left("text", 280))


def latest(most: int) -> QuerySet[Article]:
    """The articles retrieved last."""
    return lean(Article.objects.order_by("-fetched", "-id"))[:most]


def by_relevance(articles: QuerySet[Article], words: str) -> QuerySet[Article]:
    """The newest RANKED matches, the best first."""
    newest = articles.order_by("-published", "-id").values("id")[:RANKED]
    rank = SearchRank(F("search"), article_query(words))
    return Article.objects.filter(id__in=newest).order_by(rank.desc(), "-published", "-id")


def snippets(articles: Sequence[Article], words: str) -> dict[int, str]:
    """Where the words were found in the texts, by article; for a page of a list at a time."""
    rows = Article.objects.filter(id__in=[article.id for article in articles])
    return dict(rows.values_list("id", highlighted(words)))


def languages() -> list[str]:
    """Languages that articles have: one step into the index for each, not a walk through all rows."""
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
