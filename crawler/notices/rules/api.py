"""The REST API of rules about articles: they are tried, kept, applied to what is there, and undone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.listing import in_order
from articles.personal.labels import MAX_LABELS, label_named
from crawler.notices.api import OwnRuleSerializer, OwnTargetsField
from crawler.notices.models import ARTICLE_CONDITIONS, DEED_FIELDS, Rule, Target
from crawler.notices.rules.applying import preview
from crawler.notices.rules.deeds import undo
from crawler.notices.rules.foreign import rules_of
from crawler.notices.rules.taking import MAX_RULES, take_foreign
from crawler.notices.rules.wording import rule_in_words
from crawler.notices.tasks import apply_rule
from crawler.notices.views import MAX_TARGETS
from crawler.web.fields import TextField
from crawler.web.permissions import person_of

SHOWN = 50
"""Articles that a preview names."""
MAX_FOREIGN = 200_000


class ArticleRuleSerializer(OwnRuleSerializer):
    """A rule about articles: conditions, all of which must hold, and what is done."""

    in_words = serializers.SerializerMethodField(help_text="The rule as a sentence, in your language.")
    hits = serializers.IntegerField(
        source="hit_count", read_only=True, help_text="Articles that it has done something to."
    )
    deeds = serializers.ListField(
        child=serializers.ChoiceField(choices=Rule.Deed.choices),
        allow_empty=False,
        max_length=len(Rule.Deed),
    )
    labels = serializers.ListField(
        child=TextField(max_length=100), required=False, max_length=MAX_LABELS, help_text="For label."
    )
    targets = OwnTargetsField(
        child_relation=serializers.PrimaryKeyRelatedField(queryset=Target.objects.none()),
        required=False,
        max_length=MAX_TARGETS,
        help_text="Places that are told of the article, too.",
    )

    class Meta:
        model = Rule
        fields = [
            "id", "name", "in_words", "feed", "folder", "topic", "query", "words", "without_words",
            *ARTICLE_CONDITIONS, *DEED_FIELDS, "targets", "paused", "created", "hits",
        ]  # fmt: skip
        read_only_fields = ["id", "created"]

    def get_in_words(self, rule: Rule) -> str:
        return rule_in_words(rule)

    def validate_labels(self, labels: list[str]) -> list[str]:
        return sorted({name for label in labels if (name := label_named(label))})

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require labels for the deed that gives them; labels alone are that deed."""
        deeds = set(attrs.get("deeds", self.instance.deeds if self.instance else ()))
        labels = attrs.get("labels", self.instance.labels if self.instance else ())
        if attrs.get("labels"):
            deeds.add(Rule.Deed.LABEL)
        if Rule.Deed.LABEL in deeds and not labels:
            raise serializers.ValidationError({"labels": "say which labels the article gets"})
        return attrs | {"deeds": [deed for deed in Rule.Deed.values if deed in deeds]}


class HitArticleSerializer(serializers.Serializer[Any]):
    """An article that a rule would hit."""

    id = serializers.IntegerField()
    title = serializers.CharField()
    feed = serializers.IntegerField()
    published = serializers.DateTimeField()


class PreviewSerializer(serializers.Serializer[Any]):
    """The articles of the last 30 days that a rule would hit: how many of how many, the newest named."""

    looked_at = serializers.IntegerField()
    hits = serializers.IntegerField()
    articles = HitArticleSerializer(many=True)


class AppliedSerializer(serializers.Serializer[Any]):
    """The time of what an application sets: undo takes it back by it."""

    at = serializers.DateTimeField()


class UndoSerializer(serializers.Serializer[Any]):
    """The time of the application that is undone; all that the rule did without it."""

    at = serializers.DateTimeField(required=False)


class UndoneSerializer(serializers.Serializer[Any]):
    """The number of articles that are as they were."""

    undone = serializers.IntegerField()


class ForeignFiltersSerializer(serializers.Serializer[Any]):
    """Filters of another program, as it stores or exports them."""

    program = serializers.ChoiceField(choices=["miniflux", "freshrss", "newsblur"])
    text = TextField(max_length=MAX_FOREIGN)
    feed = serializers.IntegerField(required=False, min_value=1, help_text="For this feed alone.")
    folder = TextField(required=False, max_length=400, help_text="For this folder alone.")
    rehearsal = serializers.BooleanField(default=False, help_text="Say what they become, and keep nothing.")


