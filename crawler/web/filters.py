"""Filters of lists by URL parameters, for pages and the API alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy
from django_filters.widgets import BooleanWidget  # type: ignore[import-untyped]
from drf_spectacular.utils import extend_schema_field

from crawler.text.search import MAX_SEARCH_WORDS, SearchError, parse_search
from crawler.text.words import Words

Choices = list[tuple[str, str]]
SEARCH_HELP = gettext_lazy('Words, "a phrase", -without, or. At most %(search_words)s words.') % {
    "search_words": MAX_SEARCH_WORDS
}
MAX_HOURS = 100_000


def search_problem(text: str) -> str:
    """Return the sentence that refuses a search, empty for a valid one."""
    try:
        parse_search(text)
    except SearchError as error:
        return str(error)
    return ""


def search_validator(text: str) -> None:
    """Refuse a search that is too long; for fields of forms."""
    if problem := search_problem(text):
        raise ValidationError(problem)


class OfferedFilter(django_filters.CharFilter):  # type: ignore[misc]
    """A filter by text; pages offer the choices that `offers` returns when they are rendered."""

    def __init__(self, *args: Any, offers: Callable[[], Choices] = list, **options: Any) -> None:
        super().__init__(*args, widget=_Offers(), **options)
        self.offer(offers)

    def offer(self, offers: Callable[[], Choices]) -> None:
        """Offer the choices that this function returns when a page is rendered."""
        self.field.widget.choices = lambda: [("", gettext_lazy("any")), *offers()]


class FlagFilter(django_filters.BooleanFilter):  # type: ignore[misc]
    """A boolean filter; pages use `yes`, `no`, or `on` for a ticked box, and offer words for the two."""

    def __init__(
        self,
        *args: Any,
        words: tuple[Words, Words] = (gettext_lazy("yes"), gettext_lazy("no")),
        **options: Any,
    ) -> None:
        super().__init__(*args, widget=_Flag(words), **options)


@extend_schema_field(
    {
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_HOURS,
        "description": "Within so many hours.",
    }
)
class HoursFilter(django_filters.NumberFilter):  # type: ignore[misc]
    """A filter to rows whose time is within the last given number of hours."""

    field_class = forms.IntegerField

    def __init__(self, column: str, **options: Any) -> None:
        super().__init__(column, "gte", min_value=1, max_value=MAX_HOURS, **options)

    def filter(self, rows: QuerySet[Any], hours: int | None) -> QuerySet[Any]:
        """Filter to recent rows. Returns all rows if no hours are given."""
        since = hours and datetime.now(UTC) - timedelta(hours=hours)
        recent: QuerySet[Any] = super().filter(rows, since)
        return recent


class _Offers(forms.Select):
    """A select field that also shows a given value that is none of its choices."""

    def use_required_attribute(self, initial: Any) -> bool:
        """Return False without the first of the choices, which may take a query."""
        return False

    def optgroups(self, name: str, value: list[str], attrs: Any = None) -> Any:
        choices = list(self.choices)
        self.choices = [
            *choices,
            *((choice, choice) for choice in value if choice and choice not in dict(choices)),
        ]
        return super().optgroups(name, value, attrs)


class _Flag(BooleanWidget):  # type: ignore[misc]
    def __init__(self, words: tuple[Words, Words]) -> None:
        super().__init__()
        self.choices = [("", gettext_lazy("any")), ("true", words[0]), ("false", words[1])]

    def value_from_datadict(self, data: Mapping[str, str], files: Any, name: str) -> bool | None:
        spellings = {"on": "true", "yes": "true", "no": "false"}
        text = data.get(name, "")
        value: bool | None = super().value_from_datadict({name: spellings.get(text, text)}, files, name)
        return value
