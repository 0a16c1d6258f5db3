"""When did an article appear? Feeds leave dates out, set them in the future or rewrite them.

The first believable date wins and is never moved afterwards (feeds that stamp every answer with the
current time would otherwise make old articles new). Times are seconds since the epoch.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

FIRST_WEB_PAGE = 662_688_000  # 1991-01-01: dates before are the zero of some clock
CLOCK_SKEW = 600  # a publisher's clock may be ahead this much

Source = Literal["feed", "page", "fetched"]


class Dated(NamedTuple):
    """A time of publication and where it comes from."""

    published: float
    source: Source


def believable(given: float | None, fetched: float) -> float | None:
    """The date, pulled back to the time of fetching when slightly ahead; None when it cannot be true."""
    if given is None or given < FIRST_WEB_PAGE or given > fetched + CLOCK_SKEW:
        return None
    return min(given, fetched)


def date_entry(published: float | None, updated: float | None, fetched: float, position: int = 0) -> Dated:
    """The time for a new entry at `position` in its feed (0 is first, usually newest).

    Without a usable date it is the time of fetching, a millisecond less per position so that the
    document's order survives sorting by time.
    """
    for given in (published, updated):
        date = believable(given, fetched)
        if date is not None:
            return Dated(date, "feed")
    return Dated(fetched - position / 1000, "fetched")


def delay(dated: Dated, fetched: float, previous: float | None) -> float | None:
    """Seconds from publication to retrieval when both are sure, else None.

    Sure means: the feed's own date, after the previous successful retrieval at `previous`. What was
    in the first document, or was dated back, says nothing about how late we came.
    """
    if dated.source != "feed" or previous is None or dated.published <= previous:
        return None
    return max(0.0, fetched - dated.published)
