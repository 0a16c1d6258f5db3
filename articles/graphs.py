"""Selection of a feed's graphs: its own document and its articles' pages."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from articles.models import Article, Page
from crawler.pipeline.documents import key_of
from crawler.pipeline.export import ExportError
from crawler.pipeline.names import Title
from feeds.models import Feed


def documents_of_feed(number: str) -> list[uuid.UUID]:
    """Return the keys of a feed's documents. Raises ExportError if there is no such feed."""
    feed = Feed.objects.filter(pk=int(number)).first() if number.isdecimal() and len(number) < 10 else None
    if feed is None:
        raise ExportError(f"there is no feed {number[:20]}")
    pages = Page.objects.filter(articles__feed=feed).values_list("url", flat=True).distinct()
    return [key_of(feed.url), *map(key_of, pages)]


def article_names(addresses: Collection[str]) -> dict[str, Title]:
    """Return titles and pages of the articles at these addresses, of those of everybody."""
    rows = Article.objects.filter(owner__isnull=True, page__url_key__in=list(map(key_of, addresses)))
    rows = rows.exclude(title="").order_by("pk").select_related("page").only("title", "page__url")
    return {
        article.page.url: Title(article.title, article.get_absolute_url()) for article in rows if article.page
    }
