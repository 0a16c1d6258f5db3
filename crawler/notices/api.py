"""The REST API of notifications: rules, targets and messages of the person who is signed in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.models import Topic
from crawler.notices.forms import TargetForm
from crawler.notices.models import RULE_FIELDS, Notice, Notification, Rule, Target
from crawler.notices.rules.matching import check_expression
from crawler.notices.targets import KINDS
from crawler.notices.tasks import send
from crawler.notices.views import MAX_RULES, MAX_TARGETS
from crawler.notices.wording import unknown_places
from crawler.notices.writing import write_test
from crawler.text.patterns import PatternError
from crawler.web.fields import RowSerializer, TextField
from crawler.web.permissions import person_of
from crawler.web.roles import OPERATOR, is_at_least

NO_PLACE = "choose where messages go: without a place nobody is told"


@extend_schema_field({"type": "array", "items": {"type": "integer"}, "maxItems": MAX_TARGETS})
class OwnTargetsField(serializers.ManyRelatedField):
    """The targets of a rule, among those of the request's user; at most as many as one person may have."""

    def __init__(self, *args: Any, max_length: int, **options: Any) -> None:
        super().__init__(*args, **options)
        self.max_length = max_length

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, list) and len(data) > self.max_length:
            raise serializers.ValidationError(f"at most {self.max_length} places")
        return super().to_internal_value(data)


class OwnRuleSerializer(RowSerializer[Rule]):
    """Fields of a rule that belongs to the request's user, whatever it does."""

    def get_fields(self) -> dict[str, Any]:
        """Offer the targets and topics of the request's user alone."""
        fields: dict[str, Any] = super().get_fields()
        request = self.context.get("request")
        if request is not None and request.user.is_authenticated:
            fields["targets"].child_relation.queryset = Target.objects.filter(user=request.user)
            fields["topic"].queryset = Topic.objects.filter(subscriber__user=request.user)
        return fields

    def validate_expression(self, expression: str) -> str:
        return _checked_expression(expression)

    def validate_without_expression(self, expression: str) -> str:
        return _checked_expression(expression)


def _checked_expression(expression: str) -> str:
    """Return an expression that can be used; an error of the field says what is wrong with another."""
    try:
        check_expression(expression)
    except PatternError as error:
        raise serializers.ValidationError(str(error)) from error
    return expression


