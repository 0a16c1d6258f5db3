"""The state of the filling with vectors, and the vectors of searches (`vectors.py` has those of articles)."""

from __future__ import annotations

from django.db import models

from crawler.database.reasons import ReasonField


class VectorFilling(models.Model):
    """How far the articles have vectors: one row, from the first filling on.

    It is leased to one process at a time. Articles up to `complete_until` need no look.
    """

    leased_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="The end of the pause after failures.")
    failures = models.PositiveIntegerField(default=0, help_text="In a row.")
    failing_since = models.DateTimeField(null=True)
    failure = ReasonField(blank=True)
    complete_until = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"articles up to {self.complete_until}"


class QuestionVector(models.Model):
    """The vector of a search's words by a model, kept so that the model is asked for them once."""

    digest = models.UUIDField(primary_key=True, editable=False, help_text="Of the model and the words.")
    vector = models.TextField(help_text="In the notation of pgvector.")
    created = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return str(self.digest)
