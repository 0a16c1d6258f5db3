"""Sign-in by name or mail address, and a limit for passwords that are guessed from many addresses.

django-axes counts failures by name and address. Here all addresses count together too: a name is closed for
passwords while axes keeps too many failures of it (AXES_COOLOFF_TIME). Its owner gets in by a link, by mail
or from an administrator (`manage.py account_link`), and a new password opens the name again.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from axes.models import AccessAttempt
from axes.signals import user_locked_out
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Sum
from django.http import HttpRequest

from crawler.web.roles import user_with_role


def name_in(request: HttpRequest | None, credentials: dict[str, Any] | None) -> str | None:
    """Return the name or mail address of a sign-in, under which its failures are counted."""
    credentials = credentials or {}
    name = credentials.get("username") or credentials.get("email")
    if not name and request is not None:
        name = request.POST.get("username") or request.POST.get("Email")
    return str(name).strip().casefold()[:255] if name else None


def is_closed(name: str, now: datetime) -> bool:
    """Return whether a name has had so many failures that no password is checked."""
    recent = AccessAttempt.objects.filter(username=name, attempt_time__gt=now - settings.AXES_COOLOFF_TIME)
    failures = recent.aggregate(number=Sum("failures_since_start"))["number"] or 0
    return bool(failures >= settings.SIGN_IN_MAX_FAILURES)


class NameOrMailBackend(AuthenticationBackend):  # type: ignore[misc]
    """An authentication backend for a name, spelled exactly, or a mail address, with a password."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session with the role, in one query."""
        return user_with_role(user_id)

    def _authenticate_by_username(self, username: str, password: str) -> User | None:
        user = User.objects.filter(username=username).first()
        checked: User | None = self._check_password(user, password)
        return checked


class ManyAddressesBackend:
    """An authentication backend that refuses names with many failures and knows nobody itself."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        """Refuse the sign-in when its name is closed. Raises PermissionDenied then, which ends it."""
        name = name_in(request, credentials)
        if name and is_closed(name, datetime.now(UTC)):
            if request is not None:
                request.axes_locked_out = True  # type: ignore[attr-defined]
                request.axes_credentials = credentials  # type: ignore[attr-defined]
            user_locked_out.send(type(self), request=request, username=name, ip_address=None)
            raise PermissionDenied("too many failures with this name")
