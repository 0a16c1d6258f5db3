"""Subscriptions at hubs, and pushes that have not been read yet."""

from __future__ import annotations

import secrets
import zlib
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from crawler.engine.leased import LeasedQuerySet, LeasedRow
from crawler.text.characters import one_line
from feeds.models import Feed

MAX_WAITING_PUSHES = 20  # pushes of one feed; then a visit brings what further ones would


def new_token() -> str:
    """Return the secret part of a callback address, known only to us and the hub."""
    return secrets.token_urlsafe(32)


def new_secret() -> str:
    """Return a secret for a hub's signatures; WebSub allows less than 200 bytes."""
    return secrets.token_hex(32)


class HubSubscriptionQuerySet(LeasedQuerySet["HubSubscription"]):
    """Common queries of subscriptions."""

    def due(self, now: datetime) -> HubSubscriptionQuerySet:
        """Filter to subscriptions to request now: new ones, unconfirmed ones, or those that end soon."""
        return self.free().filter(not_before__lte=now, feed__status=Feed.Status.ACTIVE)


class HubSubscription(LeasedRow):
    """A feed's subscription at the hub named by the feed."""

    class State(models.TextChoices):
        WANTED = "wanted", pgettext_lazy("state of a subscription", "to be asked for")
        ASKED = "asked", pgettext_lazy("state of a subscription", "asked for, not confirmed yet")
        ACTIVE = "active", pgettext_lazy("state of a subscription", "active")
        DENIED = "denied", pgettext_lazy("state of a subscription", "denied by the hub")

    feed = models.OneToOneField(
        Feed, primary_key=True, on_delete=models.CASCADE, related_name="hub_subscription"
    )
    hub = models.TextField()
    host = models.ForeignKey("crawler.Host", on_delete=models.PROTECT, related_name="hub_subscriptions")
    topic = models.TextField(help_text="The feed's address as the hub knows it.")
    token = models.CharField(max_length=64, unique=True, default=new_token)
    secret = models.CharField(max_length=64, default=new_secret)
    state = models.CharField(max_length=10, choices=State, default=State.WANTED)
    not_before = models.DateTimeField(db_default=Now(), help_text="When the hub is asked next.")
    attempts = models.PositiveSmallIntegerField(default=0)
    asked = models.DateTimeField(null=True)
    expires = models.DateTimeField(null=True, help_text="Until when the hub pushes.")
    last_push = models.DateTimeField(null=True)
    pushes = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0, help_text="Pushes without a valid signature.")
    detail = models.TextField(blank=True, help_text="Why the last request failed, or was denied.")

    objects = HubSubscriptionQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        indexes = [
            models.Index(fields=["host", "not_before"], name="hub_due", condition=Q(lease__isnull=True)),
            models.Index(fields=["lease"], name="hub_lease", condition=Q(lease__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.topic} at {self.hub}"

    def holds(self, now: datetime) -> bool:
        """Return whether the subscription is active and not expired at this time."""
        return self.state == self.State.ACTIVE and self.expires is not None and self.expires > now


class Push(LeasedRow):
    """A signed push of a hub, as received, until a terminal has read it."""

    feed = models.ForeignKey(Feed, on_delete=models.CASCADE, related_name="pushes")
    at = models.DateTimeField(db_default=Now())
    body = models.BinaryField(help_text="zlib of the bytes.")
    content_type = models.CharField(max_length=200, blank=True)
    leased_until = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "pushes"
        indexes = [models.Index(fields=["lease"], name="push_lease", condition=Q(lease__isnull=False))]

    def __str__(self) -> str:
        return f"push for feed {self.feed_id}"

    @classmethod
    def keep(cls, feed: Feed, body: bytes, content_type: str) -> bool:
        """Store a push until it is read. Returns False when too many pushes of this feed are waiting."""
        # Bounded, because a hub with our secret could fill the disk otherwise.
        if cls.objects.filter(feed=feed)[:MAX_WAITING_PUSHES].count() >= MAX_WAITING_PUSHES:
            return False
        # Level 1: a push is read within seconds, and then deleted.
        cls.objects.create(feed=feed, body=zlib.compress(body, 1), content_type=one_line(content_type, 200))
        return True
