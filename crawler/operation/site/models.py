"""Free disk space, one sample a day, and since when each version with news has run."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class RoomSample(models.Model):
    """The size of the database and the free space of the data's disk on one day."""

    day = models.DateField(primary_key=True)
    database_bytes = models.BigIntegerField()
    free_bytes = models.BigIntegerField()

    def __str__(self) -> str:
        return f"room on {self.day}"


class VersionStart(models.Model):
    """The moment from which a version that has news was running here."""

    version = models.CharField(max_length=20, primary_key=True)
    since = models.DateTimeField(db_default=Now())
    is_first = models.BooleanField(default=False, help_text="Nothing ran here before: nothing is news.")

    def __str__(self) -> str:
        return f"{self.version} since {self.since:%Y-%m-%d}"
