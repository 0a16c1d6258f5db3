"""Rows of the web server: attempts with unknown secrets and wrong passwords."""

from __future__ import annotations

from django.db import models


class Attempts(models.Model):
    """Unknown secrets and wrong passwords of one address in one window of time (`crawler.web.attempts`)."""

    key = models.CharField(max_length=64, help_text="Keyed hash of the kind of secret and the address.")
    window = models.DateTimeField(help_text="When the window began.")
    failures = models.PositiveIntegerField(default=1)

    class Meta:
        app_label = "crawler"  # where its table has always been
        verbose_name_plural = "attempts"
        constraints = [models.UniqueConstraint(fields=["key", "window"], name="attempts_once")]
        indexes = [models.Index(fields=["window"], name="attempts_window")]

    def __str__(self) -> str:
        return f"{self.failures} since {self.window:%Y-%m-%d %H:%M}"
