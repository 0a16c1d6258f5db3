"""The REST API of watched sites. Everyone signed in reads, staff adds and changes them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from articles.exporting.answers import Exported
from articles.exporting.formats import ExportFormat
from articles.exporting.rows import ExportRow
from articles.models import Subscriber
from crawler.web.pagination import KeysetPages
from crawler.web.permissions import EditorWrites, person_of
from recrawl.changes.exporting import change_rows
from recrawl.importing.changedetection import BackupError
from recrawl.importing.watches import import_watches
from recrawl.models import LIST_DEFAULTS, Change, Check, Site, WatchedPage
from recrawl.own_history import NoHistoryError, own_history, packed
from recrawl.serializers import (
    ChangeDetailSerializer,
    ChangeSerializer,
    CheckSerializer,
    ImportedSerializer,
    PageSerializer,
    SiteChangeSerializer,
    SiteDetailSerializer,
    SiteSerializer,
    VisitSerializer,
    WatchFileSerializer,
)
from recrawl.visiting.mapping import (
    SiteError,
    add_pages,
    add_site,
    check_sites,
    checked_addresses,
    forget,
    keep_logins,
    map_again,
    set_pages,
)
from recrawl.visiting.visits import pause, resume, visit_now


@extend_schema_view(
    list=extend_schema(summary="Watched sites"),
    retrieve=extend_schema(summary="One site"),
    destroy=extend_schema(summary="Delete a site with all that is known of it"),
)
class SiteViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, mixins.DestroyModelMixin, viewsets.GenericViewSet[Site]
):
    """Sites whose pages are visited again and again: add, change, pause, visit."""

    queryset = Site.objects.light()
    serializer_class = SiteSerializer
    permission_classes = [EditorWrites]
    filterset_fields = ["state", "method", "kind"]
    search_fields = ["url", "title"]
    ordering_fields = ["id", "created", "next_visit"]
    ordering = ["id"]

    def get_serializer_class(self) -> type[SiteSerializer]:
        return SiteDetailSerializer if self.action == "retrieve" else SiteSerializer

    @extend_schema(summary="Watch a site", request=SiteSerializer, responses={201: SiteSerializer})
    def create(self, request: Request) -> Response:
        serializer = SiteSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        check_sites(person_of(request))
        fields = dict(serializer.validated_data) | {"added_by": request.user}
        is_list = fields.pop("kind", Site.Kind.SITE) == Site.Kind.PAGES
        url, pages = fields.pop("url", ""), fields.pop("pages", [])
        try:
            site = add_pages(pages, **{**LIST_DEFAULTS, **fields}) if is_list else add_site(url, **fields)
        except SiteError as error:
            raise ValidationError({"pages" if is_list else "url": [str(error)]}) from error
        return Response(SiteSerializer(site).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        summary="Change how a site is watched, pause or resume it",
        request=SiteChangeSerializer,
        responses={200: SiteSerializer},
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        site = self.get_object()
        change = SiteChangeSerializer(site, data=request.data, partial=True)
        change.is_valid(raise_exception=True)
        fields = dict(change.validated_data)
        state, pages = fields.pop("state", None), fields.pop("pages", None)
        if pages is not None:
            self._set_pages(site, pages)
        if fields:
            Site.objects.filter(pk=site.pk).update(**fields)
        if state == Site.State.PAUSED:
            pause(site, datetime.now(UTC))
        elif state == Site.State.WATCHED:
            resume(site)
        return Response(SiteSerializer(self.get_object()).data)

    @extend_schema(
        summary="Watch the pages of a backup of changedetection.io, or of a list of addresses",
        request={"multipart/form-data": WatchFileSerializer},
        responses={201: ImportedSerializer},
    )
    @action(
        detail=False, methods=["post"], url_path="import", url_name="import", parser_classes=[MultiPartParser]
    )
    def import_file(self, request: Request) -> Response:
        file = request.FILES.get("file")
        if file is None:
            raise ValidationError({"file": ["no file was sent: send it as `file` of a form"]})
        try:
            imported = import_watches(file, person_of(request))
        except BackupError as error:
            raise ValidationError({"file": [str(error)]}) from error
        return Response(ImportedSerializer(imported).data, status=status.HTTP_201_CREATED)

    def _set_pages(self, site: Site, pages: list[str]) -> None:
        if not site.is_list:
            raise ValidationError({"pages": ["Only a list has chosen pages."]})
        try:
            keep_logins(pages)
            set_pages(site, checked_addresses(pages))
        except SiteError as error:
            raise ValidationError({"pages": [str(error)]}) from error

    def perform_destroy(self, instance: Site) -> None:
        forget(instance)

    @extend_schema(
        summary="What visits found, as a history file",
        parameters=[OpenApiParameter("addresses", bool, description="false: numbers in place of addresses")],
        responses={(200, "application/gzip"): OpenApiTypes.BINARY},
        filters=False,
    )
    @action(detail=True, pagination_class=None, url_path="history.jsonl.gz")
    def history(self, request: Request, pk: str) -> HttpResponse:
        anonymous = request.query_params.get("addresses") == "false"
        try:
            content = packed(own_history(self.get_object(), anonymous=anonymous))
        except NoHistoryError as error:
            raise ValidationError({"detail": str(error)}) from error
        return HttpResponse(content, content_type="application/gzip")

    @extend_schema(summary="Let the next visit begin now", request=None, responses={202: SiteSerializer})
    @action(detail=True, methods=["post"], url_path="visit-now")
    def visit_now(self, request: Request, pk: str) -> Response:
        site = self.get_object()
        if not visit_now(site, datetime.now(UTC)):
            raise ValidationError({"detail": "The site is not being watched, or it is visited just now."})
        return Response(SiteSerializer(self.get_object()).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(summary="Map the site anew", request=None, responses={202: SiteSerializer})
    @action(detail=True, methods=["post"], url_path="map-again", url_name="map-again")
    def map_anew(self, request: Request, pk: str) -> Response:
        site = self.get_object()
        if not map_again(site):
            raise ValidationError({"detail": "The site is being mapped or visited just now."})
        return Response(SiteSerializer(self.get_object()).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(
        summary="Visits of a site, the last first", responses={200: VisitSerializer(many=True)}, filters=False
    )
    @action(detail=True, filterset_fields=[])
    def visits(self, request: Request, pk: str) -> Response:
        page: Any = self.paginate_queryset(self.get_object().visits.order_by("-number"))  # type: ignore[arg-type]
        return self.get_paginated_response(VisitSerializer(page, many=True).data)


@extend_schema_view(
    list=extend_schema(summary="Pages of watched sites"), retrieve=extend_schema(summary="One page")
)
class PageViewSet(viewsets.ReadOnlyModelViewSet[WatchedPage]):
    """Pages of watched sites; `checks` are the fetches of one."""

    queryset = WatchedPage.objects.light()
    serializer_class = PageSerializer
    filterset_fields = ["site", "state", "url"]
    search_fields = ["url", "title"]
    ordering_fields = ["id", "fetched", "changed", "changes"]
    ordering = ["id"]

    @extend_schema(
        summary="Fetches of a page, the last first",
        responses={200: CheckSerializer(many=True)},
        filters=False,
    )
    @action(detail=True, filterset_fields=[])
    def checks(self, request: Request, pk: str) -> Response:
        rows = Check.objects.filter(page=self.get_object()).select_related("visit").order_by("-id")
        page: Any = self.paginate_queryset(rows)  # type: ignore[arg-type]
        return self.get_paginated_response(CheckSerializer(page, many=True).data)


@extend_schema_view(
    list=extend_schema(summary="Changes of watched sites, the last first"),
    retrieve=extend_schema(summary="One change with its lines"),
)
class ChangeViewSet(Exported, viewsets.ReadOnlyModelViewSet[Change]):
    """Changes; those of kind `template` touched only what does not count, or the whole site alike."""

    queryset = Change.objects.with_pages()
    pagination_class = KeysetPages
    filterset_fields = ["site", "page", "kind", "visit"]
    export_title = "changes"
    ordering_fields = ["id", "at"]
    ordering = ["-id"]

    def export_rows(
        self, listed: QuerySet[Any], person: Subscriber, form: ExportFormat
    ) -> Iterator[ExportRow]:
        """Yield the changes of the list."""
        return change_rows(listed)

    def get_serializer_class(self) -> type[BaseSerializer[Change]]:
        return ChangeDetailSerializer if self.action == "retrieve" else ChangeSerializer
