"""Questions to a language model, and their answers."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from crawler.database.reasons import ReasonField

MAX_ATTEMPTS = 3


class ModelTaskQuerySet(models.QuerySet["ModelTask"]):
    """Queries for questions to a language model."""

    def due(self, now: datetime) -> Self:
        """Filter to questions that wait for their turn, and those whose process has ended."""
        is_lost = Q(state=ModelTask.State.RUNNING, leased_until__lte=now)
        return self.filter(Q(state=ModelTask.State.WAITING, due__lte=now) | is_lost)

    def open(self) -> Self:
        """Filter to questions that have no end yet."""
        return self.filter(state__in=[ModelTask.State.WAITING, ModelTask.State.RUNNING])

    def current(self) -> Self:
        """Filter to questions that are open or answered."""
        return self.filter(state__in=CURRENT)


class ModelTask(models.Model):
    """A question to a language model, about an article or several, and the answer.

    `digest` is that of kind, prompt and model: the same question is answered with the answer that is kept.
    The prompt itself is kept as long as it is needed. A question is leased to a process for as long as an
    answer may take; one whose process has ended is asked again, MAX_ATTEMPTS times at most.
    """

    class State(models.TextChoices):
        WAITING = "waiting", pgettext_lazy("state of a question to a model", "waiting")
        RUNNING = "running", pgettext_lazy("state of a question to a model", "being answered")
        DONE = "done", pgettext_lazy("state of a question to a model", "answered")
        FAILED = "failed", pgettext_lazy("state of a question to a model", "failed")
        CANCELLED = "cancelled", pgettext_lazy("state of a question to a model", "cancelled")

    subscriber = models.ForeignKey(
        "articles.Subscriber", on_delete=models.CASCADE, related_name="model_tasks", db_index=False
    )
    kind = models.CharField(max_length=20)
    article = models.ForeignKey(
        "articles.Article", null=True, on_delete=models.CASCADE, related_name="model_tasks"
    )
    subject = models.JSONField(default=dict, help_text="What it is about besides, or instead of, an article.")
    language = models.CharField(max_length=20, blank=True, help_text="Of the answer; empty: the article's.")
    digest = models.UUIDField(db_index=True, editable=False)
    prompt = models.JSONField(default=list, help_text="The messages, until there is an answer.")
    is_cut = models.BooleanField(default=False, help_text="The model got only the beginning of the text.")
    model = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    created = models.DateTimeField(db_default=Now())
    due = models.DateTimeField(db_default=Now())
    started = models.DateTimeField(null=True)
    leased_until = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    received = models.PositiveIntegerField(default=0, help_text="Characters that have come so far.")
    answer = models.TextField(blank=True)
    failure = ReasonField(blank=True)

    objects = ModelTaskQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["subscriber", "-created", "-id"], name="model_task_newest"),
            models.Index(
                fields=["due", "id"], name="model_task_due", condition=Q(state__in=["waiting", "running"])
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["subscriber", "digest"],
                name="model_task_once",
                condition=Q(state__in=["waiting", "running", "done"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def is_open(self) -> bool:
        """True while an answer may still come."""
        return self.state in {self.State.WAITING, self.State.RUNNING}


CURRENT = [ModelTask.State.WAITING, ModelTask.State.RUNNING, ModelTask.State.DONE]

CHECKED = "checked"
"""The key of `subject` with the checked answer (`checking.CheckedAnswer`)."""
