"""Callers of the MCP endpoint: who asks, by which token, and what they may do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import reverse
from rest_framework.exceptions import AuthenticationFailed

from crawler.accounts.assistants.adapter import resource_of
from crawler.accounts.models import AssistantConnection
from crawler.web.authentication import CountedTokenAuthentication, authenticate_counted
from crawler.web.models import TOKEN_PREFIX
from crawler.web.scopes import SCOPES, scopes_open_to, with_included


@dataclass(frozen=True)
class Caller:
    """A person for whom a program asks.

    `client` is the name of the program or token. `token_key` names the token or the connection; it stays the
    same when an assistant refreshes its tokens.
    """

    user: User
    scopes: frozenset[str]
    client: str
    token_key: str

    def may(self, scope: str) -> bool:
        """Return true when what needs this scope may be done."""
        return scope in self.scopes


def caller_of(request: HttpRequest) -> Caller:
    """Return who asks, by `Authorization: Bearer ...` or `Token ...` with an API or OAuth access token.

    The scopes are at most those that the person's role allows. Raises AuthenticationFailed, or Throttled
    after too many unknown tokens from the address.
    """
    scheme, _space, secret = request.headers.get("Authorization", "").strip().partition(" ")
    secret = secret.strip()
    if scheme.lower() not in {"bearer", "token"} or not secret:
        raise AuthenticationFailed("A token is needed: Authorization: Bearer ...")

    def authenticate() -> Caller | None:
        now = datetime.now(UTC)
        by_secret = _by_api_token if secret.startswith(TOKEN_PREFIX) else _by_oauth_token
        return by_secret(request, secret, now)

    caller = authenticate_counted(request, f"Token {secret}", authenticate)
    if caller is None:
        raise AuthenticationFailed("This token has expired.")
    return caller


def challenge_of(request: HttpRequest, *, error: str = "", scopes: Iterable[str] = SCOPES) -> str:
    """Return the header WWW-Authenticate of a refusal (RFC 6750), which leads to the sign-in (RFC 9728).

    `error` is `invalid_token` for a token that is not known, `insufficient_scope` for one that may not do
    what was asked, and empty without a token. `scopes` are those that are needed.
    """
    metadata = request.build_absolute_uri(reverse("oauth-resource-mcp"))
    parts = {"resource_metadata": metadata, "scope": " ".join(scopes), "error": error}
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)


def _by_api_token(request: HttpRequest, secret: str, now: datetime) -> Caller:
    user, row = CountedTokenAuthentication().authenticate_credentials(secret)
    row.note_use(now)
    scopes = with_included([row.scope]) & scopes_open_to(user)
    return Caller(user, scopes, row.name, f"token-{row.pk}")


def _by_oauth_token(request: HttpRequest, secret: str, now: datetime) -> Caller | None:
    """Return the caller of an access token, None for one that has expired, which is no guess.

    Assistants find out by it, every hour, that a token wants to be renewed.
    """
    rows = Token.objects.by_value(secret).filter(type=Token.Type.ACCESS_TOKEN)
    token = rows.select_related("user", "client").first()
    if token is None or token.user is None or not token.user.is_active:
        raise AuthenticationFailed("Invalid token.")
    if any(resource.rstrip("/") != resource_of(request) for resource in token.get_resources()):
        raise AuthenticationFailed("This token is for another server.")
    if token.expires_at is not None and token.expires_at <= now:
        return None
    connection = AssistantConnection.objects.filter(user=token.user, client=token.client).first()
    if connection is None:  # disconnected while a code was on its way
        raise AuthenticationFailed("Invalid token.")
    connection.note_use(now)
    scopes = with_included(token.get_scopes()) & scopes_open_to(token.user)
    return Caller(token.user, scopes, token.client.name, f"assistant-{connection.pk}")
