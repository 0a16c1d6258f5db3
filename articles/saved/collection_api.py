"""The REST API of collections: those of the signed-in person, and those shared with them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from articles.exporting.answers import Exported
from articles.exporting.formats import ExportFormat
from articles.exporting.querying import article_rows, keys_in
from articles.exporting.rows import ExportRow
from articles.models import LABEL_LENGTH, Subscriber
from articles.personal.following import subscriber_of
from articles.saved.collecting import (
    CollectionError,
    add_to,
    collections_of,
    items_of,
    make_collection,
    may_add,
    remove_from,
    share,
)
from articles.saved.models import MAX_NOTE, Collection, CollectionItem
from crawler.web.fields import TextField
from crawler.web.scopes import MARK


class CollectionSerializer(serializers.ModelSerializer[Collection]):
    """A collection. `feed` is the secret address of its feed."""

    name = TextField(max_length=LABEL_LENGTH)
    about = TextField(max_length=MAX_NOTE, required=False, allow_blank=True)
    owner = serializers.CharField(source="owner.user.username", read_only=True)
    size = serializers.IntegerField(read_only=True, default=0, help_text="Articles in it.")
    may_add = serializers.SerializerMethodField()
    members = serializers.SerializerMethodField()
    feed = serializers.SerializerMethodField()

    class Meta:
        model = Collection
        fields = ["id", "name", "about", "owner", "size", "may_add", "members", "feed", "created", "changed"]
        read_only_fields = ["id", "created", "changed"]

    def _subscriber(self) -> Subscriber:
        return subscriber_of(self.context["request"].user)

    def get_may_add(self, row: Collection) -> bool:
        return may_add(row, self._subscriber())

    def get_members(self, row: Collection) -> list[dict[str, Any]]:
        rows = row.members.values_list("subscriber__user__username", "may_add")
        return [{"name": name, "may_add": adds} for name, adds in rows.order_by("subscriber__user__username")]

    def get_feed(self, row: Collection) -> str:
        request: HttpRequest = self.context["request"]
        return request.build_absolute_uri(reverse("collection-feed", args=[row.token]))


class CollectionItemSerializer(serializers.ModelSerializer[CollectionItem]):
    """An article in a collection."""

    title = serializers.SerializerMethodField()
    url = serializers.CharField(source="article.url", read_only=True)
    published = serializers.DateTimeField(source="article.published", read_only=True)
    added_by = serializers.CharField(source="added_by.user.username", read_only=True, default="")

    class Meta:
        model = CollectionItem
        fields = ["article", "title", "url", "published", "added_by", "added", "note"]
        read_only_fields = fields

    def get_title(self, row: CollectionItem) -> str:
        return str(row.article)


class NewItemSerializer(serializers.Serializer[Any]):
    """Articles to add to a collection, with a note for the others."""

    articles = serializers.ListField(child=serializers.IntegerField(min_value=1), max_length=500)
    note = TextField(max_length=MAX_NOTE, required=False, allow_blank=True)


class RemovedItemSerializer(serializers.Serializer[Any]):
    """Articles to take from a collection."""

    articles = serializers.ListField(child=serializers.IntegerField(min_value=1), max_length=500)


class CollectionShareSerializer(serializers.Serializer[Any]):
    """A person to share a collection with."""

    name = TextField(max_length=150)
    may_add = serializers.BooleanField(default=False)


@extend_schema_view(
    list=extend_schema(summary="Your collections"),
    retrieve=extend_schema(summary="One collection"),
    destroy=extend_schema(summary="Delete a collection"),
)
class CollectionViewSet(
    Exported,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[Any],
):
    """Collections of articles that people gather together."""

    token_scope = MARK
    queryset = Collection.objects.none()
    serializer_class = CollectionSerializer
    ordering_fields = ["id", "name", "changed"]
    ordering = ["name"]
    export_title = "collections"

    def get_queryset(self) -> QuerySet[Collection]:
        return collections_of(subscriber_of(self.request.user))

    def export_rows(
        self, listed: QuerySet[Any], person: Subscriber, form: ExportFormat
    ) -> Iterator[ExportRow]:
        """Yield the articles of all collections listed."""
        items = CollectionItem.objects.filter(collection__in=listed.order_by().values("pk"))
        return article_rows(keys_in(items.order_by("-added", "-id"), "article_id"), person, form, shared=True)

    @extend_schema(
        summary="Make a collection",
        responses={201: CollectionSerializer, 200: OpenApiResponse(CollectionSerializer, "It is there.")},
    )
    def create(self, request: Request) -> Response:
        """Make a collection; one of the same name is returned as it is."""
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        subscriber, data = subscriber_of(request.user), serializer.validated_data
        before = subscriber.collections.count()
        try:
            row = make_collection(subscriber, data["name"], data.get("about", ""))
        except CollectionError as error:
            raise ValidationError({"name": [str(error)]}) from error
        code = 201 if subscriber.collections.count() > before else 200
        return Response(self.get_serializer(self.get_queryset().get(pk=row.pk)).data, status=code)

    @extend_schema(summary="Change what a collection is about")
    def partial_update(self, request: Request, pk: str) -> Response:
        row = self._owned()
        serializer = self.get_serializer(row, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        row.about = serializer.validated_data.get("about", row.about)
        row.save(update_fields=["about", "changed"])
        return Response(self.get_serializer(row).data)

    def perform_destroy(self, instance: Collection) -> None:
        self._owned()
        instance.delete()

    @extend_schema(summary="The articles of a collection", responses=CollectionItemSerializer(many=True))
    @action(detail=True, methods=["get"])
    def articles(self, request: Request, pk: str) -> Response:
        page = self.paginate_queryset(items_of(self.get_object()))
        return self.get_paginated_response(CollectionItemSerializer(page, many=True).data)

    @extend_schema(summary="Add articles", request=NewItemSerializer, responses=CollectionSerializer)
    @articles.mapping.post
    def add(self, request: Request, pk: str) -> Response:
        row, serializer = self.get_object(), NewItemSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        try:
            add_to(
                row, subscriber_of(request.user), data["articles"], datetime.now(UTC), data.get("note", "")
            )
        except CollectionError as error:
            raise PermissionDenied(str(error)) from error
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(summary="Take articles out", request=RemovedItemSerializer, responses=CollectionSerializer)
    @action(detail=True, methods=["post"], url_path="articles/remove")
    def take_out(self, request: Request, pk: str) -> Response:
        row, serializer = self.get_object(), RemovedItemSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        remove_from(row, subscriber_of(request.user), serializer.validated_data["articles"])
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(
        summary="Share with a person", request=CollectionShareSerializer, responses=CollectionSerializer
    )
    @action(detail=True, methods=["post"])
    def share(self, request: Request, pk: str) -> Response:
        row, serializer = self._owned(), CollectionShareSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        try:
            share(row, serializer.validated_data["name"], adds=serializer.validated_data["may_add"])
        except CollectionError as error:
            raise ValidationError({"name": [str(error)]}) from error
        return Response(self.get_serializer(row).data)

    @extend_schema(
        summary="Share no longer", request=CollectionShareSerializer, responses=CollectionSerializer
    )
    @action(detail=True, methods=["post"])
    def unshare(self, request: Request, pk: str) -> Response:
        row = self._owned()
        serializer = CollectionShareSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row.members.filter(subscriber__user__username=serializer.validated_data["name"]).delete()
        return Response(self.get_serializer(row).data)

    def _owned(self) -> Collection:
        row: Collection = self.get_object()
        if row.owner_id != subscriber_of(self.request.user).pk:
            raise PermissionDenied("Only its owner changes a collection.")
        return row
