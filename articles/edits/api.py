"""The REST API of edits: the versions of an article, what changed lately, and how often sources edit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import django_filters  # type: ignore[import-untyped]
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from articles.edits.deciding import KINDS
from articles.edits.history import proves, versions_of
from articles.edits.listing import edits, edits_with_articles, sources
from articles.edits.models import ArticleVersion
from articles.edits.wording import edit_in_words
from articles.models import Article
from articles.personal.following import subscriber_of
from crawler.web.filters import FlagFilter


class EditSerializer(serializers.ModelSerializer[ArticleVersion]):
    """An edit: a version of an article, and what differs in it from the one before."""

    title = serializers.CharField(read_only=True)
    article_title = serializers.CharField(source="article.title", read_only=True)
    url = serializers.CharField(source="article.url", read_only=True)
    feed = serializers.IntegerField(source="article.feed_id", read_only=True)
    published = serializers.DateTimeField(source="article.published", read_only=True)
    in_words = serializers.SerializerMethodField()
    change = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="A number or name, before and after."
    )

    class Meta:
        model = ArticleVersion
        fields = [
            "id", "article", "number", "seen", "shown_by", "title", "article_title", "url", "feed",
            "published", "length", "kinds", "words", "added", "removed", "change", "in_words",
        ]  # fmt: skip
        read_only_fields = fields

    def get_in_words(self, row: ArticleVersion) -> str:
        return edit_in_words(row)


class VersionSerializer(serializers.Serializer[Any]):
    """A version of an article with its text. `sha256` covers it and, by `previous_sha256`, all before it."""

    number = serializers.IntegerField()
    seen = serializers.DateTimeField()
    shown_by = serializers.CharField(help_text='"feed" or "page".')
    title = serializers.CharField()
    text = serializers.CharField()
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=KINDS))
    words = serializers.IntegerField()
    added = serializers.IntegerField(help_text="Sentences that came.")
    removed = serializers.IntegerField(help_text="Sentences that went.")
    in_words = serializers.CharField()
    sha256 = serializers.CharField()
    previous_sha256 = serializers.CharField()


class VersionsSerializer(serializers.Serializer[Any]):
    """All versions of an article, the first one first; none for an article that was never edited."""

    article = serializers.IntegerField()
    edited = serializers.IntegerField(help_text="How often it was edited.")
    proves = serializers.BooleanField(help_text="The hashes are those of the texts.")
    versions = VersionSerializer(many=True)


class EditingSourceSerializer(serializers.Serializer[Any]):
    """How often, how soon and how much a feed edits, in 90 days."""

    feed = serializers.IntegerField()
    name = serializers.CharField()
    articles = serializers.IntegerField()
    edited = serializers.IntegerField()
    edits = serializers.IntegerField()
    headlines = serializers.IntegerField()
    gone = serializers.IntegerField()
    hours = serializers.FloatField(help_text="Mean time from publication to an edit.")
    words = serializers.FloatField(help_text="Mean words and sentences of an edit.")


class EditFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Filters of edits."""

    article = django_filters.NumberFilter("article_id")
    feed = django_filters.NumberFilter("article__feed_id")
    kind = django_filters.ChoiceFilter(
        choices=[(kind, kind) for kind in KINDS], method="by_kind", help_text=", ".join(KINDS)
    )
    since = django_filters.IsoDateTimeFilter("seen", "gte")
    until = django_filters.IsoDateTimeFilter("seen", "lt")
    followed = FlagFilter(method="by_following", help_text="In feeds that you follow.")

    class Meta:
        model = ArticleVersion
        fields: list[str] = []

    def by_kind(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(kinds__contains=[value])

    def by_following(self, rows: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        feeds = subscriber_of(self.request.user).subscriptions.values("feed")
        return rows.filter(article__feed__in=feeds) if value else rows.exclude(article__feed__in=feeds)


@extend_schema_view(
    list=extend_schema(summary="What was edited after publication"),
    retrieve=extend_schema(summary="One edit"),
)
class EditViewSet(viewsets.ReadOnlyModelViewSet[ArticleVersion]):
    """Edits of articles after their publication, the latest first."""

    queryset = ArticleVersion.objects.none()
    serializer_class = EditSerializer
    filterset_class = EditFilter
    ordering_fields = ["seen", "id"]
    ordering = ["-seen"]

    def get_queryset(self) -> QuerySet[ArticleVersion]:
        return edits_with_articles(edits())

    @extend_schema(
        summary="How often, how soon and how much sources edit", responses=EditingSourceSerializer(many=True)
    )
    @action(detail=False, methods=["get"], pagination_class=None, filterset_class=None)
    def sources(self, request: Request) -> Response:
        return Response(EditingSourceSerializer(sources(datetime.now(UTC)), many=True).data)


class VersionsView(APIView):
    """The versions of an article."""

    @extend_schema(summary="All versions of an article", responses=VersionsSerializer)
    def get(self, request: Request, pk: int) -> Response:
        article = get_object_or_404(Article.objects.only("pk"), pk=pk)
        versions = versions_of(article.pk)
        rows, previous = [], b""
        for version in versions:
            row = version.row
            rows.append(
                {
                    "number": row.number, "seen": row.seen, "shown_by": row.shown_by, "title": row.title,
                    "text": version.text, "kinds": row.kinds, "words": row.words, "added": row.added,
                    "removed": row.removed, "in_words": edit_in_words(row),
                    "sha256": bytes(row.digest).hex(), "previous_sha256": previous.hex(),
                }
            )  # fmt: skip
            previous = bytes(row.digest)
        payload = {
            "article": article.pk,
            "edited": max(len(rows) - 1, 0),
            "proves": proves(versions),
            "versions": rows,
        }
        return Response(VersionsSerializer(payload).data)


class ArticleEditsView(APIView):
    """The edits of an article."""

    @extend_schema(summary="What was edited in an article", responses=EditSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        article = get_object_or_404(Article.objects.only("pk"), pk=pk)
        rows = edits_with_articles(edits().filter(article=article)).order_by("number")
        return Response(EditSerializer(rows, many=True).data)
