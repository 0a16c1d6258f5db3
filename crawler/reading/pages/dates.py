"""The day that a page's address names; dates inside pages are read by `reading.dates`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_IN_PATH = re.compile(r"/((?:19|20)\d{2})[/-](\d{1,2})(?:[/-](\d{1,2}))?(?=[/_.-]|$)")

_IN_NAME = re.compile(r"/[a-z]{0,2}((?:19|20)\d{2})(\d{2})(\d{2})(?=[_.-])", re.IGNORECASE)
"""A day before a number or a title in a file's name, such as /t20240517_1234.html."""


def moment_in_url(url: str) -> float | None:
    """Return midnight UTC of the day in a path such as /2024/05/17/, of the first without a day."""
    # A date in a query is a search or a cache, not the day of the article.
    path = url.partition("?")[0]
    match = _IN_NAME.search(path) or _IN_PATH.search(path)
    if not match:
        return None
    try:
        return datetime(int(match[1]), int(match[2]), int(match[3] or 1), tzinfo=UTC).timestamp()
    except ValueError:
        return None
