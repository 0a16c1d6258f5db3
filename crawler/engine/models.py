"""The engine's tables: hosts and their leases, the pulse of every queue, the deployment."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy


class HostQuerySet(models.QuerySet["Host"]):
    """Queries for hosts."""

    def named(self, names: set[str]) -> dict[str, int]:
        """Return the ids of hosts by name. Creates hosts for unknown names."""
        ids = dict(self.filter(name__in=names).values_list("name", "id"))
        missing = names - ids.keys()
        if missing:
            # Sorted, so that two processes that make the same hosts wait for each other in one order.
            self.bulk_create([Host(name=name) for name in sorted(missing)], ignore_conflicts=True)
            # Read again: another process may have made some of them at the same time.
            ids |= dict(self.filter(name__in=missing).values_list("name", "id"))
        return ids


class Host(models.Model):
    """A host name on the web. Its lease is the right to send it requests, held by one terminal at a time."""

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
        # A lease without an end would be out for ever, as `sweep` finds leases by their end.
        constraints = [
            models.CheckConstraint(
                name="host_lease_has_expiry",
                condition=Q(lease__isnull=True, leased_until__isnull=True)
                | Q(lease__isnull=False, leased_until__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SiteLogin(models.Model):
    """A login for an address and all below it. Its header is encrypted, and no page or answer shows it."""

    class Kind(models.TextChoices):
        BASIC = "basic", pgettext_lazy("kind of a login", "name and password")
        BEARER = "bearer", pgettext_lazy("kind of a login", "token")
        HEADER = "header", pgettext_lazy("kind of a login", "header")
        COOKIE = "cookie", pgettext_lazy("kind of a login", "cookie")

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="logins", editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        editable=False,
        help_text="For whose feeds alone it is used; empty: for everybody's.",
    )
    url = models.TextField(help_text="Canonical; the login is sent to it and to all below it.")
    kind = models.CharField(max_length=10, choices=Kind)
    sealed = models.TextField(editable=False, help_text="The encrypted header.")
    given = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["url"]
        constraints = [
            models.UniqueConstraint(fields=["url", "owner"], name="login_once", nulls_distinct=False)
        ]

    def __str__(self) -> str:
        return self.url


class Pulse(models.Model):
    """The last sign of life of a queue: the times of the last pulse sent and the last answer of a worker."""

    queue = models.CharField(max_length=40, primary_key=True)
    sent = models.DateTimeField(null=True)
    answered = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.queue


class Deployment(models.Model):
    """This installation's identity, part of every id that it publishes. The table has one row.

    The row also holds settings of the running server for commands that run in another environment.
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
        """Return the key of this installation, created at the first call."""
        return cls.objects.get_or_create(id=1)[0].key

    @classmethod
    def note_settings(cls) -> None:
        """Store the settings that commands need from the running server. Called at every tick."""
        networks = [str(network) for network in settings.FETCH_ALLOWED_NETWORKS]
        # Called at every tick; nothing is written while nothing changes.
        if not cls.objects.filter(id=1, allowed_networks=networks).exists():
            cls.objects.update_or_create(id=1, defaults={"allowed_networks": networks})

    @classmethod
    def networks(cls) -> list[str]:
        """Return the private networks that may be fetched from.

        Reads them as the controller stored them, or from this process's settings before it ran.
        """
        rows = cls.objects.filter(id=1).values_list("allowed_networks", flat=True)
        networks: list[str] | None = rows.first()
        return [str(network) for network in settings.FETCH_ALLOWED_NETWORKS] if networks is None else networks


class OperatorSetting(models.Model):
    """A setting that an operator chose on a page (`crawler.engine.chosen`); secrets are encrypted."""

    name = models.CharField(max_length=60, primary_key=True)
    value = models.JSONField()
    changed = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name
