"""API tokens, with a limit on how many unknown ones an address may try."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rest_framework.authentication import TokenAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from crawler.attempts import count_attempt, seconds_to_wait, too_many


class CountedTokenAuthentication(TokenAuthentication):
    """`Authorization: Token ...`; 429 for addresses that showed too many unknown tokens."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """The user and their token, or None without the header. Raises AuthenticationFailed or Throttled."""
        if not get_authorization_header(request).lower().startswith(b"token"):
            return None
        now = datetime.now(UTC)
        if too_many("api-token", request, now):
            raise Throttled(wait=seconds_to_wait(now), detail="Too many unknown tokens from this address.")
        try:
            return super().authenticate(request)
        except AuthenticationFailed:
            count_attempt("api-token", request, now)
            raise
