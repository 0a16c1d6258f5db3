"""The tables of moves from other feed readers: how far each is, and parts that are still to be stored."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import pgettext_lazy

from crawler.database import secrets


class Move(models.Model):
    """A person's account at another feed reader, or its file, that is taken over a part at a time.

    `cursor` says where the next part begins. A rehearsal only counts. The secret is sealed, and forgotten
    when the last part was read.
    """

    class Kind(models.TextChoices):
        GREADER = "greader", pgettext_lazy("kind of account", "Google Reader's interface")
        MINIFLUX = "miniflux", "Miniflux"
        FEVER = "fever", "Fever"
        FILE = "file", pgettext_lazy("kind of account", "a file")

    class State(models.TextChoices):
        READING = "reading", pgettext_lazy("state of a move", "is read")
        STORING = "storing", pgettext_lazy("state of a move", "is stored")
        DONE = "done", pgettext_lazy("state of a move", "done")
        FAILED = "failed", pgettext_lazy("state of a move", "failed")
        STOPPED = "stopped", pgettext_lazy("state of a move", "stopped")

    subscriber = models.ForeignKey("articles.Subscriber", on_delete=models.CASCADE, related_name="moves")
    kind = models.CharField(max_length=8, choices=Kind)
    url = models.CharField(max_length=2000, blank=True, help_text="Of the other server, or the file's name.")
    login = models.CharField(max_length=200, blank=True)
    sealed = models.TextField(blank=True, editable=False)
    is_rehearsal = models.BooleanField(default=False, db_default=False)
    state = models.CharField(max_length=8, choices=State, default=State.READING)
    cursor = models.TextField(blank=True, editable=False)
    parts_read = models.PositiveIntegerField(default=0, editable=False)
    about = models.IntegerField(default=-1, help_text="Articles that there may be, -1 if nobody knows.")
    feeds = models.JSONField(default=dict, editable=False, help_text="Keys of feeds here by their addresses.")
    counts = models.JSONField(default=dict, help_text="What came, by kind.")
    left_out = models.JSONField(default=list, help_text="What cannot come, in words.")
    failure = models.CharField(max_length=300, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    not_before = models.DateTimeField(db_default=Now(), editable=False)
    created = models.DateTimeField(db_default=Now(), editable=False)
    ended = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["not_before"], name="move_open", condition=Q(state__in=["reading", "storing"])
            )
        ]

    def __str__(self) -> str:
        return self.url or self.get_kind_display()

    def get_absolute_url(self) -> str:
        return reverse("move", args=[self.pk])

    @property
    def secret(self) -> str:
        """The password or token, decrypted. Raises `secrets.UnreadableError`."""
        return secrets.unseal(self.sealed) if self.sealed else ""

    @secret.setter
    def secret(self, secret: str) -> None:
        self.sealed = secrets.seal(secret) if secret else ""

    @property
    def is_open(self) -> bool:
        """True while it goes on."""
        return self.state in {self.State.READING, self.State.STORING}

    def count(self, name: str, number: int = 1) -> None:
        """Add to a number of what came."""
        counts: dict[str, Any] = self.counts
        counts[name] = int(counts.get(name, 0)) + number


class MovePart(models.Model):
    """Items of a move that are still to be stored: MessagePack, packed by zlib."""

    move = models.ForeignKey(Move, on_delete=models.CASCADE, related_name="parts")
    content = models.BinaryField()
    number = models.PositiveIntegerField(default=0, help_text="Items in it.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.number} items of move {self.move_id}"
