"""Selection of a feed's graphs: its own document and its articles' pages."""

from __future__ import annotations

import uuid

from articles.models import Page
from crawler.pipeline.documents import key_of
from crawler.pipeline.export import ExportError
from feeds.models import Feed


def documents_of_feed(number: str) -> list[uuid.UUID]:
    """Return the keys of a feed's documents. Raises ExportError if there is no such feed."""
    feed = Feed.objects.filter(pk=int(number)).first() if number.isdecimal() and len(number) < 10 else None
    if feed is None:
        raise ExportError(f"there is no feed {number[:20]}")
    pages = Page.objects.filter(articles__feed=feed).values_list("url", flat=True).distinct()
    return [key_of(feed.url), *map(key_of, pages)]
