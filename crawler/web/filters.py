"""Filters of lists by their address, for pages and the API alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django import forms
from django.db.models import QuerySet
from django_filters.widgets import BooleanWidget  # type: ignore[import-untyped]
from drf_spectacular.utils import extend_schema_field

Choices = list[tuple[str, str]]
MOST_HOURS = 100_000


class OfferedFilter(django_filters.CharFilter):  # type: ignore[misc]
    """Any text; pages offer what `offers` finds when they are made."""

    def __init__(self, *args: Any, offers: Callable[[], Choices], **named: Any) -> None:
        widget = _Offers(choices=lambda: [("", "any"), *offers()])  # type: ignore[arg-type]
        super().__init__(*args, widget=widget, **named)


class FlagFilter(django_filters.BooleanFilter):  # type: ignore[misc]
    """True or false; pages say `yes`, `no`, or `on` for a ticked box, and offer words for the two."""

    def __init__(self, *args: Any, words: tuple[str, str] = ("yes", "no"), **named: Any) -> None:
        super().__init__(*args, widget=_Flag(words), **named)


@extend_schema_field(
    {"type": "integer", "minimum": 1, "maximum": MOST_HOURS, "description": "Within so many hours."}
)
class HoursFilter(django_filters.NumberFilter):  # type: ignore[misc]
    """Rows whose time is within the last so many hours."""

    field_class = forms.IntegerField

    def __init__(self, column: str, **named: Any) -> None:
        super().__init__(column, "gte", min_value=1, max_value=MOST_HOURS, **named)

    def filter(self, rows: QuerySet[Any], hours: int | None) -> QuerySet[Any]:
        """Those rows; all where no hours are given."""
        since = hours and datetime.now(UTC) - timedelta(hours=hours)
        found: QuerySet[Any] = super().filter(rows, since)
        return found


class _Offers(forms.Select):
    """Choices, and what was given where it is none of them."""

    def optgroups(self, name: str, value: list[str], attrs: Any = None) -> Any:
        known = list(self.choices)
        self.choices = [*known, *((one, one) for one in value if one and one not in dict(known))]
        return super().optgroups(name, value, attrs)


class _Flag(BooleanWidget):  # type: ignore[misc]
    def __init__(self, words: tuple[str, str]) -> None:
        super().__init__()
        self.choices = [("", "any"), ("true", words[0]), ("false", words[1])]

    def value_from_datadict(self, data: Mapping[str, str], files: Any, name: str) -> bool | None:
        said = {"on": "true", "yes": "true", "no": "false"}
        given = data.get(name, "")
        value: bool | None = super().value_from_datadict({name: said.get(given, given)}, files, name)
        return value