class RuleSerializer(OwnRuleSerializer):
    """A rule: when something happens, then a message to each target."""

    targets = OwnTargetsField(
        child_relation=serializers.PrimaryKeyRelatedField(queryset=Target.objects.none()),
        allow_empty=False,
        max_length=MAX_TARGETS,
        error_messages=dict.fromkeys(("required", "empty"), NO_PLACE),
    )

    class Meta:
        model = Rule
        fields = ["id", *RULE_FIELDS, "paused", "created"]
        read_only_fields = ["id", "created"]

    def validate_when(self, when: str) -> str:
        if when in Rule.OPERATORS and not is_at_least(self.context["request"].user, OPERATOR):
            raise serializers.ValidationError("only operators are told of this")
        return when

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require the number of a condition that compares with one."""
        values = {
            name: attrs.get(name, getattr(self.instance, name, None)) for name in ("condition", "number")
        }
        if values["condition"] in Rule.BOUNDS and values["number"] is None:
            raise serializers.ValidationError({"number": "this condition needs a number"})
        return attrs

    def validate_title_template(self, template: str) -> str:
        return self._checked(template)

    def validate_text_template(self, template: str) -> str:
        return self._checked(template)

    def _checked(self, template: str) -> str:
        if unknown := unknown_places(template):
            raise serializers.ValidationError(f"${unknown[0]} is not known")
        return template


class TargetSerializer(RowSerializer[Target]):
    """A place that messages go to; its address is shown only in part."""

    masked = serializers.CharField(read_only=True, help_text="The address, most of it hidden.")

    class Meta:
        model = Target
        fields = ["id", "kind", "name", "masked", "created", "failing_since", "failure", "last_sent"]
        read_only_fields = fields


class NewTargetSerializer(serializers.Serializer[Any]):
    """A new place: its kind, and what its kind needs."""

    kind = serializers.ChoiceField(choices=[key for key, kind in KINDS.items() if kind.fields])
    name = TextField(required=False, max_length=100)

    def get_fields(self) -> dict[str, Any]:
        """Add the fields of all kinds."""
        return super().get_fields() | {
            field.name: TextField(required=False, max_length=field.max_length, help_text=field.note or None)
            for kind in KINDS.values()
            for field in kind.fields
        }


class MessageSerializer(serializers.ModelSerializer[Notification]):
    """A message, and what became of it."""

    class Meta:
        model = Notification
        fields = [
            "id",
            "uid",
            "rule",
            "target",
            "target_name",
            "title",
            "text",
            "created",
            "due",
            "state",
            "attempts",
            "sent",
            "failure",
        ]
        read_only_fields = fields


class TestedSerializer(serializers.Serializer[Any]):
    """The messages of a test."""

    messages = serializers.ListField(child=serializers.IntegerField())


@extend_schema_view(
    list=extend_schema(summary="Notifications"),
    create=extend_schema(summary="Make a notification"),
    retrieve=extend_schema(summary="One notification"),
    update=extend_schema(summary="Change a notification"),
    partial_update=extend_schema(summary="Change parts of a notification"),
    destroy=extend_schema(summary="Delete a notification"),
)
class RuleViewSet(viewsets.ModelViewSet[Rule]):
    """The notifications of the person who is signed in; nobody sees another's."""

    queryset = Rule.objects.none()
    serializer_class = RuleSerializer
    filterset_fields = ["when", "paused"]
    ordering = ["id"]

    def get_queryset(self) -> QuerySet[Rule]:
        return Rule.objects.telling().filter(user=person_of(self.request)).prefetch_related("targets")

    def perform_create(self, serializer: serializers.BaseSerializer[Rule]) -> None:
        """Store a rule, which looks at what happens from now on."""
        user = person_of(self.request)
        if Rule.objects.filter(user=user).count() >= MAX_RULES:
            raise ValidationError({"detail": f"{MAX_RULES} notifications are enough"})
        serializer.save(user=user, looked=datetime.now(UTC))

    @extend_schema(summary="Send a test", request=None, responses={202: TestedSerializer})
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> Response:
        """Send a test message to each target of the rule."""
        rule, now = self.get_object(), datetime.now(UTC)
        notice = Notice(
            rule=rule, key="test", at=now, title=str(rule), text="This is a test.", source="Freshet"
        )
        written = write_test(rule, notice, now)
        send.delay()
        return Response({"messages": [message.pk for message in written]}, status=202)


@extend_schema_view(
    list=extend_schema(summary="Places that messages go to"),
    retrieve=extend_schema(summary="One place"),
    create=extend_schema(
        summary="Add a place", request=NewTargetSerializer, responses={201: TargetSerializer}
    ),
    destroy=extend_schema(summary="Delete a place"),
)
class TargetViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Target],
):
    """The places that messages of the person who is signed in go to."""

    queryset = Target.objects.none()
    serializer_class = TargetSerializer
    ordering = ["id"]

    def get_queryset(self) -> QuerySet[Target]:
        return Target.objects.filter(user=person_of(self.request))

    def create(self, request: Request, *args: Any, **options: Any) -> Response:
        """Store a place; a webhook's secret is in this answer alone."""
        serializer = NewTargetSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        user = person_of(request)
        if Target.objects.filter(user=user).count() >= MAX_TARGETS:
            raise ValidationError({"detail": f"{MAX_TARGETS} places are enough"})
        form = TargetForm(serializer.validated_data)
        if not form.is_valid():
            raise ValidationError({name: list(map(str, errors)) for name, errors in form.errors.items()})
        fields = form.cleaned_data
        target = Target(user=user, kind=fields["kind"], name=fields["name"][:100])
        target.address = fields["address"]
        target.save()
        target.refresh_from_db()
        secret = target.target_kind.secret_of(fields["address"])
        shown_once = {"secret": secret} if secret else {}
        return Response(TargetSerializer(target).data | shown_once, status=201)


@extend_schema_view(
    list=extend_schema(summary="What was sent"), retrieve=extend_schema(summary="One message")
)
class MessageViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Notification]):
    """The messages to the person who is signed in: sent, waiting and given up."""

    queryset = Notification.objects.none()
    serializer_class = MessageSerializer
    filterset_fields = ["state", "rule", "target"]
    ordering = ["-id"]

    def get_queryset(self) -> QuerySet[Notification]:
        return Notification.objects.filter(user=person_of(self.request))
