"""Lists that people page through, filter and share by address, whole or as the part that htmx swaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.functional import cached_property

ROWS = 50
MOST = 10_000
"""Rows that can be paged through; to count or skip further would read millions of rows for one page."""


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts no further than MOST; `more` tells whether there are rows beyond."""

    @cached_property
    def _counted(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[: MOST + 1].count()

    @property
    def count(self) -> int:
        """Rows, at most MOST."""
        return min(self._counted, MOST)

    @property
    def more(self) -> bool:
        """Whether rows beyond MOST exist."""
        return self._counted > MOST


def page_of(request: HttpRequest, rows: QuerySet[Any], *, size: int = ROWS) -> Page[Any]:
    """The page that ?page= names; the nearest one for numbers that make no sense."""
    return BoundedPaginator(rows, size).get_page(request.GET.get("page"))


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx asks for the changing part of a page (going back in history asks for all of it)."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def render_list(request: HttpRequest, whole: str, part: str, context: Mapping[str, Any]) -> HttpResponse:
    """A list's page, or for htmx its rows alone; the address then shows only the filters that are set."""
    if not wants_part(request):
        response = render(request, whole, dict(context))
    else:
        response = render(request, part, dict(context))
        query = request.GET.copy()
        for name in [name for name, values in query.lists() if not any(values)]:
            del query[name]
        response.headers["HX-Push-Url"] = f"{request.path}?{query.urlencode()}" if query else request.path
    patch_vary_headers(response, ["HX-Request"])
    return response
