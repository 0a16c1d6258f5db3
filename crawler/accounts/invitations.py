"""Invitations of visitors: remembered in their session until they have an account."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.http import HttpRequest

from articles.personal.following import follow_all, subscriber_of
from crawler.accounts.models import Invitation
from crawler.web.roles import READER, give_role
from feeds.models import Feed

SESSION_KEY = "freshet-invitation"


def remember_invitation(request: HttpRequest, secret: str) -> None:
    """Keep the secret of an invitation in the visitor's session."""
    request.session[SESSION_KEY] = secret


def invitation_of(request: HttpRequest, now: datetime) -> Invitation | None:
    """Return the invitation with which a visitor came, None without one that can be used."""
    secret = request.session.get(SESSION_KEY, "")
    return Invitation.objects.open(now).of_secret(secret).first() if secret else None


def use_invitation(request: HttpRequest, now: datetime) -> Invitation | None:
    """Use the visitor's invitation once and forget it. Returns None without one that can be used."""
    invitation = invitation_of(request, now)
    request.session.pop(SESSION_KEY, None)
    return invitation if invitation is not None and invitation.take(now) else None


def welcome(user: User, invitation: Invitation) -> None:
    """Give a new account the role and the feeds of an invitation."""
    if invitation.role != READER:
        give_role(user, invitation.role)
    if invitation.folder is not None:
        feeds = Feed.objects.filter(category=invitation.folder, removed__isnull=True)
        folders = dict.fromkeys(feeds.values_list("pk", flat=True), invitation.folder.name)
        follow_all(subscriber_of(user), folders)
