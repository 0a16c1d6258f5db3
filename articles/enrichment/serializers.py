"""Enrichments and stories as the API shows them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from articles.enrichment.firsts import delays
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


class StoryMemberSerializer(MemberSerializer):
    """An article in a story, and by how many seconds it came after the first one."""

    source = serializers.SerializerMethodField(help_text="The name of its feed.")  # type: ignore[assignment]
    delay = serializers.FloatField(read_only=True)

    class Meta(MemberSerializer.Meta):
        fields = [*MemberSerializer.Meta.fields, "source", "delay"]
        read_only_fields = fields

    def get_source(self, row: Enrichment) -> str:
        return str(row.article.feed)


class StorySerializer(serializers.ModelSerializer[Story]):
    """Articles of several feeds that are one text: who was `first`, and by how much the others came later."""

    first = serializers.SerializerMethodField(help_text="The article that was published first.")
    delay = serializers.SerializerMethodField(
        help_text="Seconds from the first article to the next feed's; null where nobody followed."
    )
    members = serializers.SerializerMethodField()

    class Meta:
        model = Story
        fields = ["id", "created", "first", "delay", "members"]
        read_only_fields = fields

    @extend_schema_field(StoryMemberSerializer)
    def get_first(self, row: Story) -> dict[str, Any] | None:
        members = self._members(row)
        return StoryMemberSerializer(members[0]).data if members else None

    def get_delay(self, row: Story) -> float | None:
        members = self._members(row)
        others = [each.delay for each in members if each.article.feed_id != members[0].article.feed_id]
        return others[0] if others else None

    @extend_schema_field(StoryMemberSerializer(many=True))
    def get_members(self, row: Story) -> Any:
        return StoryMemberSerializer(self._members(row), many=True).data

    def _members(self, row: Story) -> list[Any]:
        """Return the members in the order of their publication, each with its delay."""
        members: list[Any] = list(row.members.all())
        for member, delay in zip(members, delays([each.article.published for each in members]), strict=True):
            member.delay = delay
        return members
