"""The engine's own rows: hosts and their leases, ticks, and the pulse of every queue."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q


class HostQuerySet(models.QuerySet["Host"]):
    """Reads of hosts."""

    def named(self, names: set[str]) -> dict[str, int]:
        """Primary keys of hosts by name; unknown names are made first."""
        known = dict(self.filter(name__in=names).values_list("name", "id"))
        missing = names - known.keys()
        if missing:
            self.bulk_create([Host(name=name) for name in sorted(missing)], ignore_conflicts=True)
            known |= dict(self.filter(name__in=missing).values_list("name", "id"))
        return known


class Host(models.Model):
    """A host name of the web. Its lease is the right to send requests to it: one terminal at a time."""

    name = models.CharField(max_length=253, unique=True)
    spacing = models.FloatField(
        null=True,
        blank=True,
        help_text="Seconds between two requests, instead of FETCH_HOST_SPACING_SECONDS.",
    )
    lease = models.UUIDField(null=True, blank=True, editable=False)
    leased_until = models.DateTimeField(null=True, blank=True, editable=False)
    served = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When it last got a lease; the longest waiting goes first.",
    )
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="The host asked for a pause: no request before this time."
    )
    turns = models.PositiveSmallIntegerField(
        default=0,
        editable=False,
        help_text="Batches until one for what has lost a lease, with the last of them; 0: nothing has.",
    )
    robots_origin = models.CharField(max_length=300, blank=True, editable=False)
    robots_status = models.PositiveSmallIntegerField(null=True, blank=True, editable=False)
    robots_text = models.TextField(blank=True, editable=False)
    robots_at = models.DateTimeField(null=True, blank=True, editable=False)
    robots_tried = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="when robots.txt was last asked for in vain"
    )

    objects = HostQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        indexes = [
            models.Index(fields=["leased_until"], name="host_leased", condition=Q(lease__isnull=False)),
        ]
        constraints = [
            models.CheckConstraint(
                name="host_lease_has_expiry",
                condition=Q(lease__isnull=True, leased_until__isnull=True)
                | Q(lease__isnull=False, leased_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Tick(models.Model):
    """One run of the controller: what it took, and the key at which it stopped taking."""

    started = models.DateTimeField(unique=True)
    finished = models.DateTimeField(null=True, blank=True)
    policy = models.CharField(max_length=40)
    swept = models.PositiveIntegerField(default=0, help_text="Leases that had expired.")
    training = models.PositiveIntegerField(default=0, help_text="Training feeds taken, by ToE.")
    ranked = models.PositiveIntegerField(default=0, help_text="Feeds taken by the policy's rank.")
    candidates = models.PositiveIntegerField(default=0, help_text="Feeds the policy could choose from.")
    budget = models.FloatField(default=0, help_text="Retrievals the budget allowed; the rest carries over.")
    carried = models.FloatField(default=0, help_text="Retrievals left over for the next tick.")
    cutoff = models.FloatField(
        null=True, blank=True, help_text="Key of the last feed taken, if any was left out."
    )

    class Meta:
        ordering = ["-started"]

    def __str__(self) -> str:
        return f"tick of {self.started:%Y-%m-%d %H:%M:%S}"


class Pulse(models.Model):
    """The last sign of life of a queue: every tick sends one through it and a worker answers."""

    queue = models.CharField(max_length=40, primary_key=True)
    sent = models.DateTimeField(null=True)
    answered = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.queue


class Attempts(models.Model):
    """How often one address showed an unknown secret in one window of time (`crawler.web.attempts`)."""

    key = models.CharField(max_length=64, help_text="Keyed hash of the kind of secret and the address.")
    window = models.DateTimeField(help_text="When the window began.")
    failures = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name_plural = "attempts"
        constraints = [models.UniqueConstraint(fields=["key", "window"], name="attempts_once")]
        indexes = [models.Index(fields=["window"], name="attempts_window")]

    def __str__(self) -> str:
        return f"{self.failures} since {self.window:%Y-%m-%d %H:%M}"


class Deployment(models.Model):
    """This installation's identity, made once: part of every id that it publishes. One row.

    And what commands in another shell, with another environment, need to know of the running server.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    key = models.UUIDField(default=uuid.uuid4, editable=False)
    allowed_networks = models.JSONField(
        null=True, editable=False, help_text="FETCH_ALLOWED_NETWORKS of the controller; null before it ran."
    )

    class Meta:
        constraints = [models.CheckConstraint(name="one_deployment", condition=Q(id=1))]

    def __str__(self) -> str:
        return str(self.key)

    @classmethod
    def own_key(cls) -> uuid.UUID:
        """The key of this installation."""
        return cls.objects.get_or_create(id=1)[0].key

    @classmethod
    def note_settings(cls) -> None:
        """Write down what commands go by; the controller does at every tick."""
        networks = [str(network) for network in settings.FETCH_ALLOWED_NETWORKS]
        if not cls.objects.filter(id=1, allowed_networks=networks).exists():
            cls.objects.update_or_create(id=1, defaults={"allowed_networks": networks})

    @classmethod
    def networks(cls) -> list[str]:
        """Private networks that the server fetches from: as its controller said, else as set here."""
        told: list[str] | None = cls.objects.filter(id=1).values_list("allowed_networks", flat=True).first()
        return [str(network) for network in settings.FETCH_ALLOWED_NETWORKS] if told is None else told
