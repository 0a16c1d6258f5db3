"""The REST API of newsletters: addresses and mailboxes of the person who is signed in."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from crawler.web.fields import RowSerializer, TextField
from crawler.web.permissions import person_of
from feeds.mail.forms import MailAddressForm, MailboxForm
from feeds.mail.models import MailAddress, Mailbox
from feeds.mail.tasks import look_into_mailbox


class MailAddressSerializer(RowSerializer[MailAddress]):
    """An address for newsletters; `address` is empty while the deployment has no domain for mail."""

    address = serializers.CharField(read_only=True)

    class Meta:
        model = MailAddress
        fields = ["id", "key", "address", "name", "created", "last_message"]
        read_only_fields = ["id", "key", "created", "last_message"]


class MailboxSerializer(RowSerializer[Mailbox]):
    """A mailbox that is looked into. Its secret is never shown."""

    secret = TextField(write_only=True, max_length=4000, help_text="The password or token.")

    class Meta:
        model = Mailbox
        fields = [
            "id", "host", "port", "security", "login", "sign_in", "secret", "folder", "created", "last_look",
            "next_look", "failing_since", "failure",
        ]  # fmt: skip
        read_only_fields = ["id", "created", "last_look", "next_look", "failing_since", "failure"]


class _OwnRows(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Any],
):
    ordering = ["id"]

    def get_queryset(self) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.serializer_class.Meta.model.objects.filter(user=person_of(self.request))  # type: ignore[union-attr]
        return rows

    def _checked(self, request: Request, form_class: Any) -> Any:
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        form = form_class(person_of(request), serializer.validated_data)
        if not form.is_valid():
            raise ValidationError({name: list(map(str, errors)) for name, errors in form.errors.items()})
        row = form.save()
        row.refresh_from_db()
        return row


@extend_schema_view(
    list=extend_schema(summary="Your addresses for newsletters"),
    retrieve=extend_schema(summary="One address"),
    create=extend_schema(summary="Make an address"),
    destroy=extend_schema(summary="Take an address back"),
)
class MailAddressViewSet(_OwnRows):
    """The addresses for newsletters of the person who is signed in."""

    queryset = MailAddress.objects.none()
    serializer_class = MailAddressSerializer

    def create(self, request: Request, *args: Any, **options: Any) -> Response:
        """Make an address with a key of its own."""
        return Response(self.get_serializer(self._checked(request, MailAddressForm)).data, status=201)


@extend_schema_view(
    list=extend_schema(summary="Your mailboxes"),
    retrieve=extend_schema(summary="One mailbox"),
    create=extend_schema(summary="Add a mailbox"),
    destroy=extend_schema(summary="Remove a mailbox"),
)
class MailboxViewSet(_OwnRows):
    """The mailboxes of the person who is signed in."""

    queryset = Mailbox.objects.none()
    serializer_class = MailboxSerializer

    def create(self, request: Request, *args: Any, **options: Any) -> Response:
        """Add a mailbox, which is looked into at once."""
        mailbox = self._checked(request, MailboxForm)
        look_into_mailbox.delay(mailbox.pk)
        return Response(self.get_serializer(mailbox).data, status=201)