class TakenFiltersSerializer(serializers.Serializer[Any]):
    """The rules that filters became, and those that have no equal here."""

    rules = serializers.ListField(child=serializers.DictField())
    left_out = serializers.ListField(child=serializers.CharField())


@extend_schema_view(
    list=extend_schema(summary="Rules about articles"),
    create=extend_schema(summary="Make a rule"),
    retrieve=extend_schema(summary="One rule"),
    update=extend_schema(summary="Change a rule"),
    partial_update=extend_schema(summary="Change parts of a rule"),
    destroy=extend_schema(summary="Delete a rule; what it did stays"),
)
class ArticleRuleViewSet(viewsets.ModelViewSet[Rule]):
    """The rules about articles of the person who is signed in; nobody sees another's."""

    queryset = Rule.objects.none()
    serializer_class = ArticleRuleSerializer
    filterset_fields = ["paused"]
    ordering = ["id"]

    def get_queryset(self) -> QuerySet[Rule]:
        rules = Rule.objects.acting().filter(user=person_of(self.request))
        valid = Count("hits", filter=Q(hits__undone__isnull=True))
        return rules.select_related("feed", "topic").prefetch_related("targets").annotate(hit_count=valid)

    def perform_create(self, serializer: serializers.BaseSerializer[Rule]) -> None:
        """Store a rule, which looks at what comes from now on."""
        user, now = person_of(self.request), datetime.now(UTC)
        if Rule.objects.filter(user=user).count() >= MAX_RULES:
            raise ValidationError({"detail": f"{MAX_RULES} rules are enough"})
        serializer.save(user=user, when=Rule.When.ARTICLE, looked=now, acted=now)

    @extend_schema(summary="What a new rule would hit", responses={200: PreviewSerializer})
    @action(detail=False, methods=["post"], url_path="preview")
    def try_out(self, request: Request) -> Response:
        """Return what a rule would hit, without keeping it."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = {name: value for name, value in serializer.validated_data.items() if name != "targets"}
        rule = Rule(user=person_of(request), when=Rule.When.ARTICLE, **fields)
        return Response(_previewed(rule))

    @extend_schema(summary="What the rule would hit", responses={200: PreviewSerializer})
    @action(detail=True, methods=["get"])
    def preview(self, request: Request, pk: str) -> Response:
        """Return what the rule would hit of the last 30 days."""
        return Response(_previewed(self.get_object()))

    @extend_schema(summary="Apply it to what is there", request=None, responses={202: AppliedSerializer})
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, pk: str) -> Response:
        """Apply the rule to the articles that are there, soon."""
        now = datetime.now(UTC)
        apply_rule.delay(self.get_object().pk, now.timestamp())
        return Response({"at": now}, status=202)

    @extend_schema(summary="Undo what it did", request=UndoSerializer, responses={200: UndoneSerializer})
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Undo all that the rule did, or what it did at one time."""
        serializer = UndoSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        at = serializer.validated_data.get("at")
        return Response({"undone": undo(self.get_object(), datetime.now(UTC), at)})

    @extend_schema(
        summary="Take filters of another program over",
        request=ForeignFiltersSerializer,
        responses={200: TakenFiltersSerializer, 201: TakenFiltersSerializer},
    )
    @action(detail=False, methods=["post"], url_path="import", filterset_fields=[])
    def take(self, request: Request) -> Response:
        """Make rules of another program's filters, or with `rehearsal` say what they would become."""
        serializer = ForeignFiltersSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        foreign = rules_of(fields["program"], fields["text"])
        outcome = {"rules": [rule.as_facts() for rule in foreign.rules], "left_out": foreign.left_out}
        if fields["rehearsal"]:
            return Response(outcome)
        take_foreign(person_of(request), foreign, fields.get("feed"), fields.get("folder", ""))
        return Response(outcome, status=201)


def _previewed(rule: Rule) -> dict[str, Any]:
    looked_at, keys = preview(rule, datetime.now(UTC))
    articles = [
        {"id": row.pk, "title": str(row), "feed": row.feed_id, "published": row.published}
        for row in in_order(keys[:SHOWN])
    ]
    return {"looked_at": looked_at, "hits": len(keys), "articles": articles}
