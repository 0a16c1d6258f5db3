"""Crawls as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from crawler.frontier.models import Crawl, CrawlUrl
from crawler.frontier.scope import Scope, ScopeError


def _usable(scope: list[str]) -> list[str]:
    """Expressions that compile."""
    try:
        Scope(scope)
    except ScopeError as error:
        raise serializers.ValidationError(str(error)) from error
    return scope


class CrawlSerializer(serializers.ModelSerializer[Crawl]):
    """A crawl; its report has the figures of now."""

    class Meta:
        model = Crawl
        fields = [
            "id", "seeds", "strategy", "scope", "max_pages", "max_wait", "max_minutes", "max_bytes",
            "max_depth", "max_hosts", "inter_weight", "intra_weight", "sitemaps", "keep_bodies", "into_graph",
            "state", "reason", "created", "finished", "crawled", "dropped", "duplicates", "refused", "bytes",
        ]  # fmt: skip
        read_only_fields = [
            "id", "state", "reason", "created", "finished", "crawled", "dropped", "duplicates", "refused",
            "bytes",
        ]  # fmt: skip

    def validate_scope(self, scope: list[str]) -> list[str]:
        return _usable(scope)


class CrawlChangeSerializer(serializers.Serializer[Any]):
    """What of a crawl can be changed while it runs."""

    state = serializers.ChoiceField(["running", "paused", "cancelled"], required=False)
    scope = serializers.ListField(child=serializers.CharField(), required=False)

    def validate_scope(self, scope: list[str]) -> list[str]:
        return _usable(scope)


class RequeueSerializer(serializers.Serializer[Any]):
    """Which failed URLs to queue again; all without either."""

    failure = serializers.CharField(required=False, help_text="A failure's name, such as http-503.")
    host = serializers.CharField(required=False, help_text="A host's name.")


class RequeuedSerializer(serializers.Serializer[Any]):
    """How many were queued again."""

    requeued = serializers.IntegerField()


class CrawlUrlSerializer(serializers.ModelSerializer[CrawlUrl]):
    """A URL of a crawl."""

    host = serializers.CharField(source="host.name")

    class Meta:
        model = CrawlUrl
        fields = [
            "id", "url", "host", "parent", "depth", "link", "score", "state", "queued", "waited", "attempts",
            "fetched", "status", "failure", "detail", "elapsed", "size", "content_type", "title", "inter",
            "intra",
        ]  # fmt: skip
        read_only_fields = fields


class CourseSerializer(serializers.Serializer[Any]):
    """A strategy's way through a link graph: share of PageRank held after so many pages."""

    strategy = serializers.CharField()
    pages = serializers.ListField(child=serializers.IntegerField())
    share = serializers.ListField(child=serializers.FloatField())
    reached = serializers.IntegerField()
    area = serializers.FloatField(help_text="Mean share over all pages.")


class ReportSerializer(serializers.Serializer[Any]):
    """The object of `manage.py crawl --json`; shares are fractions."""

    crawl = serializers.IntegerField()
    state = serializers.CharField()
    reason = serializers.CharField()
    strategy = serializers.CharField()
    crawled = serializers.IntegerField()
    uncrawled = serializers.DictField(child=serializers.IntegerField())
    failures = serializers.DictField(child=serializers.IntegerField())
    crawled_share = serializers.FloatField()
    paper_crawled_share = serializers.FloatField()
    dropped = serializers.IntegerField()
    dropped_now = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    refused = serializers.DictField(child=serializers.IntegerField())
    moved = serializers.IntegerField()
    queue = serializers.IntegerField()
    out = serializers.IntegerField()
    urls = serializers.IntegerField()
    bytes = serializers.IntegerField()
    seconds = serializers.FloatField()
    pages_per_second = serializers.FloatField()
    hosts = serializers.IntegerField()
    domains = serializers.IntegerField()
    top_level_domains = serializers.DictField(child=serializers.FloatField())
    inter_share = serializers.FloatField()
    intra_share = serializers.FloatField()
