"""Filters and orders of the feeds table and of the log of visits: all in the address, so they are shared."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django import forms
from django.db.models import Count, F, FilteredRelation, Q, QuerySet
from django.db.models.expressions import Func, OrderBy, Value
from django.db.models.functions import Coalesce, Lower, NullIf

from feeds.categories import all_paths, subtree
from feeds.models import Feed, Retrieval

RATE_DAYS = 7
DAY = timedelta(days=1)
ANY = ("", "any")
ORDERS: dict[str, F | Func] = {
    "title": Lower(Coalesce(NullIf("title", Value("")), "url")),
    "new": F("last_new"),
    "next": F("not_before"),
    "rate": F("recent_articles"),
    "failing": F("failing_since"),
}


def folder_choices() -> list[tuple[str, str]]:
    """Categories by primary key with their whole paths, in the order of the tree."""
    paths = sorted((path, key) for key, path in all_paths().items())
    return [(str(key), " / ".join(path)) for path, key in paths]


def with_recent_articles(feeds: QuerySet[Feed], now: datetime) -> QuerySet[Feed]:
    """Adds `recent_articles`: how many were published within the last RATE_DAYS days."""
    window = Q(articles__published__gt=now - timedelta(days=RATE_DAYS), articles__published__lte=now)
    # The condition belongs into the join: otherwise all articles ever stored are read to count a week's.
    recent = feeds.annotate(within_days=FilteredRelation("articles", condition=window))
    return recent.annotate(recent_articles=Count("within_days"))


def articles_a_day(feed_ids: Iterable[int], now: datetime) -> dict[int, float]:
    """Articles published a day, over the last RATE_DAYS days, by feed."""
    feeds = with_recent_articles(Feed.objects.filter(id__in=list(feed_ids)), now).order_by()
    return {feed.id: feed.recent_articles / RATE_DAYS for feed in feeds.only("id")}  # type: ignore[attr-defined]


class FeedFilter(forms.Form):
    """GET parameters of the feeds table. What is not valid is left out, and said."""

    q = forms.CharField(required=False, label="Search", max_length=200)
    category = forms.ChoiceField(required=False)
    status = forms.ChoiceField(required=False, choices=[ANY, *Feed.Status.choices])
    phase = forms.ChoiceField(required=False, choices=[ANY, *Feed.Phase.choices])
    failing = forms.ChoiceField(required=False, choices=[ANY, ("yes", "failing"), ("no", "not failing")])
    failure = forms.ChoiceField(required=False)
    format = forms.ChoiceField(required=False)
    language = forms.ChoiceField(required=False)
    host = forms.CharField(required=False, max_length=253)
    retrieved = forms.IntegerField(required=False, min_value=1, max_value=100_000, label="Retrieved within h")
    waiting = forms.BooleanField(required=False)
    sort = forms.CharField(required=False)

    def __init__(self, data: object, now: datetime) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.now = now
        self._choose("category", [("none", "without category"), *folder_choices()])
        failures = _distinct("failure")
        self._choose("failure", [(name, name) for name in failures])
        self._choose("format", [(name, name) for name in _distinct("format")])
        self._choose("language", [(name, name) for name in _distinct("language")])

    def clean_sort(self) -> str:
        """A known order; by title when none is asked for."""
        sort: str = self.cleaned_data["sort"]
        return sort if sort.lstrip("-") in ORDERS else "title"

    def feeds(self) -> QuerySet[Feed]:
        """The feeds that pass, in the order asked for."""
        self.is_valid()
        feeds: QuerySet[Feed] = Feed.objects.filter(*self._conditions())
        sort = self.cleaned_data.get("sort", "title")
        if sort.lstrip("-") == "rate":
            feeds = with_recent_articles(feeds, self.now)
        return feeds.order_by(_ordered(sort), "id")

    def _conditions(self) -> list[Q]:
        given = {name: value for name, value in self.cleaned_data.items() if value}
        same = ("status", "phase", "failure", "format", "language")
        conditions = [Q(**{name: given[name]}) for name in same if name in given]
        if "q" in given:
            words = given["q"]
            conditions.append(
                Q(title__icontains=words) | Q(url__icontains=words) | Q(site_url__icontains=words)
            )
        if "category" in given:
            conditions.append(_in_category(given["category"]))
        if "failing" in given:
            fails = Q(failure_streak__gt=0)
            conditions.append(fails if given["failing"] == "yes" else ~fails)
        if "host" in given:
            conditions.append(Q(host__name=given["host"]))
        if "retrieved" in given:
            conditions.append(Q(last_success__gte=self.now - timedelta(hours=given["retrieved"])))
        if "waiting" in given:
            conditions.append(Q(selected_at__isnull=False))
        return conditions

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = [ANY, *choices]  # type: ignore[attr-defined]


class VisitFilter(forms.Form):
    """GET parameters of the log of visits. What is not valid is left out, and said."""

    outcome = forms.ChoiceField(required=False, choices=[ANY, *Retrieval.Outcome.choices])
    failure = forms.ChoiceField(required=False)
    hours = forms.IntegerField(required=False, min_value=1, max_value=100_000, label="Within hours")

    def __init__(self, data: object, now: datetime) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.now = now
        names = Retrieval.objects.filter(at__gte=now - DAY).exclude(failure="").order_by("failure")
        failures = names.values_list("failure", flat=True).distinct()
        self.fields["failure"].choices = [ANY, *((name, name) for name in failures)]  # type: ignore[attr-defined]

    def visits(self) -> QuerySet[Retrieval]:
        """The visits that pass, the last first."""
        self.is_valid()
        visits = Retrieval.objects.order_by("-at", "-id")
        given = {name: value for name, value in self.cleaned_data.items() if value}
        if "hours" in given:
            visits = visits.filter(at__gte=self.now - timedelta(hours=given.pop("hours")))
        return visits.filter(**given)


def _in_category(chosen: str) -> Q:
    return Q(category__isnull=True) if chosen == "none" else Q(category__in=subtree(int(chosen)))


def _ordered(sort: str) -> OrderBy:
    """Unknown moments last, whichever way."""
    by = ORDERS[sort.lstrip("-")]
    return by.desc(nulls_last=True) if sort.startswith("-") else by.asc(nulls_last=True)


def _distinct(name: str) -> list[str]:
    found = Feed.objects.order_by(name).exclude(**{name: ""}).values_list(name, flat=True).distinct()
    return list(found)
