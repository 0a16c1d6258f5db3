"""Experiments, which replay policies on one trace, and the outcomes of their replays."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.database.columns import NameColumn
from crawler.web.validators import between
from feeds.replay.setup import Setup
from feeds.scheduling.freshness import MAX_BETA
from feeds.scheduling.registry import POLICIES

STALE = timedelta(minutes=2)
"""Age of the last sign of life after which a replay's worker counts as dead."""


def has_budget(policy: str) -> bool:
    """Return whether the policy keeps to a budget. Other policies retrieve every due feed."""
    return bool(getattr(POLICIES[policy], "budgeted", True))


def all_policies() -> list[str]:
    """Return the names of all policies."""
    return list(POLICIES)


class ExperimentQuerySet(models.QuerySet["Experiment"]):
    """Common queries of experiments."""

    def open(self) -> ExperimentQuerySet:
        """Filter to experiments with replays to come."""
        return self.filter(state=Experiment.State.OPEN)

    def free(self, now: datetime) -> ExperimentQuerySet:
        """Filter to open experiments without a living worker."""
        return self.open().filter(Q(heard__isnull=True) | Q(heard__lt=now - STALE))


class Experiment(models.Model):
    """An experiment and its progress, with the trace until it has ended."""

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

    state = models.CharField(max_length=10, choices=State, default=State.OPEN, editable=False)
    feeds = models.PositiveIntegerField(null=True, editable=False)
    articles = models.PositiveIntegerField(null=True, editable=False)
    days = models.FloatField(null=True, editable=False)
    flat_optimum = models.FloatField(null=True, editable=False)
    trace = models.BinaryField(default=b"", editable=False)
    subscribers = ArrayField(models.FloatField(), null=True, editable=False)

    claim = models.UUIDField(null=True, editable=False)
    heard = models.DateTimeField(null=True, editable=False, help_text="Last sign of the replay that runs.")
    share = models.FloatField(default=0.0, editable=False, help_text="How much of that replay is done.")
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    finished = models.DateTimeField(null=True, editable=False)

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["heard"], name="experiment_open", condition=Q(state="open"))]

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


class Outcome(models.Model):
    """One policy at one budget: the metrics of `manage.py replay`, or the reason of a failure."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="outcomes")
    policy = models.CharField(max_length=30)
    budget = models.FloatField()
    metrics = models.JSONField(null=True)
    error = models.TextField(blank=True)
    spent = models.FloatField(null=True, help_text="Retrievals made, per feed and hour.")
    pending_by_hour = ArrayField(models.FloatField(), default=list, help_text="24 means, UTC.")
    delays = ArrayField(models.FloatField(), default=list, help_text="Percentiles 1 to 99, minutes.")
    seconds = models.FloatField(default=0.0, help_text="What the replay took.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "policy", "budget"], name="outcome_once")
        ]

    def __str__(self) -> str:
        return f"{self.policy} at {self.budget:g}"
