"""Pagination of lists: by number for people, by number or by key for the API."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import models
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property
from rest_framework.exceptions import ValidationError
from rest_framework.filters import OrderingFilter
from rest_framework.pagination import BasePagination, PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

PAGE_SIZE = 50
MAX_PAGE_SIZE = 500
MOST = 10_000
"""Rows that people can page through; to count or skip further would read millions of rows for one page."""


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """A paginator that counts no further than MOST; `more` tells whether there are rows beyond."""

    def __init__(self, rows: Any, size: int, known_count: int | None = None) -> None:
        super().__init__(rows, size)
        self._known_count = known_count

    @cached_property
    def _counted(self) -> int:
        if self._known_count is not None:
            return self._known_count
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[: MOST + 1].count()

    @property
    def count(self) -> int:
        """The number of rows, at most MOST."""
        return min(self._counted, MOST)

    @property
    def more(self) -> bool:
        """True when there are rows beyond the counted ones."""
        return self._counted > MOST


def page_of(
    request: HttpRequest,
    rows: QuerySet[Any] | Sequence[Any],
    *,
    size: int = PAGE_SIZE,
    known_count: int | None = None,
) -> Page[Any]:
    """Return the page that ?page= names, the nearest page for invalid numbers.

    Rows beyond `known_count`, if it is given, have no page; otherwise the rows are counted.
    """
    return BoundedPaginator(rows, size, known_count).get_page(request.GET.get("page"))


class NumberedPages(PageNumberPagination):
    """Pagination by number: `?page=2&page_size=100`, with the total `count`."""

    page_size = PAGE_SIZE
    page_size_query_param = "page_size"
    max_page_size = MAX_PAGE_SIZE

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        number = _parameter("page", "Number of the page, from 1.", {"type": "integer", "minimum": 1})
        return [number, _SIZE]


class OneOrder(OrderingFilter):
    """An ordering by `?ordering=-published`: one column, then the primary key in the same direction.

    So no row is on two pages or on none.
    """

    def get_ordering(self, request: Request, queryset: Any, view: APIView) -> list[str]:
        key = queryset.model._meta.pk.name
        chosen = super().get_ordering(request, queryset, view) or [key]
        first = str(chosen[0])
        key = f"-{key}" if first.startswith("-") else key
        return [first] if first == key else [first, key]


class KeysetPages(BasePagination):
    """Pagination by the cursor in `next`: every row appears exactly once, even if rows are added meanwhile.

    The view's query must be ordered by one column and the primary key, both in the same direction.
    Nothing is counted, so the last page of ten million rows costs what the first does.
    """

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any]:
        size = page_size(request)
        column, falling = _ordering(queryset)
        if cursor := request.query_params.get("cursor"):
            queryset = queryset.filter(beyond(column, *_decoded(cursor), falling=falling))
        rows = self.first_rows(queryset, size + 1)
        page = rows[:size]
        self._next = None
        if len(rows) > size:
            key = _encoded(getattr(page[-1], column), page[-1].pk)
            self._next = replace_query_param(request.build_absolute_uri(), "cursor", key)
        return page

    def first_rows(self, queryset: Any, count: int) -> list[Any]:
        """Return the first rows of an ordered query."""
        return list(queryset[:count])

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self._next, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {
                "next": {"type": "string", "nullable": True, "format": "uri"},
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        return [_parameter("cursor", "Where to go on: taken from `next`.", {"type": "string"}), _SIZE]


def beyond(column: str, value: datetime | int, key: int, *, falling: bool) -> Q:
    """Return the condition for rows after (value, key) by the column, then `id`.

    Its first part follows from the second, and an index can use it.
    """
    side = "lt" if falling else "gt"
    if column == "id":
        return Q(**{f"id__{side}": key})
    later = Q(**{f"{column}__{side}": value}) | Q(**{column: value, f"id__{side}": key})
    return Q(**{f"{column}__{side}e": value}) & later


def _parameter(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


_SIZE = _parameter(
    "page_size",
    f"Rows of a page, up to {MAX_PAGE_SIZE}; {PAGE_SIZE} where it is no number.",
    {"anyOf": [{"type": "integer", "default": PAGE_SIZE}, {"type": "string"}]},
)


def page_size(request: Request) -> int:
    """Return the number of rows that a request wants on a page."""
    try:
        size = int(request.query_params.get("page_size", PAGE_SIZE))
    except ValueError:
        size = PAGE_SIZE
    return min(max(size, 1), MAX_PAGE_SIZE)


def _ordering(queryset: QuerySet[models.Model]) -> tuple[str, bool]:
    ordering: Sequence[Any] = queryset.query.order_by or queryset.model._meta.ordering or ["id"]
    first = str(ordering[0])
    return first.removeprefix("-"), first.startswith("-")


def _encoded(value: datetime | int, key: int) -> str:
    plain = value.isoformat() if isinstance(value, datetime) else value
    return base64.urlsafe_b64encode(json.dumps([plain, key]).encode()).decode().rstrip("=")


def _decoded(cursor: str) -> tuple[datetime | int, int]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value, key = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if isinstance(value, str):
            value = parse_datetime(value)
        if not isinstance(value, datetime | int) or not isinstance(key, int):
            raise ValueError("not a time or number, and a key")
        if abs(key) >= 2**63 or (isinstance(value, datetime) and value.tzinfo is None):
            raise ValueError("out of range")
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise ValidationError({"cursor": ["This cursor was not given by this list."]}) from error
    return value, key
