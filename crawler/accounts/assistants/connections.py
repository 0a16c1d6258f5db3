"""Connections of people with assistants: made by consent, ended by a button, tidied away when unused."""

from __future__ import annotations

from datetime import datetime, timedelta

from allauth.idp.oidc.models import Client, Token
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef

from crawler.accounts.models import AssistantConnection
from crawler.web.scopes import SCOPES, with_included

UNUSED_CLIENT_DAYS = 30


@transaction.atomic
def connect(user: User, client_id: str, scopes: list[str], now: datetime) -> None:
    """Store what a person allowed an assistant. It replaces what they allowed it before, with its tokens."""
    Token.objects.filter(user=user, client_id=client_id).delete()
    granted = " ".join(scope for scope in SCOPES if scope in with_included(scopes))
    AssistantConnection.objects.update_or_create(
        user=user, client_id=client_id, defaults={"scopes": granted, "since": now}
    )


@transaction.atomic
def disconnect(connection: AssistantConnection) -> None:
    """End a connection and delete all tokens that the assistant has for the person."""
    Token.objects.filter(user_id=connection.user_id, client_id=connection.client_id).delete()
    connection.delete()


def delete_unused(now: datetime) -> int:
    """Delete expired tokens, and clients that have no tokens and were not allowed anything for 30 days.

    Returns the number of deleted rows.
    """
    count, _by_model = Token.objects.filter(expires_at__lte=now).delete()
    limit = now - timedelta(days=UNUSED_CLIENT_DAYS)
    tokens = Token.objects.filter(client=OuterRef("pk"))
    recent = AssistantConnection.objects.filter(client=OuterRef("pk"), since__gte=limit)
    old = Client.objects.filter(created_at__lt=limit, data__dcr=True)
    unused, _by_model = old.filter(~Exists(tokens), ~Exists(recent)).delete()
    return int(count + unused)
