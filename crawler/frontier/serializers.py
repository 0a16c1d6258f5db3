"""Crawls as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from crawler.fetching.http.urls import MAX_URL_LENGTH
from crawler.frontier.crawls import MAX_SEEDS, refusal_of
from crawler.frontier.models import MAX_QUERY, Crawl, CrawlUrl
from crawler.frontier.scope import Scope, ScopeError
from crawler.text.patterns import LONGEST, MOST
from crawler.web.fields import ReasonCodeField, RowSerializer, TextField


def _usable(scope: list[str]) -> list[str]:
    """Return the expressions. Raises ValidationError for one that does not compile."""
    try:
        Scope(scope)
    except ScopeError as error:
        raise serializers.ValidationError(str(error)) from error
    return scope


def _expressions(**options: Any) -> serializers.ListField:
    """Return a field for a list of regular expressions."""
    return serializers.ListField(child=TextField(max_length=LONGEST), max_length=MOST, **options)


class CrawlSerializer(RowSerializer[Crawl]):
    """A crawl; its report has the figures of now."""

    seeds = serializers.ListField(
        child=TextField(max_length=4 * MAX_URL_LENGTH), min_length=1, max_length=MAX_SEEDS
    )
    scope = _expressions(
        required=False,
        help_text="Regular expressions; a URL must match one of them. Empty: the hosts of the seeds.",
    )
    reason_code = ReasonCodeField("reason")

    class Meta:
        model = Crawl
        fields = [
            "id", "seeds", "strategy", "scope", "anywhere", "max_pages", "max_wait", "max_minutes",
            "max_bytes", "max_depth", "max_hosts", "inter_weight", "intra_weight", "sitemaps", "keep_bodies",
            "into_graph", "link_query",
            "state", "reason", "reason_code", "created", "finished", "crawled", "requests", "dropped",
            "duplicates", "refused", "bytes",
        ]  # fmt: skip
        read_only_fields = [
            "id", "state", "reason", "reason_code", "created", "finished", "crawled", "requests",
            "dropped",
            "duplicates", "refused", "bytes",
        ]  # fmt: skip

    def validate_scope(self, scope: list[str]) -> list[str]:
        return _usable(scope)


class CrawlChangeSerializer(serializers.Serializer[Any]):
    """The fields of a crawl that can be changed while it runs."""

    state = serializers.ChoiceField(["running", "paused", "cancelled"], required=False)
    scope = _expressions(required=False)
    link_query = TextField(
        required=False, allow_blank=True, max_length=MAX_QUERY, help_text="The query that leads it."
    )

    def validate_scope(self, scope: list[str]) -> list[str]:
        return _usable(scope)

    def validate_link_query(self, query: str) -> str:
        if why := refusal_of(query):
            raise serializers.ValidationError(why)
        return query


class QuerySerializer(serializers.Serializer[Any]):
    """A query that is to be tried."""

    query = TextField(max_length=MAX_QUERY)


class NamedAddressSerializer(serializers.Serializer[Any]):
    """An address that a query names, and its score in the queue."""

    url = serializers.CharField()
    weight = serializers.FloatField()


class RequeueSerializer(serializers.Serializer[Any]):
    """Which failed URLs to queue again; all without either."""

    failure = TextField(required=False, max_length=40, help_text="A failure's name, such as http-503.")
    host = TextField(required=False, max_length=253, help_text="A host's name.")


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


class ShareSerializer(serializers.Serializer[Any]):
    """A row of a table: so many pages, and their share of the table's."""

    count = serializers.IntegerField()
    share = serializers.FloatField()


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
    tables = serializers.DictField(
        child=serializers.DictField(child=ShareSerializer()),
        help_text="The paper's tables I to V: causes, HTTP or not, errors of HTTP, countries, others.",
    )
