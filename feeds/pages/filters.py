"""Filters and orders of feeds and of the log of retrievals, kept in the URL so that views can be shared."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django.core.validators import RegexValidator
from django.db.models import Case, Count, F, FilteredRelation, Min, Q, QuerySet, When
from django.db.models.expressions import Func, Value
from django.db.models.functions import Coalesce, Lower, Now, NullIf
from django.utils.translation import gettext, gettext_lazy
from rest_framework.filters import search_smart_split

from crawler.reading.sources.kinds import FETCHED, MAIL
from crawler.text.words import Words
from crawler.web.filters import Choices, FlagFilter, HoursFilter, OfferedFilter, search_validator
from crawler.web.templatetags.freshet import failure_name, language_name
from feeds.categories import Path, all_paths, subtree
from feeds.models import Feed, Retrieval
from feeds.pace import FOUR_WEEKS, Posted
from feeds.phrases import SILENT

RATE_DAYS = 7
DAY = timedelta(days=1)
SEARCHED = ("title", "url", "site_url")
ORDERS: dict[str, F | Func] = {
    "title": Lower(Coalesce(NullIf("title", Value("")), "url")),
    "new": F("last_new"),
    "next": F("not_before"),
    "rate": F("recent_articles"),
    "failing": F("failing_since"),
}


def folder_choices(paths: dict[int, Path] | None = None) -> Choices:
    """Return choices of categories: primary keys with their whole paths, in the order of the tree.

    Who has read the paths already gives them.
    """
    ordered = sorted((path, key) for key, path in (all_paths() if paths is None else paths).items())
    return [(str(key), " / ".join(path)) for path, key in ordered]


def with_recent_articles(feeds: QuerySet[Feed], now: datetime) -> QuerySet[Feed]:
    """Annotate feeds with `recent_articles`, the number published within the last RATE_DAYS days."""
    window = Q(articles__published__gt=now - timedelta(days=RATE_DAYS), articles__published__lte=now)
    # The condition must be in the join; otherwise all stored articles are read to count those of a week.
    recent = feeds.annotate(within_days=FilteredRelation("articles", condition=window))
    return recent.annotate(recent_articles=Count("within_days"))


def articles_a_day(feed_ids: Iterable[int], now: datetime) -> dict[int, float]:
    """Return the articles published per day over the last RATE_DAYS days, by feed."""
    feeds = with_recent_articles(Feed.objects.filter(id__in=list(feed_ids)), now).order_by()
    return {feed.id: feed.recent_articles / RATE_DAYS for feed in feeds.only("id")}  # type: ignore[attr-defined]


def posting_counts(feed_ids: Iterable[int], now: datetime) -> dict[int, Posted]:
    """Return the numbers of articles dated by the feeds themselves, in two queries for any number of feeds.

    The articles of more than a year ago are counted only for feeds that have none since.
    """
    dated = Q(articles__published__lte=now, articles__dating="feed")
    recent = dated & Q(articles__published__gt=now - SILENT)
    posted = _posted(feed_ids, recent, now)
    silent = [feed for feed, counts in posted.items() if not counts.year]
    return posted | (_posted(silent, dated, now) if silent else {})


def _posted(feed_ids: Iterable[int], condition: Q, now: datetime) -> dict[int, Posted]:
    joined = Feed.objects.filter(id__in=list(feed_ids)).annotate(
        within=FilteredRelation("articles", condition=condition)
    )
    counts = {
        name: Count("within", filter=Q(within__published__gt=now - length))
        for name, length in (("month", FOUR_WEEKS), ("year", SILENT))
    }
    rows = joined.order_by().annotate(**counts, total=Count("within"), first=Min("within__published"))
    names = ("month", "year", "total", "first")
    return {feed: Posted(*numbers) for feed, *numbers in rows.values_list("id", *names)}


def in_order(feeds: QuerySet[Feed], sort: str, now: datetime) -> QuerySet[Feed]:
    """Order feeds by a key of ORDERS, descending with a minus before it. Null values come last either way."""
    name = sort.removeprefix("-")
    if name == "folder":
        places = sorted((path, key) for key, path in all_paths().items())
        whens = [When(category=key, then=Value(place)) for place, (_, key) in enumerate(places)]
        by_folder = [Case(*whens, default=Value(len(places))).asc()] if whens else []
        return feeds.order_by(*by_folder, ORDERS["title"].asc(), "id")
    if name == "rate":
        feeds = with_recent_articles(feeds, now)
    by = ORDERS[name]
    return feeds.order_by(by.desc(nulls_last=True) if sort != name else by.asc(nulls_last=True), "id")


USED = ("failure", "format", "language")


def used_values() -> dict[str, Choices]:
    """Return the distinct values of each of these columns of feeds as choices, in one query."""
    rows = Feed.objects.order_by().values_list(*USED).distinct()
    columns = zip(*rows, strict=True) if rows else ((),) * len(USED)
    used = {
        name: [(value, value) for value in sorted(set(values) - {""})]
        for name, values in zip(USED, columns, strict=True)
    }
    for column, name_of in (("language", language_name), ("failure", failure_name)):
        choices = [(value, name_of(value)) for value, _ in used[column]]
        used[column] = sorted(choices, key=lambda choice: choice[1].casefold())
    return used


def _recent_failures() -> Choices:
    rows = Retrieval.objects.filter(at__gte=datetime.now(UTC) - DAY).exclude(failure="").order_by("failure")
    return [(name, failure_name(name)) for name in rows.values_list("failure", flat=True).distinct()]


HEALTH: dict[str, tuple[Words, Q]] = {
    "look": (
        gettext_lazy("Need a look"),
        Q(status=Feed.Status.ACTIVE, failure_streak__gt=0) | Q(status=Feed.Status.GONE),
    ),
    "learning": (gettext_lazy("Still learning"), Q(status=Feed.Status.ACTIVE, phase=Feed.Phase.TRAINING)),
    "quiet": (gettext_lazy("Silent for a year"), Q(status=Feed.Status.ACTIVE, last_new__lt=Now() - SILENT)),
    "paused": (gettext_lazy("Paused"), Q(status=Feed.Status.PAUSED)),
}
"""Groups of feeds that people look for, by the names that addresses use."""


def health_counts() -> dict[str, int]:
    """Return the numbers of all feeds ("") and of those in each group of HEALTH."""
    counts = {name: Count("pk", filter=condition) for name, (_, condition) in HEALTH.items()}
    row = Feed.objects.order_by().aggregate(everything=Count("pk"), **counts)
    return {"": row.pop("everything"), **row}


class FeedFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Filters of feeds."""

    q = django_filters.CharFilter(
        method="by_words",
        label=gettext_lazy("Search"),
        help_text="Words of the title or an address.",
        validators=[search_validator],
    )
    category = OfferedFilter(
        method="in_category",
        offers=lambda: [("none", gettext("without category")), *folder_choices()],
        validators=[RegexValidator(r"\A(none|\d{1,18})\Z")],
        help_text="Id of a category; those inside it count. `none` for feeds without one.",
    )
    health = django_filters.ChoiceFilter(
        method="by_health",
        choices=[(name, words) for name, (words, _) in HEALTH.items()],
        empty_label=gettext_lazy("any"),
        label=gettext_lazy("How it is"),
        help_text="`look`: failing or ended; `learning`; `quiet`: nothing new for a year; `paused`.",
    )
    kind = django_filters.ChoiceFilter(
        choices=[(kind, kind) for kind in (*FETCHED, MAIL)], label=gettext_lazy("What it is")
    )
    status = django_filters.ChoiceFilter(choices=Feed.Status.choices, empty_label=gettext_lazy("any"))
    phase = django_filters.ChoiceFilter(choices=Feed.Phase.choices, empty_label=gettext_lazy("any"))
    failing = FlagFilter(
        method="by_failing",
        words=("failing", gettext_lazy("not failing")),
        label=gettext_lazy("Failing"),
        help_text="Whether the last visit failed.",
    )
    failure = OfferedFilter()
    format = OfferedFilter()
    language = OfferedFilter()
    host = django_filters.CharFilter("host__name")
    retrieved = HoursFilter("last_success", label=gettext_lazy("Retrieved within h"))
    waiting = FlagFilter(
        "selected_at",
        "isnull",
        exclude=True,
        label=gettext_lazy("Waiting"),
        help_text="Whether a visit is on its way.",
    )

    class Meta:
        model = Feed
        fields = ["url"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        values = cache(used_values)  # asked for once, when a page shows the choices
        for name in USED:
            self.filters[name].offer(lambda name=name: values()[name])

    def by_words(self, feeds: QuerySet[Feed], name: str, value: str) -> QuerySet[Feed]:
        """Filter to feeds with every word or quoted phrase in the title or an address."""
        for word in search_smart_split(value):  # type: ignore[arg-type]  # the stubs are wrong
            feeds = feeds.filter(Q(*((f"{column}__icontains", word) for column in SEARCHED), _connector=Q.OR))
        return feeds

    def in_category(self, feeds: QuerySet[Feed], name: str, value: str) -> QuerySet[Feed]:
        if value == "none":
            return feeds.filter(category__isnull=True)
        return feeds.filter(category__in=subtree(int(value)))

    def by_health(self, feeds: QuerySet[Feed], name: str, value: str) -> QuerySet[Feed]:
        return feeds.filter(HEALTH[value][1])

    def by_failing(self, feeds: QuerySet[Feed], name: str, value: bool) -> QuerySet[Feed]:
        return feeds.filter(failure_streak__gt=0) if value else feeds.filter(failure_streak=0)


class RetrievalFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Filters of the log of retrievals."""

    outcome = django_filters.ChoiceFilter(choices=Retrieval.Outcome.choices, empty_label=gettext_lazy("any"))
    failure = OfferedFilter(offers=_recent_failures)
    hours = HoursFilter("at", label=gettext_lazy("Within hours"))
    since = django_filters.IsoDateTimeFilter("at", "gte")
    until = django_filters.IsoDateTimeFilter("at", "lt")

    class Meta:
        model = Retrieval
        fields = ["feed", "status"]
