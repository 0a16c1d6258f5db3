"""Sign-in by a reverse proxy that names the visitor in a header."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse

from crawler.engine.chosen import chosen

log = logging.getLogger(__name__)

BACKEND = "crawler.accounts.backends.NameOrMailBackend"
SESSION_KEY = "freshet-by-proxy"
MAX_NAME_LENGTH = 150


def proxy_sign_in(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Sign visitors in whom a trusted proxy names in AUTH_PROXY_HEADER, as middleware.

    The header counts from AUTH_PROXY_NETWORKS alone; from elsewhere it is ignored and logged. A session that
    rests on the header ends with the first request without it.
    """
    key = "HTTP_" + settings.AUTH_PROXY_HEADER.upper().replace("-", "_")

    def middleware(request: HttpRequest) -> HttpResponse:
        if settings.AUTH_PROXY_HEADER:
            _follow_header(request, request.META.get(key, "").strip())
        return get_response(request)

    return middleware


def _follow_header(request: HttpRequest, name: str) -> None:
    if name and not is_trusted(request.META.get("REMOTE_ADDR", "")):
        log.warning(
            "a request from %s forges %s", request.META.get("REMOTE_ADDR"), settings.AUTH_PROXY_HEADER
        )
        name = ""
    if not name:
        if request.session.get(SESSION_KEY):
            logout(request)
        return
    if request.user.is_authenticated and request.user.get_username() == name:
        return
    user = _user_named(name)
    if user is not None:
        login(request, user, backend=BACKEND)
        request.session[SESSION_KEY] = True
    elif request.user.is_authenticated:
        logout(request)


def _user_named(name: str) -> User | None:
    """Return the active user of this name, made where AUTH_PROXY_SIGN_UP allows, None for nobody."""
    user = User.objects.filter(username=name).first()
    if user is None and chosen("AUTH_PROXY_SIGN_UP"):
        try:
            UnicodeUsernameValidator()(name)
        except ValidationError:
            return None
        if len(name) > MAX_NAME_LENGTH:
            return None
        user, _ = User.objects.get_or_create(username=name, defaults={"password": "!"})
    return user if user is not None and user.is_active else None


@lru_cache(maxsize=1000)
def is_trusted(address: str) -> bool:
    """Return whether a connection from this address is one of the proxy's."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in settings.AUTH_PROXY_NETWORKS)
