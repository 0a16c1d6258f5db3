"""What subscribers mark: articles read and starred."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from articles.models import Article, Mark, Subscriber

AT_ONCE = 5000


def mark_read(subscriber: Subscriber, articles: Sequence[int], now: datetime, *, read: bool = True) -> None:
    """Mark these articles (primary keys) as read, or as not read."""
    _mark(subscriber, articles, read=now if read else None)


def star(subscriber: Subscriber, articles: Sequence[int], now: datetime, *, starred: bool = True) -> None:
    """Star these articles (primary keys), or take the star away."""
    _mark(subscriber, articles, starred=now if starred else None)


def mark_all_read(subscriber: Subscriber, articles: QuerySet[Article], now: datetime) -> int:
    """Mark what a query holds as read, some thousands in a transaction; how many were not."""
    unread = articles.exclude(marks__in=Mark.objects.filter(subscriber=subscriber, read__isnull=False))
    done = 0
    while keys := list(unread.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        mark_read(subscriber, keys, now)
        done += len(keys)
    return done


@transaction.atomic
def _mark(subscriber: Subscriber, articles: Sequence[int], **fields: datetime | None) -> None:
    # In one order everywhere, so that the row locks of two requests cannot cross.
    keys = sorted(set(articles))
    known = Article.objects.filter(pk__in=keys).order_by("pk").values_list("pk", flat=True)
    rows = [Mark(subscriber=subscriber, article_id=key, **fields) for key in known]
    Mark.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["subscriber", "article"], update_fields=list(fields),
        batch_size=1000,
    )  # fmt: skip
