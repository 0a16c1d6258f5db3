"""Serializers of watched sites, pages, visits and changes for the API."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from crawler.fetching.http.urls import MAX_URL_LENGTH
from crawler.web.fields import ReasonCodeField, RowSerializer, TextField
from recrawl.comparing.differences import Difference
from recrawl.models import SETTINGS, Change, Check, Site, Source, Visit, WatchedPage
from recrawl.visiting.mapping import MAX_CHOSEN


class SiteSerializer(RowSerializer[Site]):
    """A watched site, or a list of chosen pages; its visits have update rate and coverage over time.

    A list is made with `kind` pages and the addresses in `pages`; its `url` is the first of them. Without
    other settings a site is visited every 7 days with a budget of 0.25, a list every day with 1.
    """

    kind = serializers.ChoiceField(Site.Kind.choices, required=False)
    url = TextField(max_length=4 * MAX_URL_LENGTH, required=False)
    pages = serializers.ListField(
        child=TextField(max_length=4 * MAX_URL_LENGTH),
        max_length=MAX_CHOSEN,
        allow_empty=False,
        required=False,
        write_only=True,
    )

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        needed = "pages" if attrs.get("kind") == Site.Kind.PAGES else "url"
        if self.instance is None and not attrs.get(needed):
            raise serializers.ValidationError({needed: ["This field is required."]})
        return attrs

    class Meta:
        model = Site
        validators: ClassVar[list[object]] = []  # `add_site` refuses a site that is watched already
        fields = [
            "id", "kind", "url", "pages", "title", *SETTINGS,
            "state", "trouble", "crawl", "created", "next_visit", "visited", "saved",
        ]  # fmt: skip
        read_only_fields = ["id", "state", "trouble", "crawl", "created", "next_visit", "visited", "saved"]


class SourceSerializer(serializers.ModelSerializer[Source]):
    """A sitemap or a feed that announces a site's news, with the time or the failure of its last reading."""

    class Meta:
        model = Source
        fields = ["url", "kind", "usable", "read", "failure"]
        read_only_fields = fields


class SiteDetailSerializer(SiteSerializer):
    """A site with the sources that announce its news."""

    sources = SourceSerializer(many=True, read_only=True)

    class Meta(SiteSerializer.Meta):
        fields = [*SiteSerializer.Meta.fields, "sources"]


class SiteChangeSerializer(RowSerializer[Site]):
    """The fields of a site that can be changed; `state` is paused or watched, `pages` a list's."""

    state = serializers.ChoiceField(["watched", "paused"], required=False)
    pages = serializers.ListField(
        child=TextField(max_length=4 * MAX_URL_LENGTH),
        max_length=MAX_CHOSEN,
        allow_empty=False,
        required=False,
        write_only=True,
    )

    class Meta:
        model = Site
        fields = ["title", *SETTINGS, "state", "pages"]


class VisitSerializer(serializers.ModelSerializer[Visit]):
    """A visit: pages, requests and bytes; `rate` and `coverage` are shares, the latter an estimate."""

    rate = serializers.FloatField(allow_null=True, read_only=True)
    coverage = serializers.FloatField(allow_null=True, read_only=True)

    class Meta:
        model = Visit
        fields = [
            "id", "number", "method", "started", "finished", "pages", "weekly", "budget", "rounds", "fetched",
            "changed", "found", "vanished", "failed", "requests", "conditional", "not_modified", "bytes",
            "whole", "missed", "stale", "rate", "coverage",
        ]  # fmt: skip
        read_only_fields = fields


class PageSerializer(serializers.ModelSerializer[WatchedPage]):
    """A page of a site and the copy that is kept of it."""

    class Meta:
        model = WatchedPage
        fields = [
            "id", "site", "url", "state", "title", "first_seen", "fetched", "checks", "changes", "changed",
            "status", "failure", "size", "raw", "content", "leads_to", "price", "currency", "availability",
        ]  # fmt: skip
        read_only_fields = fields


class CheckSerializer(serializers.ModelSerializer[Check]):
    """One fetch of a page: what it showed, and why it was made."""

    number = serializers.IntegerField(source="visit.number", help_text="Of the visit.")
    reason_code = ReasonCodeField("reason")

    class Meta:
        model = Check
        fields = [
            "id", "number", "at", "outcome", "age", "days", "reason", "reason_code", "status", "failure",
            "conditional", "requests", "bytes", "raw",
        ]  # fmt: skip
        read_only_fields = fields


class ChangeSerializer(serializers.ModelSerializer[Change]):
    """A change, without its lines."""

    url = serializers.CharField(source="page.url")

    class Meta:
        model = Change
        fields = [
            "id", "site", "page", "url", "at", "kind", "title", "summary", "added", "removed", "raw",
            "visual", "areas",
        ]  # fmt: skip
        read_only_fields = fields


class ChangeDetailSerializer(ChangeSerializer):
    """A change with its hunks of lines."""

    hunks = serializers.SerializerMethodField()

    class Meta(ChangeSerializer.Meta):
        fields = [*ChangeSerializer.Meta.fields, "hunks"]
        read_only_fields = fields

    def get_hunks(self, change: Change) -> list[list[dict[str, str]]]:
        """Return the rows of each hunk: kind, old line, new line."""
        gain = Difference.unpacked(bytes(change.difference))
        return [[{"kind": kind, "old": old, "new": new} for kind, old, new in hunk] for hunk in gain.hunks]


class WatchFileSerializer(serializers.Serializer[Any]):
    """A backup of changedetection.io, or a text with one address to a line."""

    file = serializers.FileField()


class ImportProblemSerializer(serializers.Serializer[Any]):
    """A watch that was not taken over, or not with all its settings."""

    url = serializers.CharField()
    message = serializers.CharField()


class ImportedSerializer(serializers.Serializer[Any]):
    """The new lists, the number of their pages and of those watched already, and problems."""

    sites = SiteSerializer(many=True)
    added = serializers.IntegerField()
    known = serializers.IntegerField()
    problems = ImportProblemSerializer(many=True)
