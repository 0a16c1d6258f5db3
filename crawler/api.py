"""The REST API under /api/: its router, hosts, statistics, and the schema with a page to read it."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, include, path
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import OpenApiParameter, extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter
from rest_framework.views import APIView

from articles.api import (
    ArticleViewSet,
    PersonalFeedViewSet,
    SubscriberViewSet,
    SubscriptionViewSet,
    TopicViewSet,
)
from articles.edits.api import ArticleEditsView, EditViewSet, VersionsView
from articles.enrichment.api import EnrichmentViewSet, StoryViewSet
from articles.interest.api import InterestEventViewSet, InterestViewSet
from articles.modelled.api import ModelTaskViewSet
from articles.moving.api import MoveViewSet
from articles.reader.api import MarksView, UnreadView
from articles.saved.api import HighlightViewSet, SavedViewSet
from articles.saved.collection_api import CollectionViewSet
from articles.saved.import_api import SavedImportViewSet
from articles.things.views import ThingView
from crawler.accounts.api import ApiTokenViewSet
from crawler.accounts.assistants.api import AssistantViewSet
from crawler.engine.models import Host
from crawler.frontier.api import CrawlViewSet
from crawler.notices.api import MessageViewSet, RuleViewSet, TargetViewSet
from crawler.notices.rules.api import ArticleRuleViewSet
from crawler.operation.site.logins import LoginViewSet
from crawler.operation.site.retention_rules import MAX_DAYS, kept
from crawler.operation.site.serializers import HostSerializer, KeptSerializer, StatisticsSerializer
from crawler.operation.site.statistics import WINDOW, statistics
from crawler.operation.site.status_views import StatusView
from crawler.pipeline.api import (
    DocumentViewSet,
    ExportView,
    HttpTransformerViewSet,
    LinkQueryViewSet,
    PhasesView,
    ProgressView,
    QuadsView,
    QuestionsView,
    SavedQueryViewSet,
    SearchView,
    StylesheetViewSet,
    UriFilterViewSet,
)
from crawler.web.documentation import endpoints
from feeds.api import CategoryViewSet, FeedViewSet, RetrievalViewSet
from feeds.mail.api import MailAddressViewSet, MailboxViewSet
from feeds.pages.planning_views import RulesView
from feeds.visiting.delays import latest_feeds
from recrawl.api import ChangeViewSet, PageViewSet, SiteViewSet


class HostViewSet(viewsets.ReadOnlyModelViewSet[Host]):
    """Hosts of feeds and pages."""

    queryset = Host.objects.annotate(feed_count=Count("feeds")).defer("robots_text")
    serializer_class = HostSerializer
    filterset_fields = ["name"]
    search_fields = ["name"]
    ordering_fields = ["id", "name", "served"]
    ordering = ["id"]


class KeptView(APIView):
    """Days that each kind of data is kept."""

    @extend_schema(
        summary="What is kept, and what another number of days would delete",
        parameters=[OpenApiParameter("days", {"type": "integer", "minimum": 1, "maximum": MAX_DAYS})],
        responses=KeptSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        text = request.query_params.get("days", "365")
        if not re.fullmatch("[0-9]{1,5}", text) or not 1 <= int(text) <= MAX_DAYS:
            raise ValidationError({"days": [f"A number from 1 to {MAX_DAYS} is wanted."]})
        return Response(KeptSerializer(kept(int(text), datetime.now(UTC)), many=True).data)


class StatisticsView(APIView):
    """Totals, and figures of the last 24 hours."""

    @extend_schema(summary="Figures of this deployment", responses=StatisticsSerializer)
    def get(self, request: Request) -> Response:
        now = datetime.now(UTC)
        figures = asdict(statistics(now)) | {"latest_feeds": latest_feeds(now - WINDOW)}
        return Response(StatisticsSerializer(figures).data)


@require_safe
def documentation(request: HttpRequest) -> HttpResponse:
    """The API explained on one page, from the same schema that programs read."""
    generator: Any = SchemaGenerator  # the library has no type hints
    schema = generator().get_schema(request=None, public=True)
    return render(request, "api/docs.html", {"info": schema["info"], "groups": endpoints(schema)})


router = DefaultRouter()
router.register("feeds", FeedViewSet, "api-feed")
router.register("categories", CategoryViewSet, "api-category")
router.register("retrievals", RetrievalViewSet, "api-retrieval")
router.register("articles", ArticleViewSet, "api-article")
router.register("enrichments", EnrichmentViewSet, "api-enrichment")
router.register("stories", StoryViewSet, "api-story")
router.register("subscribers", SubscriberViewSet, "api-subscriber")
router.register("subscriptions", SubscriptionViewSet, "api-subscription")
router.register("topics", TopicViewSet, "api-topic")
router.register("personal-feeds", PersonalFeedViewSet, "api-personal-feed")
router.register("interest/events", InterestEventViewSet, "api-interest-event")
router.register("interest", InterestViewSet, "api-interest")
router.register("edits", EditViewSet, "api-edit")
router.register("saved/imports", SavedImportViewSet, "api-saved-import")
router.register("saved", SavedViewSet, "api-saved")
router.register("collections", CollectionViewSet, "api-collection")
router.register("highlights", HighlightViewSet, "api-highlight")
router.register("model", ModelTaskViewSet, "api-model")
router.register("crawls", CrawlViewSet, "api-crawl")
router.register("documents", DocumentViewSet, "api-document")
router.register("link-queries", LinkQueryViewSet, "api-link-query")
router.register("saved-queries", SavedQueryViewSet, "api-saved-query")
router.register("http-transformers", HttpTransformerViewSet, "api-http-transformer")
router.register("stylesheets", StylesheetViewSet, "api-stylesheet")
router.register("uri-filters", UriFilterViewSet, "api-uri-filter")
router.register("sites", SiteViewSet, "api-site")
router.register("pages", PageViewSet, "api-page")
router.register("changes", ChangeViewSet, "api-change")
router.register("rules", ArticleRuleViewSet, "api-rule")
router.register("moves", MoveViewSet, "api-move")
router.register("notification-rules", RuleViewSet, "api-notification-rule")
router.register("notification-targets", TargetViewSet, "api-notification-target")
router.register("notification-messages", MessageViewSet, "api-notification-message")
router.register("newsletters/addresses", MailAddressViewSet, "api-mail-address")
router.register("newsletters/mailboxes", MailboxViewSet, "api-mailbox")
router.register("hosts", HostViewSet, "api-host")
router.register("logins", LoginViewSet, "api-login")
router.register("tokens", ApiTokenViewSet, "api-token")
router.register("assistants", AssistantViewSet, "api-assistant")

urlpatterns: list[URLPattern | URLResolver] = [
    path("articles/<int:pk>/marks/", MarksView.as_view(), name="api-article-marks"),
    path("articles/<int:pk>/versions/", VersionsView.as_view(), name="api-article-versions"),
    path("articles/<int:pk>/edits/", ArticleEditsView.as_view(), name="api-article-edits"),
    path("unread/", UnreadView.as_view(), name="api-unread"),
    path("planning/", RulesView.as_view(), name="api-planning"),
    path("kept/", KeptView.as_view(), name="api-kept"),
    path("status/", StatusView.as_view(), name="api-status"),
    path("stats/", StatisticsView.as_view(), name="api-stats"),
    path("pipeline/progress/", ProgressView.as_view(), name="api-pipeline-progress"),
    path("pipeline/", PhasesView.as_view(), name="api-pipeline"),
    path("things/", ThingView.as_view(), name="api-thing"),
    path("graph/quads/", QuadsView.as_view(), name="api-quads"),
    path("graph/export/", ExportView.as_view(), name="api-graph-export"),
    path("graph/search/", SearchView.as_view(), name="api-graph-search"),
    path("graph/questions/", QuestionsView.as_view(), name="api-graph-questions"),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", documentation, name="api-docs"),
    path("", include(router.urls)),
]
