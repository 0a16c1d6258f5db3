"""The REST API of questions to a language model: the signed-in person's own, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.modelled.asking import CannotAskError, ask_about, cancel
from articles.modelled.kinds import NAMES
from articles.modelled.models import ModelTask
from articles.models import Article
from articles.personal.following import subscriber_of
from crawler.web.fields import ReasonCodeField, TextField

KEYS = 2**63 - 1


class NewModelTaskSerializer(serializers.Serializer[Any]):
    """A question about an article. `language` is that of the answer: a code such as `de` or `pt-br`."""

    kind = serializers.ChoiceField(choices=NAMES)
    article = serializers.IntegerField(min_value=1, max_value=KEYS)
    language = TextField(max_length=20, required=False, allow_blank=True)


class ModelTaskSerializer(serializers.ModelSerializer[ModelTask]):
    """A question to the model, with its answer once `state` is `done`. Answers are plain text or Markdown."""

    failure_code = ReasonCodeField(source="failure")

    class Meta:
        model = ModelTask
        fields = [
            "id", "kind", "article", "language", "state", "model", "created", "started", "finished",
            "received", "is_cut", "answer", "failure", "failure_code",
        ]  # fmt: skip
        read_only_fields = fields


@extend_schema_view(
    list=extend_schema(summary="Your questions to the language model"),
    retrieve=extend_schema(summary="One question, and its answer"),
)
class ModelTaskViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[ModelTask]):
    """Questions to the language model, where there is one (MODEL_URL); 404 elsewhere."""

    queryset = ModelTask.objects.none()
    serializer_class = ModelTaskSerializer
    lookup_value_regex = r"\d{1,18}"
    filterset_fields = ["kind", "state", "article"]
    ordering_fields = ["created", "id"]
    ordering = ["-created"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not settings.MODEL_URL:
            raise Http404("there is no language model")

    def get_queryset(self) -> QuerySet[ModelTask]:
        return ModelTask.objects.filter(subscriber=subscriber_of(self.request.user)).defer("prompt")

    @extend_schema(
        summary="Ask about an article",
        request=NewModelTaskSerializer,
        responses={202: ModelTaskSerializer},
    )
    def create(self, request: Request) -> Response:
        """Ask; the answer comes later, or at once where the same was asked before."""
        serializer = NewModelTaskSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        given = serializer.validated_data
        rows = Article.objects.select_related("page").defer("search", "page__html")
        article = get_object_or_404(rows, pk=given["article"])
        subscriber, language = subscriber_of(request.user), given.get("language", "")
        try:
            row = ask_about(subscriber, given["kind"], article, language, datetime.now(UTC))
        except CannotAskError as error:
            raise ValidationError({"detail": [str(error)]}) from error
        return Response(self.get_serializer(row).data, status=202)

    @extend_schema(summary="Cancel a question", request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Cancel a question that has no answer yet; one that has an end stays as it is."""
        cancel(self.get_object(), datetime.now(UTC))
        return Response(status=204)
