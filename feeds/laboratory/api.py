"""The REST API of the policy laboratory. Everyone signed in reads, staff starts and ends experiments."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from crawler.web.parsers import JSONParser, MultiPartParser
from crawler.web.permissions import OperatorWrites
from feeds.laboratory.experiments import MAX_BYTES, begin, checked_trace, stop
from feeds.laboratory.models import Experiment
from feeds.laboratory.results import as_json, budgets_for
from feeds.laboratory.serializers import (
    ExperimentDetailSerializer,
    ExperimentSerializer,
    NeededSerializer,
    OutcomeSerializer,
)
from feeds.replay.trace import Trace, TraceError

_MINUTES = {
    "type": "number",
    "minimum": 0,
    "exclusiveMinimum": True,
    "maximum": 1e6,
    "exclusiveMaximum": True,
}
DELAY = OpenApiParameter(
    "delay", _MINUTES, description="A mean delay in minutes: `needed` says what budget it takes."
)


@extend_schema_view(
    list=extend_schema(summary="Experiments of the policy laboratory"),
    destroy=extend_schema(summary="Delete an experiment, running or not"),
)
class ExperimentViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Experiment],
):
    """Policies replayed on a trace: start, follow, read, stop, delete."""

    queryset = Experiment.objects.defer("trace", "subscribers")
    serializer_class = ExperimentSerializer
    permission_classes = [OperatorWrites]
    parser_classes = [JSONParser, MultiPartParser]
    filterset_fields = ["state", "source"]
    ordering_fields = ["id", "created", "finished"]
    ordering = ["-id"]

    @extend_schema(
        summary="Start an experiment", request=ExperimentSerializer, responses={201: ExperimentSerializer}
    )
    def create(self, request: Request) -> Response:
        serializer = ExperimentSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        file = fields.pop("file", None)
        try:
            trace = _uploaded(file) if fields.get("source") == Experiment.Source.UPLOAD else None
            experiment = begin(Experiment(**fields, started_by_id=request.user.pk), trace)
        except TraceError as error:
            raise ValidationError({"file" if file else "source": [str(error)]}) from error
        experiment.refresh_from_db(fields=["created"])
        return Response(ExperimentSerializer(experiment).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        summary="One experiment with what it found so far",
        parameters=[DELAY],
        responses={200: ExperimentDetailSerializer},
    )
    def retrieve(self, request: Request, pk: str) -> Response:
        experiment = self.get_object()
        outcomes = list(experiment.outcomes.all())
        delay = _delay(request.query_params.get("delay"))
        needed = budgets_for(experiment, outcomes, delay) if delay else []
        return Response(
            {
                **ExperimentSerializer(experiment).data,
                "replay": as_json(experiment, outcomes),
                "outcomes": OutcomeSerializer(outcomes, many=True).data,
                "needed": NeededSerializer(needed, many=True).data,
            }
        )

    @extend_schema(summary="Stop an experiment", request=None, responses={200: ExperimentSerializer})
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        experiment = self.get_object()
        stop(experiment)
        return Response(ExperimentSerializer(self.get_object()).data)


def _uploaded(file: Any) -> Trace:
    if file is None:
        raise TraceError("send the trace as the field file")
    return checked_trace(file.name, file.read(MAX_BYTES + 1))


def _delay(text: str | None) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise ValidationError({"delay": [f"{text[:40]!r} is no number of minutes"]})
    return value
