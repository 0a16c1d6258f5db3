"""Tokens of programs, over the API."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from crawler.web.models import ApiToken
from crawler.web.scopes import MANAGE, READ

MAX_TOKENS = 50


class ApiTokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token: its name, what it may do, and when it was used. The secret is told once, when it is made."""

    may_write = serializers.BooleanField(
        required=False, help_text="Whether it may change anything. Without `scope`, true stands for manage."
    )

    class Meta:
        model = ApiToken
        fields = ["id", "name", "scope", "may_write", "ending", "created", "last_used"]
        read_only_fields = ["ending", "created", "last_used"]


class NewApiTokenSerializer(ApiTokenSerializer):
    """A token with its secret, which is shown only in this answer."""

    token = serializers.CharField(read_only=True)

    class Meta(ApiTokenSerializer.Meta):
        fields = [*ApiTokenSerializer.Meta.fields, "token"]


@extend_schema_view(
    list=extend_schema(summary="Your tokens"),
    retrieve=extend_schema(summary="One of your tokens"),
    destroy=extend_schema(summary="Take a token back"),
)
class ApiTokenViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[ApiToken],
):
    """The tokens of whoever asks."""

    queryset = ApiToken.objects.none()
    serializer_class = ApiTokenSerializer
    permission_classes = [IsAuthenticated]
    ordering_fields = ["id", "name", "created", "last_used"]
    ordering = ["name"]

    def get_queryset(self) -> QuerySet[ApiToken]:
        """Return the tokens of the person who asks."""
        return ApiToken.objects.filter(user=cast(User, self.request.user))

    @extend_schema(summary="Make a token", request=ApiTokenSerializer, responses={201: NewApiTokenSerializer})
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Make a token. Its secret is in this answer and nowhere else."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if self.get_queryset().count() >= MAX_TOKENS:
            raise serializers.ValidationError({"name": [f"{MAX_TOKENS} tokens are enough."]})
        fields = serializer.validated_data
        scope = fields.get("scope") or (MANAGE if fields.get("may_write") else READ)
        row, secret = ApiToken.make(cast(User, request.user), fields["name"], scope=scope)
        row.refresh_from_db()
        data = ApiTokenSerializer(row).data | {"token": secret}
        return Response(data, status=status.HTTP_201_CREATED)
