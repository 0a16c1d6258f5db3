"""The export of all data of one subscriber as one document."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from articles.interest.export import export
from articles.models import Mark, Subscriber

PERSONAL_FEED = ("name", "folder", "query", "include", "exclude", "categories", "body", "order")


def everything(subscriber: Subscriber, now: datetime) -> dict[str, Any]:
    """Return feeds, topics, personal feeds, marks, interests and their log. Omits secret addresses."""
    marks = Mark.objects.filter(subscriber=subscriber).select_related("article").order_by("pk")
    return {
        "subscriber": str(subscriber),
        "created": subscriber.created.isoformat(),
        "feeds": [
            {"url": row.feed.url, "title": row.title, "folder": row.folder}
            for row in subscriber.subscriptions.select_related("feed").defer("feed__fingerprints")
        ],
        "topics": [{"kind": topic.kind, "value": topic.value} for topic in subscriber.topics.all()],
        "personal_feeds": [
            {name: getattr(row, name) for name in PERSONAL_FEED} for row in subscriber.personal_feeds.all()
        ],
        "marks": [
            {
                "url": mark.article.url,
                "title": mark.article.title,
                "read": mark.read and mark.read.isoformat(),
                "starred": mark.starred and mark.starred.isoformat(),
                "labels": mark.labels,
            }
            for mark in marks.only("read", "starred", "labels", "article__url", "article__title").iterator()
        ],
        "interest": export(subscriber, now),
    }
