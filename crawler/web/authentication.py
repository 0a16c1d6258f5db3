"""API tokens, with a limit on how many unknown ones an address may try, and how often one may be tried."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rest_framework.authentication import TokenAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from crawler.web.attempts import count_attempt, seconds_to_wait, too_many


class CountedTokenAuthentication(TokenAuthentication):
    """Token authentication (`Authorization: Token ...`); 429 after too many unknown tokens."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return the user and their token, or None without the header.

        Raises AuthenticationFailed or Throttled.

        Raises AuthenticationFailed or Throttled.
        """
        header = get_authorization_header(request)
        if not header.lower().startswith(b"token"):
            return None
        try:
            return super().authenticate(request)
        except AuthenticationFailed as error:
            now, secret = datetime.now(UTC), header.decode("latin-1")
            if too_many("api-token", request, now, secret):
                words = "Too many unknown tokens from this address."
                raise Throttled(wait=seconds_to_wait(now), detail=words) from error
            count_attempt("api-token", request, now, secret)
            raise
