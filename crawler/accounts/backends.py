"""Sign-in by name or mail address, and limits for passwords that are guessed.

django-axes counts failures by name and address. Here all addresses of a name count together too: it is closed
for passwords while axes keeps too many failures of it (AXES_COOLOFF_TIME). Its owner gets in by a link, by
mail or from an administrator (`manage.py account_link`), and a new password opens the name again.

And all names of an address count together (`crawler.web.attempts`): forty connections with ever new names had
their passwords hashed without end, and pages took ten seconds beside them.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn

from allauth.account.auth_backends import AuthenticationBackend
from axes.models import AccessAttempt
from axes.signals import user_locked_out
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Sum
from django.http import HttpRequest

from crawler.engine.chosen import chosen
from crawler.web.attempts import give_back_attempt, take_attempt
from crawler.web.requests import ARRIVED
from crawler.web.roles import user_with_role

MAX_WAIT_SECONDS = 5.0
"""Maximum time that a sign-in waits for one of the web server's threads that check passwords."""

Refusal = Literal["name", "address", "busy"]
"""Why no password is checked: failures with the name, failures of the address, too many sign-ins at once."""


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
    return bool(failures >= chosen("SIGN_IN_MAX_FAILURES"))


class NameOrMailBackend(AuthenticationBackend):  # type: ignore[misc]
    """An authentication backend for a name, spelled exactly, or a mail address, with a password."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        """Return the user of a name and password, None for a wrong one. Raises PermissionDenied unchecked.

        A wrong one uses up one of the attempts of its address.
        """
        now = datetime.now(UTC)
        if request is not None:
            if _has_waited_too_long(request):
                _refuse(request, credentials, "busy")
            if not take_attempt("sign-in", request, now):
                _refuse(request, credentials, "address")
        user: User | None = super().authenticate(request, **credentials)
        if request is not None and user is not None:
            give_back_attempt("sign-in", request, now)
        return user

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
            _refuse(request, credentials, "name")


def _has_waited_too_long(request: HttpRequest) -> bool:
    """Return whether so many sign-ins were before this one that its client should come again later."""
    arrived = request.META.get(ARRIVED)
    return arrived is not None and time.monotonic() - arrived > MAX_WAIT_SECONDS


def _refuse(request: HttpRequest | None, credentials: dict[str, Any], why: Refusal) -> NoReturn:
    """End a sign-in without a look at its password. The middleware of axes answers with 429."""
    if request is not None:
        request.axes_locked_out = True  # type: ignore[attr-defined]
        request.axes_credentials = credentials  # type: ignore[attr-defined]
        request.sign_in_refusal = why  # type: ignore[attr-defined]
    name = name_in(request, credentials)
    user_locked_out.send(ManyAddressesBackend, request=request, username=name, ip_address=None)
    raise PermissionDenied(f"no password is checked: {why}")
