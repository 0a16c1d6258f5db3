"""Limits for guessed secrets: failed attempts, counted in the database by address.

After MOST of them within WINDOW further unknown ones from the address are told to wait, and so is, from
wherever it comes, a secret that was tried so often. A secret that is known goes through: many people share
the address of a proxy or a provider, and nobody hits upon 160 random bits, however often they try. Windows
start at fixed times, so the wait is at most one of them.

Passwords can be guessed, and each takes the server half a second to check. So an attempt with one is taken
before it is checked (`take_attempt`), and given back when it was right: a household or an office that signs
in normally uses up none. django-axes counts by name and address besides (the AXES_* settings).
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from crawler.web.models import Attempts

log = logging.getLogger(__name__)

MOST = 30
MAX_SIGN_INS = 20
"""Failed sign-ins of an address within WINDOW, whatever their names; as many requests for a new password."""
WINDOW = timedelta(minutes=10)
IPV6_PREFIX = 64
"""Bits of an IPv6 address that one customer of a provider has; the rest is theirs to vary."""
FAILURES = f"""(
    SELECT max(failures) FROM {Attempts._meta.db_table}
    WHERE key = ANY(%(attempts_keys)s) AND "window" = %(window)s
)"""  # noqa: S608 - the table's own name
"""As part of a statement with `attempts_of` among its parameters: for `exhausted`."""

TAKE = f"""
    INSERT INTO {Attempts._meta.db_table} AS attempts (key, "window", failures) VALUES (%s, %s, 1)
    ON CONFLICT (key, "window") DO UPDATE SET failures = attempts.failures + 1 WHERE attempts.failures < %s
    RETURNING failures
"""  # noqa: S608 - the table's own name

Kind = Literal["api-token", "personal-feed", "reader-token", "mail-address"]
CountedBefore = Literal["sign-in", "password-reset"]


def client_address(request: HttpRequest) -> str | None:
    """Return a request's address, for IPv6 its /64 network. Returns None on a Unix socket without a proxy.

    None on a Unix socket without a proxy.

    X-Forwarded-For counts behind a TLS proxy alone, and of it only the last entry, which the proxy itself
    wrote; those before it may be anybody's invention.
    """
    remote = request.META.get("REMOTE_ADDR", "")
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
    if settings.BEHIND_TLS_PROXY:
        return _network(forwarded) or _network(remote)
    if forwarded:
        _tell_of_proxy()
    return _network(remote)


def too_many(kind: Kind, request: HttpRequest, now: datetime, secret: str = "") -> bool:
    """Return whether this address, or this secret, has used up its attempts for now."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {FAILURES}", attempts_of(kind, request, now, secret))
        return exhausted(cursor.fetchone()[0])


def attempts_of(
    kind: Kind, request: HttpRequest, now: datetime, secret: str = ""
) -> dict[str, list[str] | datetime]:
    """Return the parameters of `FAILURES`."""
    return {"attempts_keys": _keys(kind, request, secret), "window": _window(now)}


def exhausted(failures: int | None) -> bool:
    """Return whether this number of `FAILURES` uses up the attempts of an address or a secret."""
    return failures is not None and failures >= MOST


def count_attempt(kind: Kind, request: HttpRequest, now: datetime, secret: str = "") -> None:
    """Count one attempt with an unknown secret."""
    for key in _keys(kind, request, secret):
        row, new = Attempts.objects.get_or_create(key=key, window=_window(now))
        if not new:
            Attempts.objects.filter(pk=row.pk).update(failures=F("failures") + 1)


def take_attempt(kind: CountedBefore, request: HttpRequest, now: datetime) -> bool:
    """Count an attempt whose outcome is not known yet. Returns False, and counts nothing, when none is left.

    In one statement: with a look first and a count afterwards, attempts at the same time would all pass.
    """
    (key,) = _keys(kind, request, "")
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [key, _window(now), MAX_SIGN_INS])
        return cursor.fetchone() is not None


def give_back_attempt(kind: CountedBefore, request: HttpRequest, now: datetime) -> None:
    """Take back an attempt that `take_attempt` counted at the same `now`, because it was a good one."""
    rows = Attempts.objects.filter(key__in=_keys(kind, request, ""), window=_window(now), failures__gt=0)
    rows.update(failures=F("failures") - 1)


def seconds_to_wait(now: datetime) -> int:
    """Return the seconds until the next window, for Retry-After."""
    return int((_window(now) + WINDOW - now).total_seconds()) + 1


@lru_cache(1)
def _tell_of_proxy() -> None:
    """Warn once per process of an ignored X-Forwarded-For.

    Either a proxy is not configured, and all its clients count as one address, or the header is forged.
    """
    log.warning(
        "a request names another address in X-Forwarded-For, which does not count: where a proxy stands "
        "before this server, set BEHIND_TLS_PROXY or PUBLIC_URL"
    )


def _window(now: datetime) -> datetime:
    seconds = WINDOW.total_seconds()
    return datetime.fromtimestamp(now.timestamp() // seconds * seconds, UTC)


def _keys(kind: Kind | CountedBefore, request: HttpRequest, secret: str) -> list[str]:
    """Return keyed hashes of the address and of the secret, if any, so that the table reveals neither."""
    texts = [f"{kind} {client_address(request)}", *([f"{kind} secret {secret}"] if secret else [])]
    return [salted_hmac("crawler.web.attempts", text, algorithm="sha256").hexdigest() for text in texts]


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
