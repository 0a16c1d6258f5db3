"""The REST API of feeds, their categories and retrievals. Everyone signed in reads, staff writes."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Count
from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import Throttled, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from crawler.database.readers import visible
from crawler.engine.logins import keep_login, take_login
from crawler.engine.wake import wake_controller
from crawler.fetching.http.logins import LoginError, without_login
from crawler.fetching.http.urls import BadUrl
from crawler.reading.lines import SelectorFault
from crawler.reading.sources.kinds import DATA, FEED, PAGE
from crawler.text.reasons import Reason
from crawler.web.pagination import KeysetPages
from crawler.web.parsers import MultiPartParser
from crawler.web.permissions import EditorsOnly, EditorWrites, person_of
from feeds.adding.add import add_feed, checked_address
from feeds.adding.discovery import BusyError, WantedSources, look_at
from feeds.adding.imports import within_limit
from feeds.adding.opml import MAX_BYTES, OpmlError, at_once, export_opml, feeds_in, import_outlines
from feeds.addresses import choose_list, known_as, move_to
from feeds.models import Category, Feed, Retrieval
from feeds.pages.filters import SEARCHED, FeedFilter, RetrievalFilter
from feeds.pausing import pause, resume
from feeds.rules import PARTS, checked_rules, rules_in
from feeds.serializers import (
    CategorySerializer,
    FeedChangeSerializer,
    FeedSerializer,
    HistorySerializer,
    ImportSerializer,
    LookSerializer,
    NewFeedSerializer,
    RetrievalSerializer,
    ScheduleSerializer,
    SelectedSerializer,
)
from feeds.visiting.explain import next_visits
from feeds.visiting.posting import histories, plan_of, population
from feeds.visiting.selection import retrieve_now

OPML = "text/x-opml"


class OpmlParser(BaseParser):
    """Takes the body as it is, whatever type it is sent as; `request.data` is bytes."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        # One byte more than allowed, so that what is too large is seen to be.
        return stream.read(MAX_BYTES + 1)


class OpmlRenderer(BaseRenderer):
    """Gives bytes out as they are."""

    media_type = OPML
    format = "opml"
    charset = "utf-8"
    render_style = "binary"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:
        return data if isinstance(data, bytes) else str(data).encode()


