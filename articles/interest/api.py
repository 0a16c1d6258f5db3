"""The REST API of interests: the signed-in subscriber's own, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.interest import feedback
from articles.interest.export import export
from articles.interest.learned import weight_rows
from articles.interest.log import delete_all, reset
from articles.interest.models import Event, Interest
from articles.interest.scoring import explain
from articles.interest.serializers import (
    ExplanationSerializer,
    FeedbackSerializer,
    GivenSerializer,
    InterestEventSerializer,
    InterestSerializer,
    ResetSerializer,
    TuneSerializer,
)
from articles.interest.tuning import mute, switch_learning, tune
from articles.personal.following import subscriber_of
from crawler.web.pagination import KeysetPages


class InterestViewSet(viewsets.ViewSet):
    """The learned interests of the signed-in subscriber."""

    @extend_schema(summary="What was learned", responses=InterestSerializer)
    def list(self, request: Request) -> Response:
        subscriber = subscriber_of(request.user)
        weights = weight_rows(subscriber, datetime.now(UTC))
        row = Interest.objects.filter(pk=subscriber.pk).first()
        plain = {
            "learned": row.learned if row else 0,
            "changed": row.changed if row else None,
            "weights": weights,
            "forgotten": sorted(row.forgotten) if row else [],
            "set_by_hand": row.tuned if row else {},
            "muted": sorted(row.muted) if row else [],
            "learns": row.learns if row else True,
        }
        return Response(InterestSerializer(plain).data)

    @extend_schema(
        summary="Move a slider, mute, or switch learning",
        request=TuneSerializer,
        responses=InterestSerializer,
    )
    @action(detail=False, methods=["post"])
    def tune(self, request: Request) -> Response:
        """Set the step of a feature (null: what was learned), mute it, or switch learning on or off."""
        subscriber, now = subscriber_of(request.user), datetime.now(UTC)
        serializer = TuneSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        feature = data.get("feature", "")
        try:
            if "step" in data:
                tune(subscriber, {feature: data["step"]}, now)
        except ValueError as error:
            raise ValidationError({"step": [str(error)]}) from None
        if "muted" in data:
            mute(subscriber, feature, now, muted=data["muted"])
        if "learns" in data:
            switch_learning(subscriber, now, learns=data["learns"])
        return self.list(request)

    @extend_schema(summary="Unlearn everything", request=None, responses=ResetSerializer)
    @action(detail=False, methods=["post"])
    def reset(self, request: Request) -> Response:
        undone = reset(subscriber_of(request.user), datetime.now(UTC))
        return Response(ResetSerializer({"undone": undone}).data)

    @extend_schema(summary="Delete the log and all weights", request=None, responses={204: None})
    @action(detail=False, methods=["post"], url_path="delete", url_name="delete")
    def delete_everything(self, request: Request) -> Response:
        delete_all(subscriber_of(request.user))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(summary="Weights and log in one object", responses=OpenApiTypes.OBJECT)
    @action(detail=False, methods=["get"])
    def export(self, request: Request) -> Response:
        return Response(export(subscriber_of(request.user), datetime.now(UTC)))

    @extend_schema(
        summary="Why an article has its score",
        responses=ExplanationSerializer,
        operation_id="interest_why",
    )
    @action(detail=False, methods=["get"], url_path=r"why/(?P<article>\d{1,18})")
    def why(self, request: Request, article: str) -> Response:
        explanation = explain(subscriber_of(request.user), int(article), datetime.now(UTC))
        if explanation is None:
            raise NotFound
        return Response(ExplanationSerializer(explanation).data)


@extend_schema_view(
    list=extend_schema(summary="The subscriber's own log"), retrieve=extend_schema(summary="One event")
)
class InterestEventViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Event]):
    """The actions of the signed-in subscriber, newest first; nobody sees another's."""

    queryset = Event.objects.all()
    serializer_class = InterestEventSerializer
    pagination_class = KeysetPages
    filterset_fields = ["kind", "article"]
    ordering_fields = ["id"]
    ordering = ["-id"]

    def get_queryset(self) -> QuerySet[Event]:
        return super().get_queryset().filter(subscriber__user=cast(User, self.request.user))

    @extend_schema(
        summary="Say more, less, hide or save", request=FeedbackSerializer, responses={200: GivenSerializer}
    )
    def create(self, request: Request) -> Response:
        return self._said(request, feedback.give)

    @extend_schema(
        summary="Take back what was said of an article",
        request=FeedbackSerializer,
        responses={200: GivenSerializer},
    )
    @action(detail=False, methods=["post"], url_path="take-back")
    def take_back(self, request: Request) -> Response:
        return self._said(request, feedback.take_back)

    @extend_schema(summary="Undo one event", request=None, responses=InterestEventSerializer)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        event = self.get_object()
        feedback.undo_event(event, datetime.now(UTC))
        event.refresh_from_db()
        return Response(self.get_serializer(event).data)

    def _said(self, request: Request, change: Any) -> Response:
        serializer = FeedbackSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        subscriber, article = subscriber_of(request.user), serializer.validated_data["article"].pk
        change(subscriber, article, serializer.validated_data["feedback"], datetime.now(UTC))
        words = sorted(feedback.given(subscriber, [article])[article])
        return Response(GivenSerializer({"article": article, "given": words}).data)
