"""API tokens, with a limit on how many unknown ones an address may try, and how often one may be tried."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rest_framework.authentication import TokenAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied, Throttled
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from crawler.web.attempts import count_attempt, seconds_to_wait, too_many
from crawler.web.models import TOKEN_PREFIX, ApiToken, token_digest


class CountedTokenAuthentication(TokenAuthentication):
    """Token authentication (`Authorization: Token ...`); 429 after too many unknown tokens."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return the user and their token, or None without the header.

        Raises AuthenticationFailed, Throttled, or PermissionDenied for a change with a token that may only
        read.
        """
        header = get_authorization_header(request)
        if not header.lower().startswith(b"token"):
            return None
        try:
            found = super().authenticate(request)
        except AuthenticationFailed as error:
            now, secret = datetime.now(UTC), header.decode("latin-1")
            if too_many("api-token", request, now, secret):
                words = "Too many unknown tokens from this address."
                raise Throttled(wait=seconds_to_wait(now), detail=words) from error
            count_attempt("api-token", request, now, secret)
            raise
        if found and isinstance(found[1], ApiToken):
            if not found[1].may_write and request.method not in SAFE_METHODS:
                raise PermissionDenied("This token may read only.")
            found[1].note_use(datetime.now(UTC))
        return found

    def authenticate_credentials(self, key: str) -> tuple[Any, Any]:
        """Return the user of a named token or of the one that `manage.py api_token` prints, and the token."""
        if not key.startswith(TOKEN_PREFIX):
            found: tuple[Any, Any] = super().authenticate_credentials(key)
            return found
        row = ApiToken.objects.select_related("user").filter(digest=token_digest(key)).first()
        if row is None or not row.user.is_active:
            raise AuthenticationFailed("Invalid token.")
        return row.user, row
