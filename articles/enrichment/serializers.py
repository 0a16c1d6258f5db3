"""Enrichments and stories as the API shows them."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from articles.enrichment.models import Enrichment, Story


class EnrichmentSerializer(serializers.ModelSerializer[Enrichment]):
    """The enrichment of an article. `keywords` are [term, weight] pairs, the heaviest first."""

    keywords = serializers.SerializerMethodField()

    class Meta:
        model = Enrichment
        fields = [
            "article", "state", "failure", "versions", "language", "keywords", "category", "category_source",
            "category_reason", "confidence", "summary", "story", "reason", "similarity", "at",
        ]  # fmt: skip
        read_only_fields = fields

    @extend_schema_field(serializers.ListField(child=serializers.ListField()))
    def get_keywords(self, row: Enrichment) -> list[list[object]]:
        return list(row.keywords)


class MemberSerializer(serializers.ModelSerializer[Enrichment]):
    """An article in a story, and why it belongs there."""

    title = serializers.CharField(source="article.title", read_only=True)
    feed = serializers.IntegerField(source="article.feed_id", read_only=True)
    published = serializers.DateTimeField(source="article.published", read_only=True)

    class Meta:
        model = Enrichment
        fields = ["article", "title", "feed", "published", "reason", "similarity"]
        read_only_fields = fields


class StorySerializer(serializers.ModelSerializer[Story]):
    """Articles of several feeds that are one text."""

    members = MemberSerializer(many=True, read_only=True)

    class Meta:
        model = Story
        fields = ["id", "created", "members"]
        read_only_fields = fields
