"""The REST API of the pipeline and of its graph. Everyone signed in reads, staff changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from crawler.engine.wake import wake_controller
from crawler.isolation.calls import ProgramError
from crawler.pipeline.charts import progress
from crawler.pipeline.documents import resend
from crawler.pipeline.export import FORMS, ExportError, export_response
from crawler.pipeline.graph_search import search, term_of
from crawler.pipeline.models import (
    Document,
    HttpTransformer,
    LinkQuery,
    SavedQuery,
    Stylesheet,
    UriFilter,
)
from crawler.pipeline.report import phases
from crawler.pipeline.serializers import (
    AgainSerializer,
    DocumentSerializer,
    HitSerializer,
    HttpTransformerSerializer,
    LinkQuerySerializer,
    PatternSerializer,
    PhaseSerializer,
    ProgressSerializer,
    QuadSerializer,
    QuestionSerializer,
    SavedQuerySerializer,
    SentSerializer,
    StylesheetSerializer,
    TrialAnswerSerializer,
    TrialSerializer,
    UriFilterSerializer,
)
from crawler.pipeline.sparql.questions import QUESTIONS
from crawler.pipeline.store import quads
from crawler.pipeline.stylesheet_trials import document_for, read_again, tried
from crawler.web.filters import search_problem
from crawler.web.permissions import OperatorWrites
from crawler.web.roles import OPERATOR, is_at_least

MAX_QUADS = 10_000
_JSON_LD_NODES = {"type": "array", "items": {"type": "object"}}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": MAX_QUADS}


@extend_schema_view(list=extend_schema(summary="Documents"), retrieve=extend_schema(summary="One document"))
class DocumentViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Document]):
    """Documents on their way through the pipeline."""

    queryset = Document.objects.defer("triples")
    serializer_class = DocumentSerializer
    permission_classes = [OperatorWrites]
    filterset_fields = ["state", "type", "source", "failed_phase", "failure", "crawl"]
    search_fields = ["=url"]
    ordering_fields = ["id", "fetched", "changed", "quads"]
    ordering = ["-id"]

    @extend_schema(
        summary="Send dead letters through again", request=AgainSerializer, responses={200: SentSerializer}
    )
    @action(detail=False, methods=["post"])
    def again(self, request: Request) -> Response:
        request_data = AgainSerializer(data=request.data)
        request_data.is_valid(raise_exception=True)
        count = resend(Document.objects.filter(**request_data.validated_data))
        wake_controller()
        return Response({"sent": count})


class LinkQueryViewSet(viewsets.ModelViewSet[LinkQuery]):
    """The queries of the phase extract; changes hold from the next batch on."""

    queryset = LinkQuery.objects.all()
    serializer_class = LinkQuerySerializer
    permission_classes = [OperatorWrites]
    ordering = ["id"]


class StylesheetViewSet(viewsets.ModelViewSet[Stylesheet]):
    """Stylesheets beside our own; changes hold for documents that are transformed from then on."""

    queryset = Stylesheet.objects.all()
    serializer_class = StylesheetSerializer
    permission_classes = [OperatorWrites]
    ordering = ["id"]

    @extend_schema(
        summary="Try a stylesheet on a document; nothing is kept",
        request=TrialSerializer,
        responses={200: TrialAnswerSerializer},
    )
    @action(detail=False, methods=["post"])
    def trial(self, request: Request) -> Response:
        request_data = TrialSerializer(data=request.data)
        request_data.is_valid(raise_exception=True)
        trial_request = request_data.validated_data
        document = document_for([], "", trial_request["document"])
        if document is None:
            raise ValidationError({"document": ["No such document was read here."]})
        try:
            triples = tried(trial_request["content"], document)
        except ProgramError as error:
            raise ValidationError({"content": [error.detail or error.kind]}) from error
        statements = [" ".join(term.n3() for term in triple) + " ." for triple in triples]
        return Response({"document": document.url, "statements": statements})

    @extend_schema(
        summary="Use a stylesheet on documents that were read already",
        request=None,
        responses={200: SentSerializer},
    )
    @action(detail=True, methods=["post"])
    def again(self, request: Request, pk: str | None = None) -> Response:
        count = read_again(self.get_object())
        wake_controller()
        return Response({"sent": count})


class HttpTransformerViewSet(viewsets.ModelViewSet[HttpTransformer]):
    """Transformers behind HTTP; changes hold for documents that are transformed from then on."""

    queryset = HttpTransformer.objects.all()
    serializer_class = HttpTransformerSerializer
    permission_classes = [OperatorWrites]
    ordering = ["id"]


class UriFilterViewSet(viewsets.ModelViewSet[UriFilter]):
    """Rules on the addresses that extract found; changes hold from the next batch on."""

    queryset = UriFilter.objects.all()
    serializer_class = UriFilterSerializer
    permission_classes = [OperatorWrites]
    ordering = ["id"]


class AuthorOrOperatorDeletes(IsAuthenticated):
    """A permission that lets everybody save queries, and their authors and operators change them."""

    def has_object_permission(self, request: Request, view: APIView, obj: SavedQuery) -> bool:
        """Return whether the request's user may do this with the query."""
        return (
            request.method in SAFE_METHODS
            or obj.author_id == request.user.pk
            or is_at_least(request.user, OPERATOR)
        )


