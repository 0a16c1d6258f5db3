"""The REST API of crawls. Everyone signed in reads, staff begins and changes them."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from crawler.engine.models import Host
from crawler.engine.wake import wake_controller
from crawler.frontier.charts import as_csv
from crawler.frontier.crawls import (
    CrawlError,
    begin,
    cancel,
    lead_by,
    pause,
    requeue,
    rescope,
    resume,
    tried,
)
from crawler.frontier.evaluation.comparison import compare
from crawler.frontier.graph import GraphError
from crawler.frontier.models import Crawl
from crawler.frontier.own_graph import crawled_graph
from crawler.frontier.report import report, urls_of
from crawler.frontier.serializers import (
    CourseSerializer,
    CrawlChangeSerializer,
    CrawlSerializer,
    CrawlUrlSerializer,
    NamedAddressSerializer,
    QuerySerializer,
    ReportSerializer,
    RequeuedSerializer,
    RequeueSerializer,
)
from crawler.frontier.warc import MEDIA_TYPE, warc_chunks
from crawler.web.permissions import OperatorWrites


@extend_schema_view(
    list=extend_schema(summary="Crawls"),
    retrieve=extend_schema(summary="One crawl"),
    destroy=extend_schema(summary="Delete a crawl with what it found"),
)
class CrawlViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, mixins.DestroyModelMixin, viewsets.GenericViewSet[Crawl]
):
    """Priority-queue crawls: begin, follow, stop, resume, cancel, queue failures again."""

    queryset = Crawl.objects.all()
    serializer_class = CrawlSerializer
    permission_classes = [OperatorWrites]
    filterset_fields = ["state", "strategy"]
    ordering_fields = ["id", "created", "finished", "crawled"]
    ordering = ["-id"]

    @extend_schema(summary="Begin a crawl", request=CrawlSerializer, responses={201: CrawlSerializer})
    def create(self, request: Request) -> Response:
        serializer = CrawlSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            crawl = begin(Crawl(**serializer.validated_data, started_by_id=request.user.pk))
        except CrawlError as error:
            raise ValidationError({"seeds": [str(error)]}) from error
        wake_controller()
        return Response(CrawlSerializer(crawl).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        summary="Stop, resume or cancel a crawl, or change its scope",
        request=CrawlChangeSerializer,
        responses={200: CrawlSerializer},
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        crawl = self.get_object()
        change = CrawlChangeSerializer(data=request.data)
        change.is_valid(raise_exception=True)
        changes, row = change.validated_data, Crawl.objects.filter(pk=crawl.pk)
        if "scope" in changes:
            rescope(crawl, changes["scope"])
        if "link_query" in changes:
            lead_by(crawl, changes["link_query"])
        if changes.get("state") == Crawl.State.RUNNING:
            resume(crawl)
        elif changes.get("state") == Crawl.State.PAUSED:
            pause(row)
        elif changes.get("state") == Crawl.State.CANCELLED:
            cancel(row)
        wake_controller()
        return Response(CrawlSerializer(self.get_object()).data)

    @extend_schema(
        summary="What a query would lead a crawl to",
        request=QuerySerializer,
        responses={200: NamedAddressSerializer(many=True)},
        filters=False,
    )
    @action(detail=False, methods=["post"], url_path="try-query", url_name="try-query", pagination_class=None)
    def try_query(self, request: Request) -> Response:
        serializer = QuerySerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        addresses, why = tried(serializer.validated_data["query"])
        if why:
            raise ValidationError({"query": [why]})
        return Response([{"url": url, "weight": weight} for url, weight in addresses.items()])

    @extend_schema(summary="Figures of now", responses={200: ReportSerializer}, filters=False)
    @action(detail=True, pagination_class=None)
    def report(self, request: Request, pk: str) -> Response:
        return Response(report(self.get_object()).as_json())

    @extend_schema(
        summary="Its figures by minute, as CSV",
        responses={(200, "text/csv"): OpenApiTypes.BINARY},
        filters=False,
    )
    @action(detail=True, pagination_class=None, url_path="figures.csv")
    def figures(self, request: Request, pk: str) -> StreamingHttpResponse:
        return StreamingHttpResponse(as_csv(self.get_object()), content_type="text/csv; charset=utf-8")

    @extend_schema(summary="URLs of a crawl", responses={200: CrawlUrlSerializer(many=True)}, filters=False)
    @action(detail=True, filterset_fields=[])
    def urls(self, request: Request, pk: str) -> Response:
        """Filters: state, failure, host."""
        urls = urls_of(self.get_object(), request.query_params)
        page: Any = self.paginate_queryset(urls)  # type: ignore[arg-type]
        return self.get_paginated_response(CrawlUrlSerializer(page, many=True).data)

    @extend_schema(
        summary="Every strategy on its recorded links",
        responses={200: CourseSerializer(many=True)},
        filters=False,
    )
    @action(detail=True, pagination_class=None)
    def strategies(self, request: Request, pk: str) -> Response:
        try:
            return Response(CourseSerializer(compare(crawled_graph(self.get_object())), many=True).data)
        except GraphError as error:
            raise ValidationError({"detail": str(error)}) from error

    @extend_schema(
        summary="What it asked and was answered, as a WARC file",
        responses={(200, MEDIA_TYPE): OpenApiTypes.BINARY},
        filters=False,
    )
    @action(detail=True, pagination_class=None, url_path="pages.warc.gz")
    def warc(self, request: Request, pk: str) -> StreamingHttpResponse:
        return StreamingHttpResponse(warc_chunks(self.get_object()), content_type=MEDIA_TYPE)

    @extend_schema(
        summary="Queue failed URLs again", request=RequeueSerializer, responses={200: RequeuedSerializer}
    )
    @action(detail=True, methods=["post"])
    def requeue(self, request: Request, pk: str) -> Response:
        crawl = self.get_object()
        serializer = RequeueSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        choice = serializer.validated_data
        host = Host.objects.filter(name=choice["host"]).first() if "host" in choice else None
        if "host" in choice and host is None:
            raise ValidationError({"host": [f"no host is called {choice['host'][:100]!r}"]})
        count = requeue(crawl, [choice["failure"]] if "failure" in choice else [], host.pk if host else None)
        wake_controller()
        return Response({"requeued": count})
