"""The REST API of files of saved pages from other programs."""

from __future__ import annotations

from typing import IO, Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from articles.personal.following import subscriber_of
from articles.saved.calls import MAX_FILE, SavedFileError
from articles.saved.models import SavedImport, SavedPage
from articles.saved.serializers import FailedPageSerializer, SavedImportSerializer
from articles.saved.taking import begin_import, failed_pages, imports_of, try_failed_again
from articles.saved.tasks import take_saved
from crawler.web.limits import LimitReached
from crawler.web.parsers import MultiPartParser
from crawler.web.scopes import MARK


class AnyBodyParser(BaseParser):
    """A parser that leaves a body of any type as bytes, no more of it than a file may have and one."""

    media_type = "*/*"

    def parse(self, stream: IO[bytes], media_type: Any = None, parser_context: Any = None) -> Any:
        """Read the body."""
        return {"file": stream.read(MAX_FILE + 1)}


@extend_schema_view(
    list=extend_schema(summary="Files of saved pages"),
    retrieve=extend_schema(summary="One file of saved pages, and how far it is"),
)
class SavedImportViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Any]):
    """Files of saved pages that the signed-in person brought from other programs."""

    token_scope = MARK
    queryset = SavedImport.objects.none()
    serializer_class = SavedImportSerializer
    lookup_value_regex = r"\d{1,18}"
    ordering_fields = ["created", "id"]
    ordering = ["-created"]

    def get_queryset(self) -> QuerySet[SavedImport]:
        return imports_of(subscriber_of(self.request.user))

    def get_parsers(self) -> list[Any]:
        return [MultiPartParser(), AnyBodyParser()]

    @extend_schema(
        summary="Bring a file of saved pages",
        parameters=[OpenApiParameter("name", str, description="The file's name, for a bare body.")],
        request={
            "multipart/form-data": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
                "required": ["file"],
            },
            "application/octet-stream": {"type": "string", "format": "binary"},
        },
        responses={201: SavedImportSerializer},
    )
    def create(self, request: Request) -> Response:
        """Read another program's file. Its pages are saved part by part; ask again how far it is."""
        data = request.data
        file = data.get("file") if hasattr(data, "get") else None
        if not file:
            raise ValidationError({"file": ["A file is wanted."]})
        if isinstance(file, bytes):
            name, content = request.query_params.get("name", ""), file
        elif hasattr(file, "read"):
            name, content = file.name or "", file.read(MAX_FILE + 1)
        else:
            raise ValidationError({"file": ["A file is wanted."]})
        try:
            row = begin_import(subscriber_of(request.user), name, content)
        except (SavedFileError, LimitReached) as error:
            raise ValidationError({"file": [str(error)]}) from error
        take_saved.delay(row.pk)
        return Response(self.get_serializer(self.get_queryset().get(pk=row.pk)).data, status=201)

    @extend_schema(
        summary="Pages of a file that could not be read", responses=FailedPageSerializer(many=True)
    )
    @action(detail=True, methods=["get"], filter_backends=[])
    def failed(self, request: Request, pk: str) -> Response:
        rows: QuerySet[SavedPage] = failed_pages(self.get_object())
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(FailedPageSerializer(page, many=True).data)

    @extend_schema(
        summary="Ask for the pages again that could not be read",
        request=None,
        responses=SavedImportSerializer,
    )
    @action(detail=True, methods=["post"], url_path="try-again")
    def try_again(self, request: Request, pk: str) -> Response:
        try_failed_again(self.get_object())
        return Response(self.get_serializer(self.get_object()).data)
