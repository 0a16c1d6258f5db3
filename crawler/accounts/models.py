"""Invitations, connected assistants, and facts about an account that Django does not keep."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Self

from allauth.idp.oidc.models import Client
from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from crawler.accounts.assistants.adapter import destination_of
from crawler.text.words import Words
from crawler.web.models import NOTED_EVERY
from crawler.web.roles import READER, ROLES
from crawler.web.scopes import ASSISTANT_SENTENCES
from crawler.web.zones import CHOSEN_COOKIE
from feeds.models import Category

INVITATION_DAYS = 7


def digest_of(secret: str) -> str:
    """Return the keyed hash under which the secret of an invitation is stored."""
    return salted_hmac("crawler.accounts.invitation", secret, algorithm="sha256").hexdigest()


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Queries for invitations."""

    def open(self, now: datetime) -> Self:
        """Filter to invitations that can be used: their makers are still owners."""
        made_by_owner = self.filter(made_by__is_superuser=True, made_by__is_active=True)
        return made_by_owner.filter(revoked__isnull=True, expires__gt=now, uses__lt=F("max_uses"))

    def of_secret(self, secret: str) -> Self:
        """Filter to the invitation of a secret."""
        return self.filter(digest=digest_of(secret))


class Invitation(models.Model):
    """A link with which people make an account of their own."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    role = models.CharField(max_length=8, choices=list(ROLES.items()), default=READER)
    folder = models.ForeignKey(
        Category, null=True, blank=True, on_delete=models.SET_NULL, related_name="+",
        help_text="Feeds of this folder are followed from the start.",
    )  # fmt: skip
    max_uses = models.PositiveSmallIntegerField(default=1)
    uses = models.PositiveSmallIntegerField(default=0, editable=False)
    expires = models.DateTimeField()
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="invitations")
    created = models.DateTimeField(db_default=Now(), editable=False)
    revoked = models.DateTimeField(null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(uses__lte=F("max_uses")), name="invitation_uses_at_most")
        ]

    def __str__(self) -> str:
        return f"for {self.max_uses} as {self.role}"

    @classmethod
    def make(
        cls,
        made_by: User,
        now: datetime,
        *,
        role: str = READER,
        folder: Category | None = None,
        max_uses: int = 1,
        days: int = INVITATION_DAYS,
    ) -> tuple[Invitation, str]:
        """Store an invitation. Returns it with its secret, which is not stored."""
        secret = secrets.token_urlsafe(18)
        row = cls.objects.create(
            digest=digest_of(secret), role=role, folder=folder, max_uses=max_uses, made_by=made_by,
            expires=now + timedelta(days=days),
        )  # fmt: skip
        return row, secret

    def take(self, now: datetime) -> bool:
        """Use the invitation once. Returns False when it was used up, revoked or too old.

        The row is locked before it is looked at. A single update would join the maker in a subquery, which
        PostgreSQL does not read again after waiting for whoever came first.
        """
        with transaction.atomic():
            if not Invitation.objects.select_for_update().filter(pk=self.pk).exists():
                return False
            is_open = Invitation.objects.open(now).filter(pk=self.pk)
            return bool(is_open.update(uses=F("uses") + 1))


class Account(models.Model):
    """Facts about an account: whether its password was printed, what it chose, and when it is deleted."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="account")
    has_printed_password = models.BooleanField(
        default=False, help_text="Its password was made by the machine and shown once."
    )
    delete_after = models.DateTimeField(null=True, editable=False)
    language = models.CharField(max_length=10, blank=True, help_text="Empty: as the browser asks for.")
    zone = models.CharField(max_length=64, blank=True, help_text="Empty: the browser's time zone.")
    news_seen = models.CharField(
        max_length=20, blank=True, editable=False, help_text="Version whose news were looked at or put away."
    )

    def __str__(self) -> str:
        return str(self.user)


class AssistantConnection(models.Model):
    """The consent of a person that an assistant acts for them. Its tokens are rows of django-allauth."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="assistants")
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="+")
    scopes = models.CharField(max_length=40, editable=False, help_text="What it may do, with blanks between.")
    since = models.DateTimeField(editable=False)
    last_used = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "client"], name="assistant_once")]

    def __str__(self) -> str:
        return self.client.name or self.host

    @property
    def host(self) -> str:
        """Return the host, or the scheme of an app, that its codes are sent to."""
        redirects = self.client.get_redirect_uris()
        return destination_of(redirects[0])[0] if redirects else ""

    @property
    def scope_list(self) -> list[str]:
        """Return the scopes that were allowed."""
        return self.scopes.split()

    @property
    def sentences(self) -> list[Words]:
        """Return what it may do in sentences."""
        return [ASSISTANT_SENTENCES[scope] for scope in self.scope_list]

    def note_use(self, now: datetime) -> None:
        """Write down that it was used, unless that was written down a moment ago."""
        is_old = Q(last_used__isnull=True) | Q(last_used__lt=now - NOTED_EVERY)
        if self.last_used is None or self.last_used < now - NOTED_EVERY:
            AssistantConnection.objects.filter(is_old, pk=self.pk).update(last_used=now)


def choices_of(account: Account) -> dict[str, str]:
    """Return the cookies of what a person chose, by name."""
    return {settings.LANGUAGE_COOKIE_NAME: account.language, CHOSEN_COOKIE: account.zone}
