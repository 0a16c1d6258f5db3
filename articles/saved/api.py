"""The REST API of saved pages and highlights: the signed-in person's own, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django.db import transaction
from django.db.models import Count, F, FilteredRelation, Q, QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.exporting.answers import AnyAccepted, Exported
from articles.models import Article, Page, Subscriber
from articles.personal.following import subscriber_of
from articles.personal.labels import TooManyLabels, add_labels, label_named, remove_labels
from articles.personal.marking import mark_read, star
from articles.saved.highlight_files import FORMATS
from articles.saved.highlighting import NoSuchQuote, cleaned_tags, highlights_of, make_highlight
from articles.saved.marks import AROUND
from articles.saved.models import Highlight, SavedPage
from articles.saved.saving import PageToSave, remove_saved, save_page, try_again
from articles.saved.serializers import (
    ChangedSavedSerializer,
    HighlightSerializer,
    NewSavedSerializer,
    SavedSerializer,
)
from crawler.fetching.http.urls import BadUrl
from crawler.web.filters import FlagFilter, search_validator
from crawler.web.scopes import MARK


class SavedFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Filters of saved pages."""

    q = django_filters.CharFilter(method="by_words", validators=[search_validator], help_text="A search.")
    tag = django_filters.CharFilter("labels", "contains", method="by_tag")
    way = django_filters.CharFilter("way")
    read = FlagFilter(method="by_reading")
    highlighted = FlagFilter(method="by_highlights", help_text="With highlights.")
    state = django_filters.CharFilter(method="by_state", help_text="waiting, stored or failed.")
    url = django_filters.CharFilter("article__url")
    since = django_filters.IsoDateTimeFilter("saved", "gte")
    until = django_filters.IsoDateTimeFilter("saved", "lt")

    class Meta:
        model = SavedPage
        fields: list[str] = []

    def by_words(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(article__in=Article.objects.search(value).values("pk"))

    def by_tag(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(labels__contains=[value])

    def by_reading(self, rows: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        return rows.filter(was_read__isnull=not value)

    def by_highlights(self, rows: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        return rows.filter(highlight_count__gt=0) if value else rows.filter(highlight_count=0)

    def by_state(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        conditions = {
            "waiting": Q(article__page__status=Page.Status.WAITING),
            "stored": Q(article__page__status=Page.Status.STORED) | Q(article__page=None),
            "failed": Q(article__page__status__in=[Page.Status.FAILED, Page.Status.REFUSED]),
        }
        return rows.filter(conditions[value]) if value in conditions else rows.none()


def saved_rows(subscriber: Subscriber) -> QuerySet[SavedPage]:
    """Return a person's saved pages with their marks, the newest first."""
    rows = SavedPage.objects.filter(subscriber=subscriber).select_related("article__page")
    rows = rows.annotate(
        mark=FilteredRelation("article__marks", condition=Q(article__marks__subscriber=subscriber)),
        labels=F("mark__labels"),
        was_read=F("mark__read"),
        was_starred=F("mark__starred"),
        highlight_count=Count("article__highlights", distinct=True),
    )
    return rows.order_by("-saved", "-id").defer(
        "article__search", "article__text", "article__content", "article__summary", "article__page__html",
        "article__page__text", "article__page__content",
    )  # fmt: skip


@extend_schema_view(
    list=extend_schema(summary="What you have saved"),
    retrieve=extend_schema(summary="One saved page"),
    destroy=extend_schema(summary="Remove a saved page"),
)
class SavedViewSet(
    Exported,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Any],
):
    """Pages that the signed-in person saved. Each is an article: /api/articles/ID/ has its text."""

    token_scope = MARK
    queryset = SavedPage.objects.none()
    serializer_class = SavedSerializer
    filterset_class = SavedFilter
    lookup_field = "article_id"
    lookup_value_converter = "int"
    export_title, export_path = "saved", "article_id"
    ordering_fields = ["saved", "id"]
    ordering = ["-saved"]

    def get_queryset(self) -> QuerySet[SavedPage]:
        return saved_rows(subscriber_of(self.request.user))

    @extend_schema(
        summary="Save a page",
        request=NewSavedSerializer,
        responses={201: SavedSerializer, 200: OpenApiResponse(SavedSerializer, "Saved already.")},
    )
    def create(self, request: Request) -> Response:
        """Save the page at an address; what is saved already gets the tags and the note as well."""
        serializer = NewSavedSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data, subscriber = serializer.validated_data, subscriber_of(request.user)
        page = PageToSave(
            data["url"], title=data.get("title", ""), tags=data.get("tags", ()), note=data.get("note", "")
        )
        try:
            saved = save_page(subscriber, page, datetime.now(UTC), SavedPage.Way.API)
        except BadUrl as error:
            raise ValidationError({"url": [str(error)]}) from error
        except TooManyLabels as error:
            raise ValidationError({"tags": [str(error)]}) from error
        row = self.get_queryset().get(pk=saved.page.pk)
        return Response(self.get_serializer(row).data, status=201 if saved.is_new else 200)

    @extend_schema(
        summary="Change title, tags, note and marks",
        request=ChangedSavedSerializer,
        responses=SavedSerializer,
    )
    @transaction.atomic
    def partial_update(self, request: Request, article_id: int) -> Response:
        row = self.get_object()
        serializer = ChangedSavedSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data, subscriber, now = serializer.validated_data, row.subscriber, datetime.now(UTC)
        if "note" in data:
            SavedPage.objects.filter(pk=row.pk).update(note=data["note"])
        if "title" in data:
            Article.objects.filter(pk=row.article_id).update(title=data["title"])
        if "tags" in data:
            tags = {label_named(tag) for tag in data["tags"]} - {""}
            remove_labels(subscriber, [row.article_id], set(row.labels or []) - tags)
            try:
                add_labels(subscriber, [row.article_id], tags)
            except TooManyLabels as error:
                raise ValidationError({"tags": [str(error)]}) from error
        if "read" in data:
            mark_read(subscriber, [row.article_id], now, read=data["read"])
        if "starred" in data:
            star(subscriber, [row.article_id], now, starred=data["starred"])
        return Response(self.get_serializer(self.get_object()).data)

    def perform_destroy(self, instance: SavedPage) -> None:
        remove_saved(instance.subscriber, [instance.article_id])

    @extend_schema(
        summary="Ask for a page again that could not be read", request=None, responses=SavedSerializer
    )
    @action(detail=True, methods=["post"], url_path="try-again")
    def try_again(self, request: Request, article_id: int) -> Response:
        row = self.get_object()
        try_again(row.subscriber, [row.article_id])
        return Response(self.get_serializer(self.get_object()).data)


class HighlightFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Filters of highlights."""

    article = django_filters.NumberFilter("article_id")
    color = django_filters.CharFilter("color")
    tag = django_filters.CharFilter(method="by_tag")
    q = django_filters.CharFilter(method="by_words", max_length=200, help_text="Words of quote or note.")
    since = django_filters.IsoDateTimeFilter("created", "gte")
    until = django_filters.IsoDateTimeFilter("created", "lt")

    class Meta:
        model = Highlight
        fields: list[str] = []

    def by_tag(self, rows: QuerySet[Highlight], name: str, value: str) -> QuerySet[Highlight]:
        return rows.filter(tags__contains=[value])

    def by_words(self, rows: QuerySet[Highlight], name: str, value: str) -> QuerySet[Highlight]:
        for word in value.split()[:20]:
            rows = rows.filter(Q(quote__icontains=word) | Q(note__icontains=word))
        return rows


@extend_schema_view(
    list=extend_schema(summary="Your highlights"),
    retrieve=extend_schema(summary="One highlight"),
    destroy=extend_schema(summary="Remove a highlight"),
)
class HighlightViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, mixins.DestroyModelMixin, viewsets.GenericViewSet[Any]
):
    """Highlights of the signed-in person, in articles of feeds and in saved pages."""

    token_scope = MARK
    queryset = Highlight.objects.none()
    serializer_class = HighlightSerializer
    filterset_class = HighlightFilter
    ordering_fields = ["created", "id"]
    ordering = ["-created"]

    def get_queryset(self) -> QuerySet[Highlight]:
        return highlights_of(subscriber_of(self.request.user))

    @extend_schema(summary="Highlight words of an article", responses={201: HighlightSerializer})
    def create(self, request: Request) -> Response:
        """Highlight words that stand in the article; the same words again are the same highlight."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        rows = Article.objects.select_related("page").defer("search", "page__html")
        article = get_object_or_404(rows, pk=data["article"].pk)
        try:
            row = make_highlight(
                subscriber_of(request.user),
                article,
                data["quote"],
                around=(data.get("before", "")[-AROUND:], data.get("after", "")[:AROUND]),
                color=data.get("color", Highlight.Color.IMPORTANT),
                note=data.get("note", ""),
                tags=data.get("tags", ()),
            )
        except NoSuchQuote as error:
            raise ValidationError({"quote": [str(error)]}) from error
        return Response(self.get_serializer(row).data, status=201)

    @extend_schema(summary="Change colour, note and tags")
    def partial_update(self, request: Request, pk: int) -> Response:
        row = self.get_object()
        serializer = self.get_serializer(row, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        row.color, row.note = data.get("color", row.color), data.get("note", row.note)
        row.tags = cleaned_tags(data.get("tags", row.tags))
        row.save(update_fields=["color", "note", "tags", "changed"])
        return Response(self.get_serializer(row).data)

    @extend_schema(
        summary="All highlights as a file",
        parameters=[OpenApiParameter("as", {"type": "string", "enum": list(FORMATS)})],
        responses={
            **{(200, form.media_type.partition(";")[0]): OpenApiTypes.BINARY for form in FORMATS.values()},
            400: OpenApiResponse(description="There is no such format."),
        },
    )
    @action(detail=False, methods=["get"], content_negotiation_class=AnyAccepted)
    def export(self, request: Request) -> StreamingHttpResponse:
        return highlights_file(
            request.query_params.get("as", "markdown"), self.filter_queryset(self.get_queryset())
        )


def highlights_file(name: str, rows: QuerySet[Highlight]) -> StreamingHttpResponse:
    """Return highlights as a file to download. Raises ValidationError for an unknown format."""
    form = FORMATS.get(name)
    if form is None:
        raise ValidationError({"as": [f"One of {', '.join(FORMATS)} is wanted."]})
    ordered = rows.order_by("article_id", "start", "id").iterator(chunk_size=500)
    response = StreamingHttpResponse(form.write(ordered), content_type=form.media_type)
    response.headers["Content-Disposition"] = f'attachment; filename="highlights.{form.ending}"'
    return response
