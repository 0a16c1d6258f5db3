"""Interests and events as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from articles.interest.feedback import WORDS
from articles.interest.models import Event
from articles.models import Article


class WeightSerializer(serializers.Serializer[Any]):
    """One learned weight, aged to now: log odds of an opening for each unit of the feature."""

    feature = serializers.CharField(help_text='Such as "keyword:rain", "feed:7", "author:ada", "category:x".')
    weight = serializers.FloatField()
    deviation = serializers.FloatField(help_text="Standard deviation of the weight.")


@extend_schema_serializer(many=False)
class InterestSerializer(serializers.Serializer[Any]):
    """The learned interests of the signed-in subscriber, the strongest weights first."""

    learned = serializers.IntegerField(help_text="Events that were learned from.")
    changed = serializers.DateTimeField(allow_null=True)
    weights = WeightSerializer(many=True)
    forgotten = serializers.ListField(child=serializers.CharField())
    set_by_hand = serializers.DictField(
        child=serializers.IntegerField(), help_text="Steps from -3 (much less) to 3 (much more) by feature."
    )
    muted = serializers.ListField(
        child=serializers.CharField(), help_text="Features never listed by interest."
    )
    learns = serializers.BooleanField(help_text="Whether openings and showings are learned from.")


class TuneSerializer(serializers.Serializer[Any]):
    """Settings of interests by hand. All of it may be left out; `step` and `muted` need a feature."""

    feature = serializers.RegexField(
        r"^(keyword|category|feed|author):.+$", max_length=130, required=False,
        help_text='Such as "keyword:rain", "feed:7", "author:ada", "category:x".',
    )  # fmt: skip
    step = serializers.IntegerField(min_value=-3, max_value=3, allow_null=True, required=False)
    muted = serializers.BooleanField(required=False)
    learns = serializers.BooleanField(required=False)

    def validate(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Refuse a step without a feature."""
        if {"step", "muted"} & attributes.keys() and not attributes.get("feature"):
            raise serializers.ValidationError({"feature": ["Which one?"]})
        return attributes


class PartSerializer(serializers.Serializer[Any]):
    """One feature's part of an article's score."""

    feature = serializers.CharField()
    weight = serializers.FloatField()
    value = serializers.FloatField()
    contribution = serializers.FloatField()


class CrowdPartSerializer(serializers.Serializer[Any]):
    """A part of a score that comes from what all subscribers open."""

    signal = serializers.CharField()
    sentence = serializers.CharField()
    contribution = serializers.FloatField()


class ExplanationSerializer(serializers.Serializer[Any]):
    """Why an article has its score: the parts sum to `score`, with `recency` and `crowd` to `total`."""

    parts = PartSerializer(many=True)
    score = serializers.FloatField()
    deviation = serializers.FloatField()
    recency = serializers.FloatField()
    crowd = CrowdPartSerializer(many=True)
    total = serializers.FloatField()
    chance = serializers.FloatField(help_text="That the subscriber opens it when it is listed.")


class InterestEventSerializer(serializers.ModelSerializer[Event]):
    """One thing the subscriber did with an article, or was shown."""

    kind = serializers.CharField(read_only=True, help_text=f"One of {', '.join(Event.Kind.values)}.")

    class Meta:
        model = Event
        fields = ["id", "article", "kind", "at", "undone"]
        read_only_fields = fields


class FeedbackSerializer(serializers.Serializer[Any]):
    """Feedback on an article; to save is to star."""

    article = serializers.PrimaryKeyRelatedField(queryset=Article.objects.only("pk"))
    feedback = serializers.ChoiceField(choices=list(WORDS))


class GivenSerializer(serializers.Serializer[Any]):
    """The subscriber's feedback on an article."""

    article = serializers.IntegerField()
    given = serializers.ListField(child=serializers.CharField(), help_text=f"Some of {', '.join(WORDS)}.")


class ResetSerializer(serializers.Serializer[Any]):
    """How many events were undone."""

    undone = serializers.IntegerField()
