"""Experiments, which replay policies on one trace, and the outcomes of their replays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.database.columns import NameColumn
from crawler.web.validators import between
from feeds.replay.setup import Setup
from feeds.scheduling.freshness import MAX_BETA
from feeds.scheduling.registry import POLICIES

CURVE = (1.0, 0.25, 0.5, 2.0, 4.0)
"""Multiples of the budget, the budget itself first."""


def has_budget(policy: str) -> bool:
    """Return whether the policy keeps to a budget. Other policies retrieve every due feed."""
    return bool(getattr(POLICIES.get(policy), "budgeted", True))


def all_policies() -> list[str]:
    """Return the names of all policies."""
    return list(POLICIES)


def no_outcomes() -> dict[str, Any]:
    """Return the result of an experiment whose first replay was just sent."""
    return {"outcomes": [], "sends": 1}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One policy at one budget: the metrics of `manage.py replay`, or the reason of a failure.

    `spent` are retrievals made, per feed and hour; `pending_by_hour` 24 means, UTC; `delays` the percentiles
    1 to 99 in minutes; `seconds` what the replay took.
    """

    policy: str
    budget: float
    metrics: dict[str, Any] | None = None
    error: str = ""
    spent: float | None = None
    pending_by_hour: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    seconds: float = 0.0


class ExperimentQuerySet(models.QuerySet["Experiment"]):
    """Common queries of experiments."""

    def open(self) -> ExperimentQuerySet:
        """Filter to experiments with replays to come."""
        return self.filter(finished__isnull=True)

    def lean(self) -> ExperimentQuerySet:
        """Leave out what only a replay needs."""
        return self.defer("trace", "subscribers")


class Experiment(models.Model):
    """An experiment and what it found so far, with the trace until it has ended.

    `result` holds `outcomes`, and of the replay that is next how often (`sends`) and since when (`since`,
    epoch seconds) it was sent.
    """

    class Source(models.TextChoices):
        SAMPLE = "sample", pgettext_lazy("source of a trace", "the built-in trace (invented)")
        HISTORY = "history", pgettext_lazy("source of a trace", "what this deployment's feeds posted")
        UPLOAD = "upload", pgettext_lazy("source of a trace", "a file of posting times")

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("state of an experiment", "running")
        DONE = "done", pgettext_lazy("state of an experiment", "done")
        STOPPED = "stopped", pgettext_lazy("state of an experiment", "stopped")

    name = models.CharField(max_length=200, editable=False, help_text="The trace's name.")
    source = models.CharField(max_length=10, choices=Source, default=Source.SAMPLE)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created = models.DateTimeField(db_default=Now(), editable=False)

    policies = ArrayField(NameColumn(max_length=30, names=POLICIES), default=all_policies)
    budget = models.FloatField(
        default=0.15, validators=between(0.001, 6), help_text=gettext_lazy("Retrievals per feed and hour.")
    )
    curve = models.BooleanField(
        default=True, help_text=gettext_lazy("Also at a quarter, half, twice and four times this budget.")
    )
    train_days = models.FloatField(
        null=True,
        blank=True,
        validators=between(0, 365),
        help_text=gettext_lazy("Learned from and not measured; empty: a third of the trace, at most 28."),
    )
    tick = models.PositiveIntegerField(
        default=600, validators=between(60, 86_400), help_text=gettext_lazy("Seconds between two ticks.")
    )
    window = models.PositiveIntegerField(
        default=0,
        validators=between(0, 10_000),
        help_text=gettext_lazy("Entries that a document holds; 0: all."),
    )
    beta = models.FloatField(
        null=True,
        blank=True,
        validators=between(0, MAX_BETA),
        help_text=gettext_lazy("freshness ranks by n × age^beta instead of its plan."),
    )
    audience = models.BooleanField(
        default=False,
        help_text=gettext_lazy("Weigh the subscribers of this deployment's feeds (its own history only)."),
    )
    audience_weight = models.FloatField(
        null=True, editable=False, help_text="c of a trial of planning rules; empty: that in force."
    )

    feeds = models.PositiveIntegerField(null=True, editable=False)
    articles = models.PositiveIntegerField(null=True, editable=False)
    days = models.FloatField(null=True, editable=False)
    flat_optimum = models.FloatField(null=True, editable=False)
    trace = models.BinaryField(default=b"", editable=False)
    subscribers = ArrayField(models.FloatField(), null=True, editable=False)

    result = models.JSONField(default=no_outcomes, editable=False)
    finished = models.DateTimeField(null=True, editable=False)

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name}, {self.budget:g} retrievals per feed and hour"

    def get_absolute_url(self) -> str:
        return reverse("experiment", args=[self.pk])

    def learned_days(self) -> float:
        """Return the days of the trace that are learned from and not measured."""
        return min(28.0, (self.days or 0.0) / 3) if self.train_days is None else self.train_days

    def setup(self) -> Setup:
        """Return the settings of the replay, without subscribers."""
        return Setup(
            budget=self.budget, tick=float(self.tick), train_days=self.learned_days(), window=self.window
        )

    @property
    def outcomes(self) -> list[Outcome]:
        """Return the outcomes so far, in the order of their replays."""
        return [Outcome(**each) for each in self.result["outcomes"]]

    @property
    def state(self) -> State:
        """Return whether replays are to come, all were done, or a person stopped it before."""
        if self.finished is None:
            return self.State.OPEN
        return self.State.STOPPED if self.remaining() else self.State.DONE

    def planned(self) -> list[tuple[str, float]]:
        """Return all (policy, budget) pairs, in replay order."""
        return [
            (name, self.budget * factor)
            for factor in (CURVE if self.curve else CURVE[:1])
            for name in self.policies
            # A policy without a budget gives the same result at every factor.
            if factor == 1.0 or has_budget(name)
        ]

    def remaining(self) -> list[tuple[str, float]]:
        """Return the (policy, budget) pairs that have no outcome yet, in replay order."""
        completed = {(each["policy"], each["budget"]) for each in self.result["outcomes"]}
        return [replay for replay in self.planned() if replay not in completed]
