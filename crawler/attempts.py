"""Slows people who guess secrets: attempts with unknown ones, counted in the database by address.

After MOST of them within WINDOW the address is told to wait, whatever it shows: a limit that lets the right
guess through would be none. Windows start at fixed times, so the wait is at most one of them. Sign-ins with
names and passwords are django-axes' business (the AXES_* settings).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from crawler.models import Attempts

MOST = 30
WINDOW = timedelta(minutes=10)
IPV6_PREFIX = 64
"""Bits of an IPv6 address that one customer of a provider has; the rest is theirs to vary."""
FAILURES = f"""(
    SELECT failures FROM {Attempts._meta.db_table} WHERE key = %(attempts_key)s AND "window" = %(window)s
)"""  # noqa: S608 - the table's own name
"""As part of a statement with `attempts_of` among its parameters: for `exhausted`."""

Kind = Literal["api-token", "personal-feed", "reader-token"]


def client_address(request: HttpRequest) -> str | None:
    """Where a request comes from; for IPv6 the network of 64 bits. None on a Unix socket without a proxy.

    X-Forwarded-For counts behind a TLS proxy alone, and of it only the last entry, which the proxy itself
    wrote; those before it may be anybody's invention.
    """
    remote = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_TLS_PROXY:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
        return _network(forwarded) or _network(remote)
    return _network(remote)


def too_many(kind: Kind, request: HttpRequest, now: datetime) -> bool:
    """Whether this address has used up its attempts at this kind of secret for now."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {FAILURES}", attempts_of(kind, request, now))
        return exhausted(cursor.fetchone()[0])


def attempts_of(kind: Kind, request: HttpRequest, now: datetime) -> dict[str, str | datetime]:
    """The parameters of `FAILURES`."""
    return {"attempts_key": _key(kind, request), "window": _window(now)}


def exhausted(failures: int | None) -> bool:
    """Whether so many `FAILURES` are all that an address may have for now."""
    return failures is not None and failures >= MOST


def count_attempt(kind: Kind, request: HttpRequest, now: datetime) -> None:
    """Count one attempt with an unknown secret."""
    row, new = Attempts.objects.get_or_create(key=_key(kind, request), window=_window(now))
    if not new:
        Attempts.objects.filter(pk=row.pk).update(failures=F("failures") + 1)


def seconds_to_wait(now: datetime) -> int:
    """Seconds until the next window, for Retry-After."""
    return int((_window(now) + WINDOW - now).total_seconds()) + 1


def _window(now: datetime) -> datetime:
    seconds = WINDOW.total_seconds()
    return datetime.fromtimestamp(now.timestamp() // seconds * seconds, UTC)


def _key(kind: Kind, request: HttpRequest) -> str:
    """A keyed hash: the table tells nobody's address."""
    text = f"{kind} {client_address(request)}"
    return salted_hmac("crawler.attempts", text, algorithm="sha256").hexdigest()


def _network(text: str) -> str | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ip_network((int(address), IPV6_PREFIX), strict=False).network_address)
