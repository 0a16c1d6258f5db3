"""Times of publication as pages give them: ISO 8601 nearly always, RFC 822 sometimes, in the URL at last."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_PLAIN = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_LOOSE_CLOCK = re.compile(r"(\d{4}-\d\d-\d\d) +(\d\d:\d\d(?::\d\d)?) ?([+-]\d\d:?\d\d|Z)?")
_IN_PATH = re.compile(r"/((?:19|20)\d{2})[/-](\d{1,2})(?:[/-](\d{1,2}))?(?=[/_.-]|$)")


def moment(text: str) -> float | None:
    """Epoch seconds of a date in page metadata (zone missing: UTC), None when unparsable or before 1900."""
    text = text.strip()[:100].replace("/", "-") if _slashed(text) else text.strip()[:100]
    if _PLAIN.fullmatch(text) and len(text) == 7:
        text += "-01"
    if match := _LOOSE_CLOCK.fullmatch(text):
        text = f"{match[1]}T{match[2]}{match[3] or ''}"
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            when = read(text)
            return _seconds(when)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def moment_in_url(url: str) -> float | None:
    """Midnight UTC of the day that a path such as /2024/05/17/ names; without a day the first."""
    match = _IN_PATH.search(url.partition("?")[0])
    if not match:
        return None
    try:
        return _seconds(datetime(int(match[1]), int(match[2]), int(match[3] or 1), tzinfo=UTC))
    except ValueError:
        return None


def _slashed(text: str) -> bool:
    """True for 2024/05/17, the one order that slashes leave no doubt about."""
    return bool(re.match(r"\s*\d{4}/\d{2}/\d{2}", text))


def _seconds(when: datetime) -> float | None:
    """Epoch seconds of a datetime; programs write year 1 for none."""
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return aware.timestamp() if when.year >= 1900 else None
