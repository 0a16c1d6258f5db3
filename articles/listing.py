"""Lists of articles for readers: newest first, or search results, without loading their texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.contrib.postgres.search import SearchRank
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import DateTimeField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.functions import Left

from articles.models import Article
from articles.search import article_query, wanted_stems
from crawler.text.snippets import snippet

RANKED = 500
"""Matches that are ranked by relevance, the newest: to rank a frequent word's millions takes minutes."""

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


def estimate(articles: QuerySet[Any]) -> float:
    """Return how many articles PostgreSQL expects of a query, by its statistics alone."""
    try:
        (plan,) = json.loads(articles.order_by().explain(format="json"))
    except (EmptyResultSet, ValueError):
        return 0.0
    return float(plan["Plan"]["Plan Rows"])


def newest_of_few(articles: QuerySet[Article]) -> QuerySet[Article]:
    """Order articles with the newest first, all of them found before they are ordered.

    PostgreSQL may otherwise go through the newest of all articles until it has met enough matches, which
    takes long where these are few.
    """
    published = ExpressionWrapper(F("published") + Value(timedelta(0)), output_field=DateTimeField())
    return articles.order_by(published.desc(), "-id")


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
