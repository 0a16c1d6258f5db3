"""API tokens, with a limit on how many unknown ones an address may try, and how often one may be tried."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.http import HttpRequest
from rest_framework.authentication import TokenAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied, Throttled
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from crawler.web.attempts import count_attempt, seconds_to_wait, too_many
from crawler.web.models import TOKEN_PREFIX, ApiToken, token_digest
from crawler.web.scopes import MANAGE, with_included

Authenticated = TypeVar("Authenticated")


def authenticate_counted(
    request: HttpRequest, secret: str, authenticate: Callable[[], Authenticated]
) -> Authenticated:
    """Return the result of `authenticate()`, and count a failure as an attempt with an unknown token.

    Raises AuthenticationFailed, or Throttled after too many unknown tokens.
    """
    try:
        return authenticate()
    except AuthenticationFailed as error:
        now = datetime.now(UTC)
        if too_many("api-token", request, now, secret):
            words = "Too many unknown tokens from this address."
            raise Throttled(wait=seconds_to_wait(now), detail=words) from error
        count_attempt("api-token", request, now, secret)
        raise


class CountedTokenAuthentication(TokenAuthentication):
    """Token authentication (`Authorization: Token ...`); 429 after too many unknown tokens.

    A change needs a token with the scope that the view names in its attribute `token_scope`, else manage.
    """

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return the user and their token, or None without the header.

        Raises AuthenticationFailed, Throttled, or PermissionDenied for a change that the token's scope does
        not cover.
        """
        header = get_authorization_header(request)
        if not header.lower().startswith(b"token"):
            return None
        authenticate = super().authenticate
        credentials = authenticate_counted(request, header.decode("latin-1"), lambda: authenticate(request))
        if credentials and isinstance(credentials[1], ApiToken):
            if request.method not in SAFE_METHODS:
                _check_scope(
                    credentials[1], getattr(request.parser_context.get("view"), "token_scope", MANAGE)
                )
            credentials[1].note_use(datetime.now(UTC))
        return credentials

    def authenticate_credentials(self, key: str) -> tuple[Any, Any]:
        """Return the user of a named token or of the one that `manage.py api_token` prints, and the token."""
        if not key.startswith(TOKEN_PREFIX):
            credentials: tuple[Any, Any] = super().authenticate_credentials(key)
            return credentials
        row = ApiToken.objects.select_related("user").filter(digest=token_digest(key)).first()
        if row is None or not row.user.is_active:
            raise AuthenticationFailed("Invalid token.")
        return row.user, row


def _check_scope(token: ApiToken, needed: str) -> None:
    if needed not in with_included([token.scope]):
        may = "read only" if not token.may_write else "only mark and save"
        raise PermissionDenied(f"This token may {may}.")
