"""Answers that stream an export: for operations of the API and for pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from articles.exporting.formats import FORMATS, ExportFormat, in_chunks
from articles.exporting.querying import article_rows, keys_in
from articles.exporting.rows import ExportedList, ExportRow
from articles.models import Subscriber
from articles.personal.following import subscriber_of
from crawler.web.refusals import refusal

Rows = Callable[[ExportFormat], Iterator[ExportRow]]
"""A function that begins to read the rows that a format needs."""


def unknown_format() -> str:
    """Return the sentence for a format that is none."""
    return _("There is no such format; there are %(names)s.") % {"names": ", ".join(FORMATS)}


def export_answer(rows: Rows, form: ExportFormat, about: ExportedList) -> StreamingHttpResponse:
    """Return the answer that streams the rows as a file to keep."""
    parts = in_chunks(form.write(rows(form), about))
    response = StreamingHttpResponse(parts, content_type=form.media_type)
    name = f"{_file_name(about.title)}-{datetime.now(UTC):%Y-%m-%d}.{form.ending}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def export_page(request: HttpRequest, rows: Rows, title: str) -> HttpResponseBase:
    """Return the file that a page's address asks for with `as`; 400 for a format that is none."""
    form = FORMATS.get(request.GET.get("as", ""))
    if form is None:
        return refusal(request, unknown_format(), 400)
    return export_answer(rows, form, ExportedList(title, for_people=True))


def _file_name(title: str) -> str:
    """Return the title as a file name that every system takes, ASCII alone."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-") or "articles"


class AnyAccepted(DefaultContentNegotiation):
    """Content negotiation that refuses nobody who accepts the exported format alone."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[Any, str]:
        """Return the first renderer, which writes refusals only."""
        return renderers[0], renderers[0].media_type


class Exported:
    """A mixin for lists of the API: `export` gives the list as a file, with all filters and its order."""

    export_title = "articles"
    export_path = "pk"
    """The path from a row of the list to its article's key."""

    @extend_schema(
        summary="The list as a file",
        description="Every row of the list, with its filters and its order, as a file that is streamed.",
        parameters=[
            OpenApiParameter(
                "as",
                {"type": "string", "enum": list(FORMATS), "default": "csv"},
                description=", ".join(f"{form.name}: {form.label}" for form in FORMATS.values()),
            )
        ],
        responses={
            **{(200, form.media_type.partition(";")[0]): OpenApiTypes.BINARY for form in FORMATS.values()},
            400: OpenApiResponse(description="There is no such format, or a filter is wrong."),
        },
        filters=True,
    )
    @action(detail=False, url_path="export", pagination_class=None, content_negotiation_class=AnyAccepted)
    def export(self, request: Request) -> StreamingHttpResponse:
        form = FORMATS.get(request.query_params.get("as", "csv"))
        if form is None:
            raise ValidationError({"as": [unknown_format()]})
        view: Any = self
        listed = view.filter_queryset(view.get_queryset())
        person = subscriber_of(request.user)

        def rows(form: ExportFormat) -> Iterator[ExportRow]:
            return self.export_rows(listed, person, form)

        return export_answer(rows, form, ExportedList(self.export_title))

    def export_rows(
        self, listed: QuerySet[Any], person: Subscriber, form: ExportFormat
    ) -> Iterator[ExportRow]:
        """Yield the rows of the list."""
        return article_rows(keys_in(listed, self.export_path), person, form)