@extend_schema_view(
    list=extend_schema(summary="Feeds with their next visits"),
    retrieve=extend_schema(summary="One feed"),
    destroy=extend_schema(summary="Delete a feed with its articles"),
)
class FeedViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Feed],
):
    """Feeds: list, add, change, delete; visit now; why the next visit is when it is."""

    queryset = Feed.objects.select_related("host", "hub_subscription").defer(
        "fingerprints", "host__robots_text"
    )
    serializer_class = FeedSerializer
    permission_classes = [EditorWrites]
    filterset_class = FeedFilter
    search_fields = SEARCHED
    ordering_fields = ["id", "title", "added", "last_success", "last_new", "not_before", "failing_since"]
    ordering = ["id"]

    @extend_schema(
        summary="Add a feed by its address or its site's",
        request=NewFeedSerializer,
        responses={
            201: FeedSerializer,
            200: OpenApiResponse(FeedSerializer, "It is known already: the existing feed."),
        },
    )
    def create(self, request: Request) -> Response:
        serializer = NewFeedSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        owner = _owner_by_login(person_of(request), data)
        added = add_feed(
            data["url"],
            category=data.get("category"),
            kind=data.get("kind", FEED),
            rules=data["rules"],
            owner=owner,
        )
        if added.feed is None:
            raise ValidationError({"url": [added.message]})
        code = status.HTTP_201_CREATED if added.outcome == "added" else status.HTTP_200_OK
        return Response(self.get_serializer(added.feed).data, status=code)

    @extend_schema(summary="Change a feed", request=FeedChangeSerializer, responses={200: FeedSerializer})
    def partial_update(self, request: Request, pk: str) -> Response:
        feed = self.get_object()
        change = FeedChangeSerializer(data=request.data, partial=True)
        change.is_valid(raise_exception=True)
        fields = change.validated_data
        rows = Feed.objects.filter(pk=feed.pk)
        columns = {name: fields[name] for name in ("title", "category") if name in fields}
        if "url" in fields:
            _give_address(feed, fields["url"])
        if "rules" in fields:
            _give_rules(feed, fields["rules"])
        if "title" in fields:
            columns["renamed"] = bool(fields["title"])
        if columns:
            rows.update(**columns)
        if "status" in fields:
            (pause if fields["status"] == Feed.Status.PAUSED else resume)(rows)
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(
        summary="The feeds behind an address, before any is added",
        parameters=[
            OpenApiParameter("url", str, required=True, description="Of a feed or of a site."),
            OpenApiParameter(
                "kind",
                str,
                enum=[PAGE],
                description="`page`: the lists of articles in the page itself, even where it names a feed.",
            ),
            OpenApiParameter("all", bool, description="With each entry of a source, not the newest five."),
            *(
                OpenApiParameter(part, str, description="A rule for the list of the page; see `rules`.")
                for part in PARTS
            ),
        ],
        responses={200: LookSerializer},
        filters=False,
        extensions={"x-staff-only": True},
    )
    @action(detail=False, pagination_class=None, permission_classes=[EditorsOnly])
    def find(self, request: Request) -> Response:
        url = request.query_params.get("url", "").strip()
        if not url:
            raise ValidationError({"url": ["Give the address of a feed or of a site."]})
        try:
            (look,) = look_at([url], _wanted(request.query_params))
        except BusyError as error:
            raise Throttled(detail="Too many addresses are being looked at; try again soon.") from error
        return Response(LookSerializer(look, context={"now": datetime.now(UTC)}).data)

    @extend_schema(summary="Visit a feed now", request=None, responses={200: SelectedSerializer})
    @action(detail=True, methods=["post"], url_path="retrieve-now")
    def retrieve_now(self, request: Request, pk: str) -> Response:
        feed = self.get_object()
        selected = retrieve_now(Feed.objects.filter(pk=feed.pk), Reason("asked for by {0}", request.user)) > 0
        if selected:
            wake_controller()
        feed.refresh_from_db(fields=["selected_at", "selected_because", "lease", "status"])
        reason = next_visits([feed], datetime.now(UTC))[feed.pk].reason
        return Response({"selected": selected, "message": reason})

    @extend_schema(
        summary="When the next visit is, and why", responses={200: ScheduleSerializer}, filters=False
    )
    @action(detail=True, pagination_class=None)
    def schedule(self, request: Request, pk: str) -> Response:
        feed = self.get_object()
        visit = next_visits([feed], datetime.now(UTC))[feed.pk]
        training = {"m": feed.training_m, "t": feed.training_t}
        return Response(
            ScheduleSerializer(
                {
                    **{name: getattr(visit, name) for name in visit.__slots__},
                    "not_before": feed.not_before,
                    "training": training if feed.phase == Feed.Phase.TRAINING else None,
                }
            ).data
        )

    @extend_schema(
        summary="What was learned of its posting", responses={200: HistorySerializer}, filters=False
    )
    @action(detail=True, pagination_class=None)
    def history(self, request: Request, pk: str) -> Response:
        feed = self.get_object()
        learned = histories([feed.pk])
        row = getattr(feed, "history", None)
        return Response(
            {
                "hourly": learned.hourly[0].tolist(),
                "week_counts": learned.counts[0].tolist(),
                "week_exposure": learned.exposure[0].tolist(),
                "forecast": learned.forecast(population()).rates()[0].tolist(),
                "threshold": plan_of(feed),
                "updated": row.updated if row else None,
            }
        )

    @extend_schema(
        summary="Add the feeds of an OPML file",
        request={
            OPML: OpenApiTypes.BINARY,
            "multipart/form-data": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
            },
        },
        responses={200: ImportSerializer},
    )
    @action(
        detail=False, methods=["post"], url_path="import-opml", parser_classes=[MultiPartParser, OpmlParser]
    )
    def import_opml(self, request: Request) -> Response:
        try:
            outlines = at_once(feeds_in(io.BytesIO(_sent_opml(request))))
            report = import_outlines(list(within_limit(person_of(request), outlines, follows=False)))
        except OpmlError as error:
            raise ValidationError({"file": [str(error)]}) from error
        refused = [{"url": url, "message": message} for url, message in report.refused]
        return Response({"added": report.added, "duplicates": report.duplicates, "refused": refused})

    @extend_schema(summary="All feeds as OPML", responses={(200, OPML): OpenApiTypes.BINARY}, filters=False)
    @action(
        detail=False,
        url_path="export-opml",
        pagination_class=None,
        renderer_classes=[OpmlRenderer, JSONRenderer],
    )
    def export_opml(self, request: Request) -> Response:
        headers = {"Content-Disposition": 'attachment; filename="feeds.opml"'}
        return Response(export_opml(), content_type=OPML, headers=headers)


