"""Experiments as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from crawler.web.fields import RowSerializer
from feeds.laboratory.models import Experiment, Outcome
from feeds.scheduling.registry import POLICIES


class OutcomeSerializer(serializers.ModelSerializer[Outcome]):
    """One policy at one budget. Metrics are those of the replay command; delays in minutes."""

    class Meta:
        model = Outcome
        fields = [
            "policy", "budget", "spent", "metrics", "pending_by_hour", "delays", "error", "seconds",
        ]  # fmt: skip
        read_only_fields = fields


class NeededSerializer(serializers.Serializer[Any]):
    """The budget that a policy needs for the delay that was asked for."""

    policy = serializers.CharField()
    budget = serializers.FloatField(source="needed.budget", allow_null=True)
    beyond = serializers.CharField(
        source="needed.beyond", help_text="more or less, where the answer lies beyond the measured budgets."
    )


class ExperimentSerializer(RowSerializer[Experiment]):
    """An experiment of the policy laboratory; `replay` is the object of the replay command so far."""

    policies = serializers.ListField(
        child=serializers.ChoiceField(choices=list(POLICIES)),
        required=False,
        min_length=1,
        max_length=100,
    )
    file = serializers.FileField(
        write_only=True, required=False, help_text="CSV feed,published for the source upload."
    )

    class Meta:
        model = Experiment
        fields = [
            "id", "name", "source", "file", "policies", "budget", "curve", "train_days", "tick", "window",
            "beta", "audience", "state", "feeds", "articles", "days", "flat_optimum", "created",
            "finished",
        ]  # fmt: skip
        read_only_fields = [
            "id", "name", "state", "feeds", "articles", "days", "flat_optimum", "created", "finished",
        ]  # fmt: skip

    def validate_policies(self, chosen: list[str]) -> list[str]:
        """Order the chosen policies as in `POLICIES`, each once."""
        return [name for name in POLICIES if name in chosen]


class ExperimentDetailSerializer(ExperimentSerializer):
    """An experiment with its results, as the schema describes them."""

    outcomes = OutcomeSerializer(many=True, read_only=True)
    replay = serializers.JSONField(read_only=True)
    needed = NeededSerializer(many=True, read_only=True)

    class Meta(ExperimentSerializer.Meta):
        fields = [*ExperimentSerializer.Meta.fields, "replay", "outcomes", "needed"]
