"""The REST API of moving in from another feed reader."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from articles.moving.calls import MAX_FILE
from articles.moving.models import Move
from articles.moving.taking import begin_file, begin_move, stop
from articles.moving.tasks import take_move
from articles.moving.values import MovingError
from articles.moving.wording import sentence_of
from articles.personal.following import subscriber_of
from crawler.web.fields import FlagField, TextField
from crawler.web.limits import LimitReached
from crawler.web.parsers import MultiPartParser
from crawler.web.sentences import translated


class NewMoveSerializer(serializers.Serializer[Any]):
    """An account at another feed reader, or the file that it has written (as multipart/form-data)."""

    kind = serializers.ChoiceField(choices=Move.Kind.choices, required=False)
    url = TextField(required=False, max_length=2000, help_text="Of the other server.")
    login = TextField(required=False, allow_blank=True, max_length=200)
    secret = TextField(
        required=False, write_only=True, max_length=500,
        help_text="Password, or token for programs. It is forgotten when the last part was read.",
    )  # fmt: skip
    rehearsal = FlagField(default=False, help_text="Count what would come, and change nothing.")
    file = serializers.FileField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a file, or an address with its secret."""
        if attrs.get("file"):
            return attrs | {"kind": Move.Kind.FILE}
        if attrs.get("kind") == Move.Kind.FILE:
            raise serializers.ValidationError({"file": "a file is wanted"})
        for name in ("kind", "url", "secret"):
            if not attrs.get(name):
                raise serializers.ValidationError({name: "this is wanted where no file is given"})
        if not attrs["url"].lower().startswith(("http://", "https://")):
            raise serializers.ValidationError({"url": "an address of the web is wanted"})
        return attrs


class MoveSerializer(serializers.ModelSerializer[Move]):
    """How far a move is, what came by kind, and what cannot come."""

    sentence = serializers.SerializerMethodField(help_text="How far it is, in your language.")
    left_out = serializers.SerializerMethodField(help_text="What cannot come, in words.")
    counts = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = Move
        fields = [
            "id", "kind", "url", "login", "is_rehearsal", "state", "sentence", "about", "counts", "left_out",
            "created", "ended",
        ]  # fmt: skip
        read_only_fields = fields

    def get_sentence(self, move: Move) -> str:
        return sentence_of(move)

    def get_left_out(self, move: Move) -> list[str]:
        return [translated(line) for line in move.left_out]


@extend_schema_view(
    list=extend_schema(summary="Moves from other feed readers"),
    retrieve=extend_schema(summary="One move, and how far it is"),
)
class MoveViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Move]):
    """Accounts at other feed readers that the signed-in person takes over."""

    queryset = Move.objects.none()
    serializer_class = MoveSerializer
    lookup_value_regex = r"\d{1,18}"
    ordering = ["-id"]

    def get_queryset(self) -> QuerySet[Move]:
        return subscriber_of(self.request.user).moves.all()

    def get_parsers(self) -> list[Any]:
        return [JSONParser(), MultiPartParser()]

    @extend_schema(summary="Move in", request=NewMoveSerializer, responses={201: MoveSerializer})
    def create(self, request: Request) -> Response:
        """Begin to take an account over, or to count what would come; ask again how far it is."""
        serializer = NewMoveSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        options, subscriber = serializer.validated_data, subscriber_of(request.user)
        try:
            if file := options.get("file"):
                data = file.read(MAX_FILE + 1)
                move = begin_file(subscriber, file.name or "", data, is_rehearsal=options["rehearsal"])
            else:
                move = begin_move(
                    subscriber, options["kind"], options["url"], options.get("login", ""), options["secret"],
                    is_rehearsal=options["rehearsal"],
                )  # fmt: skip
        except (MovingError, LimitReached) as error:
            raise ValidationError({"detail": translated(str(error))}) from error
        if move.is_open:
            take_move.delay(move.pk)
        return Response(self.get_serializer(move).data, status=201)

    @extend_schema(summary="Stop a move", request=None, responses=MoveSerializer)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Stop a move; what came stays."""
        stop(self.get_object())
        return Response(self.get_serializer(self.get_object()).data)
