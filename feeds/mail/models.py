"""Tables of newsletters: people's addresses and mailboxes, the newsletters found, and requests to confirm."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from crawler.database.reasons import ShortReasonField
from crawler.database.secrets import seal, unseal
from crawler.text.characters import one_line
from feeds.models import Feed

_WORDS = ("harbour", "meadow", "lantern", "willow", "pebble", "ferry", "orchard", "heron", "copper", "maple")
_SIGNS = "23456789abcdefghjkmnpqrstuvwxyz"
_RANDOM = 10
"""Random characters of a key: 31 ** 10, which is 49 bits."""


def new_key() -> str:
    """Return a key that nobody guesses, such as `harbour-7k2m9qx4ab`."""
    return f"{secrets.choice(_WORDS)}-{''.join(secrets.choice(_SIGNS) for _ in range(_RANDOM))}"


class MailAddress(models.Model):
    """A person's own address for newsletters: all that comes to it is followed."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_addresses"
    )
    key = models.CharField(max_length=40, unique=True, default=new_key, editable=False)
    name = models.CharField(max_length=100, blank=True, help_text="What it is for.")
    created = models.DateTimeField(db_default=Now(), editable=False)
    last_message = models.DateTimeField(null=True, editable=False)
    hour = models.DateTimeField(null=True, editable=False, help_text="The hour in which `taken` came.")
    taken = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        verbose_name_plural = "mail addresses"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name or self.key

    def save(self, *args: Any, **options: Any) -> None:
        """Store the address. Its name is one line."""
        self.name = one_line(self.name, 100)
        super().save(*args, **options)

    @property
    def address(self) -> str:
        """The mail address, "" while the deployment has no domain for mail."""
        domain = settings.INBOUND_MAIL_DOMAIN
        return f"{self.key}@{domain}" if domain else ""


class MailboxQuerySet(models.QuerySet["Mailbox"]):
    """Common queries of mailboxes."""

    def due(self, now: datetime) -> MailboxQuerySet:
        """Filter to mailboxes that are to be looked at, of people whose account is open."""
        return self.filter(next_look__lte=now, user__is_active=True)


class Mailbox(models.Model):
    """A folder of a person's account at an IMAP server. It is only read; its secret is stored encrypted."""

    class Security(models.TextChoices):
        TLS = "tls", pgettext_lazy("connection", "encrypted (TLS)")
        STARTTLS = "starttls", pgettext_lazy("connection", "encrypted after a greeting (STARTTLS)")
        NONE = "none", pgettext_lazy("connection", "not encrypted, on this machine only")

    class Method(models.TextChoices):
        PASSWORD = "password", pgettext_lazy("way to sign in", "password")
        TOKEN = "token", pgettext_lazy("way to sign in", "OAuth token")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mailboxes")
    host = models.CharField(max_length=253)
    port = models.PositiveIntegerField(
        default=993, validators=[MinValueValidator(1), MaxValueValidator(65_535)]
    )
    security = models.CharField(max_length=8, choices=Security, default=Security.TLS)
    login = models.CharField(max_length=200)
    sign_in = models.CharField(max_length=8, choices=Method, default=Method.PASSWORD)
    sealed = models.TextField(editable=False)
    folder = models.CharField(max_length=200, default="INBOX")
    created = models.DateTimeField(db_default=Now(), editable=False)

    uid_validity = models.BigIntegerField(default=0, editable=False)
    last_uid = models.BigIntegerField(default=0, editable=False, help_text="0: the last days are read again.")
    counted_uid = models.BigIntegerField(
        default=0, editable=False, help_text="Up to this message all were counted for what is offered."
    )
    last_look = models.DateTimeField(null=True, editable=False)
    next_look = models.DateTimeField(db_default=Now(), editable=False)
    failing_since = models.DateTimeField(null=True, editable=False)
    failure = ShortReasonField(max_length=300, blank=True, editable=False)
    unread = models.PositiveIntegerField(default=0, editable=False, help_text="Messages left out as faulty.")

    objects = MailboxQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "mailboxes"
        ordering = ["id"]
        indexes = [models.Index(fields=["next_look"], name="mailbox_due")]
        constraints = [
            models.UniqueConstraint(fields=["user", "host", "login", "folder"], name="mailbox_once")
        ]

    def __str__(self) -> str:
        return f"{self.login} · {self.host}"

    @property
    def secret(self) -> str:
        """The password or token, decrypted. Raises `UnreadableError`."""
        return unseal(self.sealed)

    @secret.setter
    def secret(self, secret: str) -> None:
        self.sealed = seal(secret)


class Newsletter(models.Model):
    """A newsletter or list that writes to a person, and what the person decided about it."""

    class State(models.TextChoices):
        OFFERED = "offered", pgettext_lazy("newsletter", "found in a mailbox")
        FOLLOWED = "followed", pgettext_lazy("newsletter", "followed")
        REFUSED = "refused", pgettext_lazy("newsletter", "not wanted")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="newsletters")
    source = models.UUIDField(editable=False, help_text="Digest of what identifies it over its issues.")
    source_key = models.TextField(editable=False)
    state = models.CharField(max_length=8, choices=State, default=State.OFFERED)
    feed = models.OneToOneField(
        Feed, null=True, on_delete=models.SET_NULL, related_name="newsletter", editable=False
    )
    mailbox = models.ForeignKey(
        Mailbox, null=True, on_delete=models.SET_NULL, related_name="newsletters", editable=False
    )
    name = models.CharField(max_length=300, blank=True)
    sender = models.CharField(max_length=320, blank=True)
    messages = models.PositiveIntegerField(default=0)
    subjects = ArrayField(models.TextField(), default=list, help_text="The newest three.")
    last_message = models.DateTimeField(null=True)
    unsubscribe_url = models.TextField(blank=True)
    unsubscribe_one_click = models.BooleanField(default=False)
    unsubscribe_mail = models.TextField(blank=True)
    unsubscribed = models.DateTimeField(null=True)
    authentication = models.CharField(max_length=8, blank=True)
    authenticated_domain = models.TextField(blank=True)

    class Meta:
        ordering = ["-last_message", "id"]
        constraints = [models.UniqueConstraint(fields=["user", "source"], name="newsletter_once")]

    def __str__(self) -> str:
        return self.name or self.sender

    @property
    def newest(self) -> str:
        """The newest subject."""
        return self.subjects[0] if self.subjects else ""


class SubscriptionRequest(models.Model):
    """A message that asks a person to confirm a subscription."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="subscription_requests"
    )
    message = models.UUIDField(editable=False, help_text="Digest of the Message-ID.")
    source = models.UUIDField(editable=False)
    name = models.CharField(max_length=300, blank=True)
    sender = models.CharField(max_length=320, blank=True)
    subject = models.TextField(blank=True)
    confirm_url = models.TextField()
    authentication = models.CharField(max_length=8, blank=True)
    authenticated_domain = models.TextField(blank=True)
    received = models.DateTimeField()
    done = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-received", "-id"]
        constraints = [models.UniqueConstraint(fields=["user", "message"], name="subscription_request_once")]
        indexes = [
            models.Index(fields=["user"], name="subscription_request_open", condition=Q(done__isnull=True))
        ]

    def __str__(self) -> str:
        return self.subject or self.name or self.sender
