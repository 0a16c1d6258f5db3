"""Rows of the web server: attempts with unknown secrets and wrong passwords, and tokens of programs."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from crawler.web.scopes import READ, SCOPE_CHOICES

NOTED_EVERY = timedelta(minutes=1)
"""The last use of a token is written down at most so often."""
TOKEN_PREFIX = "fst_"  # noqa: S105 - so that scanners of leaked secrets know one


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


class ApiToken(models.Model):
    """A named key with which a program uses the API as its owner. Only a keyed hash of it is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    ending = models.CharField(max_length=4, editable=False, help_text="The last characters, to tell it by.")
    scope = models.CharField(max_length=6, choices=SCOPE_CHOICES, default=READ)
    created = models.DateTimeField(db_default=Now(), editable=False)
    last_used = models.DateTimeField(null=True, editable=False)

    class Meta:
        app_label = "crawler"
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def make(cls, user: models.Model, name: str, *, scope: str) -> tuple[ApiToken, str]:
        """Store a token. Returns it with its secret, which is not stored."""
        secret = TOKEN_PREFIX + secrets.token_urlsafe(30)
        row = cls.objects.create(
            user=user, name=name, digest=token_digest(secret), ending=secret[-4:], scope=scope
        )
        return row, secret

    @property
    def may_write(self) -> bool:
        """Return whether it may change anything."""
        return self.scope != READ

    def note_use(self, now: datetime) -> None:
        """Write down that it was used, unless that was written down a moment ago."""
        is_old = Q(last_used__isnull=True) | Q(last_used__lt=now - NOTED_EVERY)
        if self.last_used is None or self.last_used < now - NOTED_EVERY:
            ApiToken.objects.filter(is_old, pk=self.pk).update(last_used=now)


def token_digest(secret: str) -> str:
    """Return the keyed hash under which the secret of a token is stored."""
    return salted_hmac("crawler.web.ApiToken", secret, algorithm="sha256").hexdigest()
