"""The lifetime of a response and the time to come back: RFC 9111 freshness, RFC 9110 Retry-After."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

LONGEST = float(2**31)
"""Seconds; what RFC 9111 section 1.2.2 puts for numbers too large to represent."""

# A bounded count of digits: float() of a header of a megabyte takes long, and overflows to infinity.
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,30})?")
_DIRECTIVE = re.compile(r'([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,;]*)))?')


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds to wait by Retry-After (seconds or HTTP-date), never negative.

    Returns None without a readable header. A date is measured against the server's own Date, so that a wrong
    clock there does no harm. `now` is seconds since the epoch.
    """
    value = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(value):
        return min(float(value), LONGEST)
    at = http_date(value)
    return None if at is None else _bounded(at - _server_time(headers, now))


def max_age(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds for which the response stays fresh from now on, less its Age.

    Returns None if the headers promise nothing. no-cache and no-store win over max-age, max-age over
    Expires.
    """
    directives = [
        (match[1].lower(), match[2] or match[3] or "")
        for match in _DIRECTIVE.finditer(headers.get("cache-control", "")[:4096])
    ]
    # no-cache with a list of fields restricts these alone (RFC 9111, section 5.2.2.4).
    if any(name in ("no-cache", "no-store") and not value for name, value in directives):
        return None
    ages = [float(value) for name, value in directives if name == "max-age" and _NUMBER.fullmatch(value)]
    age = headers.get("age", "").strip()
    spent = float(age) if _NUMBER.fullmatch(age) else 0.0
    if ages:
        # Of several the shortest: a directive that is repeated never keeps a feed from being asked.
        return _bounded(min(ages) - spent)
    if "expires" not in headers:
        return None
    expires = http_date(headers["expires"])
    # RFC 9111 section 5.3: an unreadable Expires, "0" above all, means already expired
    return 0.0 if expires is None else _bounded(expires - _server_time(headers, now) - spent)


def http_date(value: str) -> float | None:
    """Parse an HTTP-date in any of its three forms to epoch seconds. Returns None for other texts."""
    # Python raises each of these for some malformed date.
    try:
        parsed = parsedate_to_datetime(value[:100])
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _server_time(headers: Mapping[str, str], now: float) -> float:
    date = http_date(headers.get("date", ""))
    return now if date is None else date


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST)
