"""Actions of subscribers on articles, and the interests learned from them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class EventQuerySet(models.QuerySet["Event"]):
    """Common queries of events."""

    def valid(self) -> EventQuerySet:
        """Filter to events that were not undone."""
        return self.filter(undone__isnull=True)

    def done(self) -> EventQuerySet:
        """Filter to actions, without lists that were merely shown."""
        return self.exclude(kind="shown")


class Event(models.Model):
    """An action of a subscriber on an article, or an article shown. Weights are computed from this log."""

    class Kind(models.TextChoices):
        SHOWN = "shown", pgettext_lazy("event of an article", "was shown")
        OPENED = "opened", pgettext_lazy("event of an article", "opened")
        MORE = "more", pgettext_lazy("event of an article", "more like this")
        LESS = "less", pgettext_lazy("event of an article", "less like this")
        HIDDEN = "hidden", pgettext_lazy("event of an article", "hidden")
        SAVED = "saved", pgettext_lazy("event of an article", "saved")

    DEEDS: ClassVar = {
        Kind.SHOWN: _("were shown it"),
        Kind.OPENED: _("opened it"),
        Kind.MORE: _("wanted more like it"),
        Kind.LESS: _("wanted less like it"),
        Kind.HIDDEN: _("hid it"),
        Kind.SAVED: _("saved it"),
    }
    """What the subscriber did, told as after "You"."""

    subscriber = models.ForeignKey("articles.Subscriber", on_delete=models.CASCADE, related_name="events")
    article = models.ForeignKey("articles.Article", on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=8, choices=Kind)
    at = models.DateTimeField()
    undone = models.DateTimeField(null=True, blank=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["subscriber", "id"], name="event_subscriber"),
            models.Index(fields=["subscriber", "article"], name="event_article"),
            models.Index(fields=["subscriber", "id"], name="event_done", condition=~Q(kind="shown")),
        ]

    def __str__(self) -> str:
        return f"{self.subscriber} {self.get_kind_display()} {self.article_id}"

    @property
    def deed(self) -> str:
        """The subscriber's action, told as after "You"."""
        return str(self.DEEDS[self.Kind(self.kind)])


class Interest(models.Model):
    """A subscriber's weights, packed; recomputed from the events when one is undone."""

    subscriber = models.OneToOneField(
        "articles.Subscriber", on_delete=models.CASCADE, primary_key=True, related_name="interest"
    )
    version = models.PositiveSmallIntegerField(default=0)
    weights = models.BinaryField(default=b"")
    learned = models.PositiveIntegerField(default=0, help_text="Events that were learned from.")
    forgotten = models.JSONField(
        default=dict, blank=True, help_text="Features that the subscriber had forgotten, and until when."
    )
    tuned = models.JSONField(
        default=dict,
        blank=True,
        help_text="Features whose weight the subscriber has set, in steps from -3 to 3.",
    )
    muted = models.JSONField(
        default=dict, blank=True, help_text="Features never listed by interest, and since when."
    )
    learns = models.BooleanField(default=True, help_text="Whether openings and showings are learned from.")
    changed = models.DateTimeField()

    def __str__(self) -> str:
        return f"interests of {self.subscriber}"


class CrowdState(models.Model):
    """The crowd, packed: articles that all subscribers open, learned from the newest events (one row)."""

    packed = models.BinaryField(default=b"")
    event = models.BigIntegerField(default=0, help_text="The newest event that it was learned from.")
    lists = models.PositiveIntegerField(default=0, help_text="Opened lists that the weights come from.")
    changed = models.DateTimeField()

    def __str__(self) -> str:
        return f"what all subscribers open, from {self.lists} lists"
