"""Django's authentication with app passwords, for ClientLogin alone."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest

from articles.greader.access import app_password_of


class AppPasswordBackend:
    """An authentication backend for app passwords, used only by sign-ins with the argument `for_reader`.

    Django skips a backend whose arguments do not fit. It has no `get_user`, so no session can rest on it.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str, password: str, *, for_reader: bool, **_: Any
    ) -> User | None:
        """Return the user of this app password. Returns None for a wrong password or an inactive user."""
        row = app_password_of(username, password)
        return row.subscriber.user if for_reader and row else None
