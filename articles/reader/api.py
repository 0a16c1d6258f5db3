"""The API of unread counts."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from articles.personal.following import subscriber_of
from articles.reader.counts import unread_counts


class UnreadSerializer(serializers.Serializer[Any]):
    """Unread articles in all, by feed id, and by folder (those in folders inside of it included)."""

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