class CategoryViewSet(viewsets.ModelViewSet[Category]):
    """Categories: folders of feeds, which nest. Deleting one keeps its feeds, without category."""

    queryset = Category.objects.annotate(feed_count=Count("feeds"))
    serializer_class = CategorySerializer
    permission_classes = [EditorWrites]
    filterset_fields = ["parent", "name"]
    ordering_fields = ["id", "name"]
    ordering = ["id"]


class RetrievalViewSet(viewsets.ReadOnlyModelViewSet[Retrieval]):
    """The log of visits, newest first."""

    queryset = visible(Retrieval.objects.all(), "feed__owner_id")

    serializer_class = RetrievalSerializer
    pagination_class = KeysetPages
    filterset_class = RetrievalFilter
    ordering_fields = ["at", "id"]
    ordering = ["-at"]


def _give_address(feed: Feed, url: str) -> None:
    """Move a feed to another address that people gave. Raises ValidationError."""
    try:
        address = checked_address(take_login(url, feed.owner_id))
    except (BadUrl, LoginError) as error:
        raise ValidationError({"url": [str(error)]}) from error
    existing = known_as(address.canonical)
    if existing is not None and existing.pk != feed.pk:
        raise ValidationError({"url": [f"{address.url}: already known as feed {existing.pk}"]})
    move_to(feed, address.url)
    wake_controller()


def _owner_by_login(person: User, data: dict[str, Any]) -> int | None:
    """Keep the login of a new feed, and return to whom it belongs. Raises ValidationError."""
    bare, pair = without_login(data["url"])
    login = data.get("login")
    if not login and pair is None:
        return None
    owner = None if data["shared"] else person.pk
    if login:
        try:
            keep_login(bare, login["kind"], login["secret"], login.get("name", ""), owner)
        except (BadUrl, LoginError) as error:
            raise ValidationError({"login": [str(error)]}) from error
    return owner


def _give_rules(feed: Feed, rules: dict[str, str]) -> None:
    """Choose another list of a page. Raises ValidationError."""
    try:
        choose_list(feed, rules)
    except (SelectorFault, BadUrl) as fault:
        raise ValidationError({"rules": [str(fault)]}) from fault
    wake_controller()


def _wanted(query: QueryDict) -> WantedSources:
    """Return what a look is asked for. Raises ValidationError."""
    kind = query.get("kind", "")
    if kind not in ("", PAGE, DATA, FEED):
        raise ValidationError({"kind": [f"There is no kind {kind!r} to look for."]})
    rules = {part: query[part] for part in PARTS if query.get(part)}
    try:
        checked = checked_rules(kind or PAGE, rules) if rules else {}
    except SelectorFault as fault:
        raise ValidationError({"rules": [str(fault)]}) from fault
    return WantedSources(
        kind or (PAGE if rules else ""), rules_in(checked), query.get("all", "") not in ("", "0", "false")
    )


def _sent_opml(request: Request) -> bytes:
    """Return the OPML of a request: the file `file` of a form, or the body. Raises OpmlError."""
    if isinstance(request.data, bytes):
        return request.data
    file = request.FILES.get("file")
    if file is None:
        raise OpmlError("no file was sent: send it as the body, or as `file` of a form")
    return cast(bytes, file.read(MAX_BYTES + 1))
