"""Lists of edits: what changed lately, and how often each source edits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Q, QuerySet

from articles.edits.deciding import KINDS
from articles.edits.models import ArticleVersion
from articles.models import Article, Subscriber
from crawler.database.readers import visible

SOURCES_DAYS = 90
MAX_SOURCES = 100


@dataclass(frozen=True, slots=True)
class EditingSource:
    """How often, how soon and how much a feed edits: articles and edits of 90 days, mean hours and words."""

    feed: int
    name: str
    articles: int
    edited: int
    edits: int
    headlines: int
    gone: int
    hours: float
    words: float


def edits(subscriber: Subscriber | None = None, kind: str = "") -> QuerySet[ArticleVersion]:
    """Return edits, the latest first: of all articles, or of those in feeds that a person follows."""
    rows = visible(ArticleVersion.objects.filter(number__gt=1), "article__owner_id")
    if subscriber is not None:
        rows = rows.filter(article__feed__in=subscriber.subscriptions.values("feed"))
    if kind in KINDS:
        rows = rows.filter(kinds__contains=[kind])
    return rows.order_by("-seen", "-id")


def edits_with_articles(rows: QuerySet[ArticleVersion]) -> QuerySet[ArticleVersion]:
    """Return edits with what lists show of their articles, without texts."""
    return rows.select_related("article__feed").defer(
        "body", "article__text", "article__content", "article__summary", "article__search",
        "article__enclosures", "article__details", "article__feed__fingerprints",
    )  # fmt: skip


def sources(now: datetime) -> list[EditingSource]:
    """Return the sources that edit, those with the largest share of edited articles first."""
    since = now - timedelta(days=SOURCES_DAYS)
    rows = visible(ArticleVersion.objects.filter(number__gt=1, seen__gte=since), "article__owner_id")
    delay = ExpressionWrapper(F("seen") - F("article__published"), output_field=DurationField())
    grouped = (
        rows.order_by()
        .values("article__feed", "article__feed__title", "article__feed__url")
        .annotate(
            edits=Count("id"),
            edited=Count("article", distinct=True),
            headlines=Count("id", filter=Q(kinds__contains=["headline"])),
            gone=Count("id", filter=Q(kinds__contains=["gone"])),
            delay=Avg(delay),
            size=Avg(F("words") + F("added") + F("removed")),
        )
        .order_by("-edited")[:MAX_SOURCES]
    )
    feed_rows = list(grouped)
    counted = Article.objects.filter(
        feed__in=[row["article__feed"] for row in feed_rows], published__gte=since
    )
    numbers = dict(counted.order_by().values_list("feed").annotate(count=Count("id")))
    editing_sources = [
        EditingSource(
            feed=row["article__feed"],
            name=row["article__feed__title"] or row["article__feed__url"],
            articles=max(numbers.get(row["article__feed"], 0), row["edited"]),
            edited=row["edited"],
            edits=row["edits"],
            headlines=row["headlines"],
            gone=row["gone"],
            hours=max(row["delay"].total_seconds() / 3600, 0.0) if row["delay"] else 0.0,
            words=float(row["size"] or 0),
        )
        for row in feed_rows
    ]
    return sorted(editing_sources, key=lambda source: -source.edited / max(source.articles, 1))