class SavedQueryViewSet(viewsets.ModelViewSet[SavedQuery]):
    """SPARQL queries under names."""

    queryset = SavedQuery.objects.select_related("author")
    serializer_class = SavedQuerySerializer
    permission_classes = [AuthorOrOperatorDeletes]
    ordering = ["id"]

    def perform_create(self, serializer: BaseSerializer[SavedQuery]) -> None:
        serializer.save(author=self.request.user)


class PhasesView(APIView):
    """Queues and speed of the phases."""

    @extend_schema(summary="The pipeline's phases", responses=PhaseSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response([asdict(phase) for phase in phases()])


class ProgressView(APIView):
    """Documents that each phase has done over time."""

    @extend_schema(
        summary="The phases' progress in the last 24 hours, in steps of ten minutes",
        responses=ProgressSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(ProgressSerializer(progress(datetime.now(UTC))).data)


class QuadsView(APIView):
    """Quads of the graph by any of its sixteen access patterns."""

    @extend_schema(
        summary="Quads that match a pattern",
        parameters=[
            OpenApiParameter(name, description="A term as N-Triples spells it, or a bare address.")
            for name in ("subject", "predicate", "object", "context")
        ]
        + [OpenApiParameter("limit", _LIMIT, description=f"At most {MAX_QUADS}; 1000 where not given.")],
        responses=QuadSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        parameters = request.query_params
        try:
            limit = int(parameters.get("limit") or 1000)
        except ValueError as error:
            raise ValidationError(str(error)) from error
        if not 1 <= limit <= MAX_QUADS:
            raise ValidationError(f"limit must be from 1 to {MAX_QUADS}")
        return _matching_quads(parameters, limit)

    @extend_schema(
        summary="Quads that match a pattern, for terms too long for an address",
        request=PatternSerializer,
        responses=QuadSerializer(many=True),
    )
    def post(self, request: Request) -> Response:
        pattern = PatternSerializer(data=request.data)
        pattern.is_valid(raise_exception=True)
        return _matching_quads(pattern.validated_data, pattern.validated_data["limit"])


def _matching_quads(parameters: Mapping[str, Any], limit: int) -> Response:
    try:
        terms = [
            term_of(parameters[name]) if parameters.get(name) else None
            for name in ("subject", "predicate", "object", "context")
        ]
    except ValueError as error:
        raise ValidationError(str(error)) from error
    return Response(QuadSerializer(quads(*terms, limit=limit), many=True).data)


class ExportView(APIView):
    """Graphs as a file."""

    @extend_schema(
        summary="Graphs of a document, a site, a feed or a day as a file",
        parameters=[
            OpenApiParameter("as", enum=list(FORMS), description="nq where not given."),
            *(OpenApiParameter(name) for name in ("url", "host", "feed", "day")),
        ],
        responses={
            (200, form.media_type): _JSON_LD_NODES if name == "jsonld" else OpenApiTypes.BINARY
            for name, form in FORMS.items()
        },
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        try:
            return export_response(request.query_params.dict(), request.query_params.get("as", "nq"))
        except ExportError as error:
            raise ValidationError(str(error)) from error


class QuestionsView(APIView):
    """The questions that have pages of their own."""

    @extend_schema(
        summary="Questions to the graph, with their SPARQL", responses=QuestionSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        return Response(QuestionSerializer(QUESTIONS.values(), many=True).data)


class SearchView(APIView):
    """Words in the graph's literals."""

    @extend_schema(
        summary="Quads whose literals have these words",
        parameters=[OpenApiParameter("q", description="Words, as web searches take them.", required=True)],
        responses=HitSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        if "q" not in request.query_params:
            raise ValidationError({"q": ["Words are wanted."]})
        words = request.query_params["q"]
        if problem := search_problem(words):
            raise ValidationError({"q": [problem]})
        return Response(HitSerializer(search(words), many=True).data)
