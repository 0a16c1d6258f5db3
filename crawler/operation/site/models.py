"""Free disk space, one sample a day."""

from __future__ import annotations

from django.db import models


class RoomSample(models.Model):
    """The size of the database and the free space of the data's disk on one day."""

    day = models.DateField(primary_key=True)
    database_bytes = models.BigIntegerField()
    free_bytes = models.BigIntegerField()

    def __str__(self) -> str:
        return f"room on {self.day}"
