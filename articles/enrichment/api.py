"""The REST API of enrichments and stories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from articles.enrichment.models import Enrichment, Story
from articles.enrichment.serializers import EnrichmentSerializer, StorySerializer
from articles.enrichment.stories import allow, take_apart, take_out
from articles.enrichment.views import told
from articles.exporting.answers import Exported
from articles.exporting.formats import ExportFormat
from articles.exporting.querying import article_rows, keys_in
from articles.exporting.rows import ExportRow
from articles.models import Subscriber
from crawler.web.permissions import OperatorWrites


class EnrichmentFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Filters of the list of enrichments."""

    keyword = django_filters.CharFilter(method="with_keyword", label="One of its keywords, lower case.")

    class Meta:
        model = Enrichment
        fields = ["state", "language", "category", "category_source", "story"]

    def with_keyword(self, rows: QuerySet[Enrichment], name: str, value: str) -> QuerySet[Enrichment]:
        return rows.filter(terms__contains=[value.casefold()])


class EnrichmentViewSet(viewsets.ReadOnlyModelViewSet[Enrichment]):
    """Enrichments, by the article's id."""

    queryset = Enrichment.objects.defer("signature", "bands")
    serializer_class = EnrichmentSerializer
    permission_classes = [OperatorWrites]
    filterset_class = EnrichmentFilter
    ordering_fields = ["article", "at"]
    ordering = ["-article"]

    @extend_schema(summary="Take the article out of its story", request=None)
    @action(detail=True, methods=["post"], url_path="leave-story")
    def leave_story(self, request: Request, pk: str) -> Response:
        return self._changed(take_out)

    @extend_schema(summary="Let the article join a story again", request=None)
    @action(detail=True, methods=["post"], url_path="join-story")
    def join_story(self, request: Request, pk: str) -> Response:
        return self._changed(allow)

    def _changed(self, change: Any) -> Response:
        row = self.get_object()
        change(row)
        row.refresh_from_db()
        return Response(self.get_serializer(row).data)


class StoryViewSet(Exported, viewsets.ReadOnlyModelViewSet[Story]):
    """Stories with their members; taking one apart deletes no article."""

    queryset = Story.objects.prefetch_related(Prefetch("members", told()))
    serializer_class = StorySerializer
    permission_classes = [OperatorWrites]
    export_title = "stories"
    ordering_fields = ["id", "created"]
    ordering = ["-id"]

    def export_rows(
        self, listed: QuerySet[Any], person: Subscriber, form: ExportFormat
    ) -> Iterator[ExportRow]:
        """Yield the articles of the stories, the newest story first, each with the key of its story."""
        members = Enrichment.objects.filter(story__in=listed.order_by().values("pk"))
        members = members.order_by("-story_id", "article__published", "pk")
        return article_rows(keys_in(members, "article_id"), person, form)

    @extend_schema(
        summary="Take the story apart",
        request=None,
        responses={204: OpenApiResponse(description="Its articles stand alone now.")},
    )
    @action(detail=True, methods=["post"])
    def apart(self, request: Request, pk: str) -> Response:
        take_apart(self.get_object())
        return Response(status=204)
