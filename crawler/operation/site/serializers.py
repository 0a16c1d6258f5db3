"""Hosts and figures as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from crawler.engine.models import Host


class HostSerializer(serializers.ModelSerializer[Host]):
    """A host of the web, its spacing (seconds; null: the deployment's) and pauses it asked for."""

    feed_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Host
        fields = [
            "id", "name", "spacing", "leased_until", "served", "not_before", "robots_status", "robots_at",
            "feed_count",
        ]  # fmt: skip
        read_only_fields = fields


class DelaySerializer(serializers.Serializer[Any]):
    """Percentiles and mean of seconds from publication to retrieval; null while nothing was measured."""

    p50 = serializers.FloatField(allow_null=True)
    p95 = serializers.FloatField(allow_null=True)
    p99 = serializers.FloatField(allow_null=True)
    mean = serializers.FloatField(allow_null=True)


class LatestFeedSerializer(serializers.Serializer[Any]):
    """One of the ten feeds whose news of the last 24 hours came latest: the mean of its seconds."""

    id = serializers.IntegerField()
    title = serializers.CharField()
    url = serializers.CharField()
    mean = serializers.FloatField()
    count = serializers.IntegerField(help_text="Articles.")


class BudgetSerializer(serializers.Serializer[Any]):
    """Retrievals that the budget allowed, those made, and their ratio."""

    allowed = serializers.FloatField()
    used = serializers.IntegerField()
    share = serializers.FloatField()


class KeptSerializer(serializers.Serializer[Any]):
    """The kept data of one kind, and the rows that another number of days would delete at once."""

    name = serializers.CharField()
    words = serializers.CharField()
    setting = serializers.CharField()
    days = serializers.IntegerField()
    oldest = serializers.DateTimeField(allow_null=True)
    deleted = serializers.IntegerField()


class StatisticsSerializer(serializers.Serializer[Any]):
    """Totals of now (feeds ... articles), and of the last 24 hours (the rest)."""

    feeds = serializers.IntegerField()
    active = serializers.IntegerField()
    paused = serializers.IntegerField()
    gone = serializers.IntegerField()
    training = serializers.IntegerField()
    failing = serializers.IntegerField()
    waiting = serializers.IntegerField()
    articles = serializers.IntegerField()
    new_articles = serializers.IntegerField()
    retrievals = serializers.IntegerField()
    not_modified = serializers.IntegerField()
    same_body = serializers.IntegerField()
    failures = serializers.IntegerField()
    bytes = serializers.IntegerField()
    delay = DelaySerializer()
    latest_feeds = LatestFeedSerializer(many=True)
    budget = BudgetSerializer()


class StatusSerializer(serializers.Serializer[dict[str, Any]]):
    """The state of Freshet in one sentence."""

    state = serializers.ChoiceField(choices=["well", "late", "offline", "limited"])
    sentence = serializers.CharField()
    since = serializers.DateTimeField(
        allow_null=True, help_text="Up to when nothing was missed, while articles are late."
    )
