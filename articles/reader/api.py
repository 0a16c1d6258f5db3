"""The API of unread counts, and of a subscriber's marks on articles."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from articles.models import LABEL_LENGTH, Article, Mark, Subscriber
from articles.personal.following import subscriber_of
from articles.personal.labels import MAX_LABELS, TooManyLabels, add_labels, label_named, remove_labels
from articles.personal.marking import mark_read, star
from articles.reader.counts import unread_counts
from crawler.web.scopes import MARK


class UnreadSerializer(serializers.Serializer[Any]):
    """Unread articles in all, by feed id, and by folder (those in folders inside of it included).

    An article that several of the feeds have is counted by each of them, and once in folders and in all.
    """

    total = serializers.IntegerField()
    feeds = serializers.DictField(child=serializers.IntegerField())
    folders = serializers.DictField(child=serializers.IntegerField())


class UnreadView(APIView):
    """Unread counts of the signed-in subscriber."""

    @extend_schema(summary="Unread articles of the feeds you follow", responses=UnreadSerializer)
    def get(self, request: Request) -> Response:
        counts = unread_counts(subscriber_of(request.user))
        return Response(
            {
                "total": counts.total,
                "feeds": {str(count.feed): count.unread for count in counts.feeds},
                "folders": {folder.name: folder.unread for folder in counts.folders},
            }
        )


class MarksSerializer(serializers.Serializer[Any]):
    """Marks of an article: read, starred, and its labels."""

    read = serializers.BooleanField(required=False)
    starred = serializers.BooleanField(required=False)
    labels = serializers.ListField(
        child=serializers.CharField(max_length=LABEL_LENGTH), max_length=MAX_LABELS, required=False
    )


class MarksView(APIView):
    """The signed-in subscriber's marks on an article."""

    token_scope = MARK

    @extend_schema(
        summary="Whether you have read, starred and labelled an article", responses=MarksSerializer
    )
    def get(self, request: Request, pk: int) -> Response:
        article = get_object_or_404(Article.objects.only("pk"), pk=pk)
        return Response(_marks(subscriber_of(request.user), article.pk))

    @extend_schema(
        summary="Read, star or label an article", request=MarksSerializer, responses=MarksSerializer
    )
    def patch(self, request: Request, pk: int) -> Response:
        article = get_object_or_404(Article.objects.only("pk"), pk=pk)
        serializer = MarksSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields, subscriber, now = serializer.validated_data, subscriber_of(request.user), datetime.now(UTC)
        if "read" in fields:
            mark_read(subscriber, [article.pk], now, read=fields["read"])
        if "starred" in fields:
            star(subscriber, [article.pk], now, starred=fields["starred"])
        if "labels" in fields:
            wanted_labels = {label_named(label) for label in fields["labels"]}
            present = _marks(subscriber, article.pk)["labels"]
            try:
                with transaction.atomic():
                    remove_labels(subscriber, [article.pk], set(present) - wanted_labels)
                    add_labels(subscriber, [article.pk], wanted_labels)
            except TooManyLabels as error:
                raise ValidationError({"labels": [str(error)]}) from error
        return Response(_marks(subscriber, article.pk))


def _marks(subscriber: Subscriber, article: int) -> dict[str, Any]:
    mark = Mark.objects.filter(subscriber=subscriber, article=article).first() or Mark()
    return {"read": mark.read is not None, "starred": mark.starred is not None, "labels": mark.labels}
