"""Access to the API of Google Reader: app passwords, and the logins of readers.

Only SHA-256 digests of secrets are stored; the secrets are random, so no slower hash is needed.
"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class AppPassword(models.Model):
    """A password for one app instead of the account's own. It gives access to this API only."""

    subscriber = models.ForeignKey(
        "articles.Subscriber", on_delete=models.CASCADE, related_name="app_passwords"
    )
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    fever = models.CharField(
        max_length=64,
        blank=True,
        db_index=True,
        editable=False,
        help_text="Digest of the key of the Fever API.",
    )
    created = models.DateTimeField(db_default=Now(), editable=False)
    last_used = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class ReaderLogin(models.Model):
    """A sign-in of a reader, and the digest of its token."""

    subscriber = models.ForeignKey(
        "articles.Subscriber", on_delete=models.CASCADE, related_name="reader_logins"
    )
    app_password = models.ForeignKey(
        AppPassword, null=True, blank=True, on_delete=models.CASCADE, related_name="logins"
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    account_password = models.CharField(
        max_length=128,
        blank=True,
        editable=False,
        help_text="Django's session hash where the account's own password was given: a new password ends it.",
    )
    app = models.CharField(max_length=100, blank=True, help_text="What the reader calls itself.")
    created = models.DateTimeField(db_default=Now(), editable=False)
    last_used = models.DateTimeField(null=True, blank=True, editable=False)
    revoked = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.app or 'a reader'} of {self.subscriber}"
