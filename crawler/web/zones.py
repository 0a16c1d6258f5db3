"""The time zone of pages: the one that the reader chose, else the browser's, which app.js writes to a cookie.

Without either it is UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, tzinfo
from functools import lru_cache
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE, CHOSEN_COOKIE = "freshet-zone", "freshet-chosen-zone"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,30}(/[A-Za-z][A-Za-z0-9_+-]{0,30}){0,2}")


def reader_zone(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Show times in the reader's time zone, as middleware. The API keeps UTC."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith("/api/"):
            return get_response(request)
        name = request.COOKIES.get(CHOSEN_COOKIE) or request.COOKIES.get(COOKIE, "")
        with timezone.override(zone_named(unquote(name))):
            return get_response(request)

    return middleware


@lru_cache(maxsize=1000)
def zone_named(name: str) -> tzinfo:
    """Return the zone with a name of the IANA database, such as "Europe/Paris", UTC for any other text."""
    if not _NAME.fullmatch(name):
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown; a file without a zone; a folder
        return UTC
