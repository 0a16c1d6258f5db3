"""One's own assistants, over the API."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

from crawler.accounts.assistants.connections import disconnect
from crawler.accounts.models import AssistantConnection
from crawler.engine.chosen import chosen
from crawler.web.permissions import person_of
from crawler.web.scopes import SCOPES


class AssistantSerializer(serializers.ModelSerializer[AssistantConnection]):
    """An assistant that is connected: its name and host, what it may do, and when it was used."""

    name = serializers.CharField(source="client.name", read_only=True)
    host = serializers.CharField(read_only=True, help_text="Where its codes are sent.")
    scopes = serializers.ListField(source="scope_list", child=serializers.ChoiceField(SCOPES), read_only=True)

    class Meta:
        model = AssistantConnection
        fields = ["id", "name", "host", "scopes", "since", "last_used"]
        read_only_fields = ["since", "last_used"]


@extend_schema_view(
    list=extend_schema(summary="Your assistants"),
    destroy=extend_schema(summary="Disconnect an assistant"),
)
class AssistantViewSet(
    mixins.ListModelMixin, mixins.DestroyModelMixin, viewsets.GenericViewSet[AssistantConnection]
):
    """The assistants that the signed-in person connected."""

    queryset = AssistantConnection.objects.none()
    serializer_class = AssistantSerializer
    permission_classes = [IsAuthenticated]
    ordering_fields = ["id", "since", "last_used"]
    ordering = ["id"]

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Raise Http404 where assistants are not wanted."""
        super().initial(request, *args, **kwargs)
        if not chosen("ASSISTANTS"):
            raise Http404

    def get_queryset(self) -> QuerySet[AssistantConnection]:
        """Return the assistants of the person who asks."""
        return AssistantConnection.objects.select_related("client").filter(user=person_of(self.request))

    def perform_destroy(self, instance: AssistantConnection) -> None:
        """End the connection, with all its tokens."""
        disconnect(instance)
