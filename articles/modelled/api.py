"""The REST API of questions to a language model: the signed-in person's own, and nobody else's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.enrichment.models import Story
from articles.modelled.asking import CannotAskError, ask_about, cancel
from articles.modelled.kinds import NAMES
from articles.modelled.models import ModelTask
from articles.modelled.questions import ask_about_story, ask_archive, ask_brief
from articles.modelled.sources import keys_in
from articles.modelled.wording import checked_sentences
from articles.models import Article, Subscriber
from articles.personal.following import subscriber_of
from crawler.web.fields import ReasonCodeField, TextField

KEYS = 2**63 - 1


class NewModelTaskSerializer(serializers.Serializer[Any]):
    """A question: about an article, about a story, to the archive, or for the morning brief.

    Each kind needs the field of what it is about: `article`, `story`, `question`, or none (`brief`).
    `language` is that of a summary or translation: a code such as `de` or `pt-br`.
    """

    # Rules for a page are asked for where the page is looked at.
    kind = serializers.ChoiceField(choices=[name for name in NAMES if name != "selectors"])
    article = serializers.IntegerField(min_value=1, max_value=KEYS, required=False)
    story = serializers.IntegerField(min_value=1, max_value=KEYS, required=False)
    question = TextField(max_length=300, required=False)
    language = TextField(max_length=20, required=False, allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that what the question is about is given."""
        needed = {"answer": "question", "story": "story", "brief": "kind"}.get(attrs["kind"], "article")
        if not attrs.get(needed):
            raise ValidationError({needed: [_("This field is required.")]})
        return attrs


class AnswerSentenceSerializer(serializers.Serializer[Any]):
    """A sentence of an answer, and the articles that it stands on; without any, it has no source."""

    text = serializers.CharField()
    sources = serializers.ListField(child=serializers.IntegerField())
    is_corrected = serializers.BooleanField(help_text="Its quotation is from other articles than it said.")


class ModelTaskSerializer(serializers.ModelSerializer[ModelTask]):
    """A question to the model, with its answer once `state` is `done`. Answers are plain text or Markdown.

    `answer` is as the model wrote it. Of answers from several `articles`, `sentences` are checked: each with
    the articles it stands on, and without quotations that are in none of them.
    """

    failure_code = ReasonCodeField(source="failure")
    question = serializers.SerializerMethodField()
    story = serializers.SerializerMethodField()
    articles = serializers.SerializerMethodField()
    sentences = serializers.SerializerMethodField()

    def get_question(self, row: ModelTask) -> str:
        return str(row.subject.get("question", ""))

    def get_story(self, row: ModelTask) -> int | None:
        story = row.subject.get("story")
        return story if isinstance(story, int) else None

    def get_articles(self, row: ModelTask) -> list[int]:
        return keys_in(row.subject)

    @extend_schema_field(AnswerSentenceSerializer(many=True))
    def get_sentences(self, row: ModelTask) -> list[dict[str, Any]]:
        keys = keys_in(row.subject)
        return [
            {
                "text": sentence.text,
                "sources": [keys[number - 1] for number in sentence.sources],
                "is_corrected": sentence.is_corrected,
            }
            for sentence in checked_sentences(row)
        ]

    class Meta:
        model = ModelTask
        fields = [
            "id", "kind", "article", "language", "state", "model", "created", "started", "finished",
            "received", "is_cut", "question", "story", "articles", "answer", "sentences",
            "failure", "failure_code",
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
        summary="Ask about an article, about a story, or your archive",
        request=NewModelTaskSerializer,
        responses={
            202: ModelTaskSerializer,
            404: OpenApiResponse(
                {"$ref": "#/components/schemas/Refused"}, "There is no model, or no such row."
            ),
        },
    )
    def create(self, request: Request) -> Response:
        """Ask; the answer comes later, or at once where the same was asked before."""
        serializer = NewModelTaskSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        try:
            row = _asked(subscriber_of(request.user), data, datetime.now(UTC))
        except CannotAskError as error:
            raise ValidationError({"detail": [str(error)]}) from error
        return Response(self.get_serializer(row).data, status=202)

    @extend_schema(summary="Cancel a question", request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Cancel a question that has no answer yet; one that has an end stays as it is."""
        cancel(self.get_object(), datetime.now(UTC))
        return Response(status=204)


def _asked(subscriber: Subscriber, data: Mapping[str, Any], now: datetime) -> ModelTask:
    """Ask what a program gave. Raises Http404, CannotAskError, LimitReached."""
    if data["kind"] == "answer":
        return ask_archive(subscriber, data["question"], now)
    if data["kind"] == "story":
        return ask_about_story(subscriber, get_object_or_404(Story, pk=data["story"]), now)
    if data["kind"] == "brief":
        return ask_brief(subscriber, now)
    rows = Article.objects.select_related("page").defer("search", "page__html")
    article = get_object_or_404(rows, pk=data["article"])
    return ask_about(subscriber, data["kind"], article, data.get("language", ""), now)
