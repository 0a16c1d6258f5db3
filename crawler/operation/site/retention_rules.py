"""Days that each kind of data is kept, and the rows that another number of days would delete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy

from articles.interest.models import Event
from articles.models import Article, Mark, Page
from articles.saved.models import CollectionItem, Highlight, SavedPage
from crawler.engine.chosen import chosen
from feeds.models import Retrieval
from recrawl.models import Change, Check, Version

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MAX_COUNTED = 100_000
"""Rows that are counted of a kind: more are said to be more."""
MAX_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class Retention:
    """A kind of rows that are deleted by age: its setting, its rows, and the column with their time.

    `whole_rows` is false if more is to be done than to delete rows (`crawler.operation.site.retention`).
    """

    name: str
    words: _StrPromise
    setting: str
    rows: Callable[[], QuerySet[Any]]
    column: str
    whole_rows: bool = True

    @property
    def days(self) -> int:
        """The days that its rows are kept, 0 for ever."""
        return int(chosen(self.setting))

    def older(self, days: int, now: datetime) -> QuerySet[Any]:
        """Return the rows that are older than `days`."""
        return self.rows().filter(**{f"{self.column}__lt": now - timedelta(days=days)})


def expirable_articles() -> QuerySet[Article]:
    """Return the articles that may be deleted by age: nobody starred, labelled, saved or marked them."""
    dear = Mark.objects.filter(~Q(labels=[]) | Q(starred__isnull=False), article=OuterRef("pk"))
    saved = SavedPage.objects.filter(article=OuterRef("pk"))
    quoted = Highlight.objects.filter(article=OuterRef("pk"))
    shared = CollectionItem.objects.filter(article=OuterRef("pk"))
    return Article.objects.filter(~Exists(dear), ~Exists(saved), ~Exists(quoted), ~Exists(shared))


RETENTIONS = (
    Retention(
        "articles",
        gettext_lazy("Articles that nobody starred, labelled, saved or highlighted"),
        "RETENTION_ARTICLES_DAYS",
        expirable_articles,
        "fetched",
        whole_rows=False,
    ),
    Retention(
        "html",
        gettext_lazy("HTML of articles' pages; their text stays"),
        "RETENTION_PAGE_HTML_DAYS",
        lambda: Page.objects.filter(~Q(html=b""), requested=False),
        "fetched",
        whole_rows=False,
    ),
    Retention(
        "retrievals",
        gettext_lazy("Visits of feeds"),
        "RETENTION_RETRIEVALS_DAYS",
        Retrieval.objects.all,
        "at",
    ),
    Retention(
        "checks",
        gettext_lazy("Looks at watched pages"),
        "RETENTION_CHECKS_DAYS",
        Check.objects.all,
        "at",
    ),
    Retention(
        "changes",
        gettext_lazy("Changes of watched pages"),
        "RETENTION_CHANGES_DAYS",
        Change.objects.all,
        "at",
    ),
    Retention(
        "versions",
        gettext_lazy("Earlier versions of watched pages"),
        "RETENTION_CHANGES_DAYS",
        Version.objects.all,
        "until",
    ),
    Retention(
        "shown",
        gettext_lazy("Notes of what was shown to readers"),
        "RETENTION_SHOWN_DAYS",
        lambda: Event.objects.filter(kind=Event.Kind.SHOWN),
        "at",
    ),
)


@dataclass(frozen=True, slots=True)
class RetentionState:
    """The kept data of one kind, and the rows that `days` instead of its setting would delete at once."""

    name: str
    words: str
    setting: str
    days: int
    oldest: datetime | None
    deleted: int

    @property
    def is_more(self) -> bool:
        """True when there are more rows than were counted."""
        return self.deleted >= MAX_COUNTED


def kept(days: int, now: datetime) -> list[RetentionState]:
    """Return the kept data of each kind, and the rows that `days` would delete. Deletes nothing."""
    return [
        RetentionState(
            retention.name,
            str(retention.words),
            retention.setting,
            retention.days,
            retention.rows().aggregate(oldest=Min(retention.column))["oldest"],
            retention.older(days, now).order_by()[:MAX_COUNTED].count(),
        )
        for retention in RETENTIONS
    ]
