"""Django's authentication with app passwords, for ClientLogin alone."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from articles.greader.access import app_password_of


class AppPasswordBackend:
    """Only sign-ins that say `for_reader` come here: Django passes by a backend whose arguments do not fit.

    It has no `get_user`, so no session can rest on it.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str, password: str, *, for_reader: bool, **_: Any
    ) -> User | None:
        """The user whose app password this is; None if it is nobody's or the user is not active."""
        row = app_password_of(username, password)
        return row.subscriber.user if for_reader and row else None
