"""Articles that are about what another is about: the nearest to it, without copies of it."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from articles.listing import in_order, once_a_page
from articles.meaning.vectors import nearest_to_article, vector_table
from articles.models import Article

MAX_RELATED = 5
MAX_DISTANCE = 0.5
"""Cosine distance beyond which two articles are not called related."""
_LOOKED_AT = 4 * MAX_RELATED


def related_articles(article: Article) -> list[Article]:
    """Return up to MAX_RELATED articles about the same, the nearest first; none without vectors.

    The article's own story, its address and its page are left out, and what belongs to other people.
    """
    if not settings.EMBEDDINGS_URL:
        return []
    try:
        with transaction.atomic():
            if vector_table() is None:
                return []
            near = nearest_to_article(article.pk, _others(article), _LOOKED_AT)
    except DatabaseError:  # the table is made anew, for another model
        return []
    keys = once_a_page([key for key, distance in near if distance <= MAX_DISTANCE])
    by_address: dict[object, Article] = {}
    for row in in_order(keys):
        by_address.setdefault(row.url or row.pk, row)
    return list(by_address.values())[:MAX_RELATED]


def _others(article: Article) -> QuerySet[Article]:
    rows = Article.objects.exclude(pk=article.pk)
    if article.url:
        rows = rows.exclude(url=article.url)
    if article.page_id:
        rows = rows.exclude(page=article.page_id)
    enrichment = getattr(article, "enrichment", None)
    if enrichment and enrichment.story_id:
        rows = rows.exclude(enrichment__story=enrichment.story_id)
    return rows
