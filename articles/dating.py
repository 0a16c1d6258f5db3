"""Publication times of articles. Feeds leave dates out, set them in the future or rewrite them.

The first believable date wins and is never moved afterwards (feeds that stamp every answer with the
current time would otherwise make old articles new). Times are seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

FIRST_WEB_PAGE = 662_688_000  # 1991-01-01: dates before are the zero of some clock
UNDATED_AGE = 86_400  # of what a feed has without dates when it is first read
CLOCK_SKEW = 600  # a publisher's clock may be ahead this much

Source = Literal["feed", "page", "fetched"]


class Dated(NamedTuple):
    """A time of publication and where it comes from."""

    published: float
    source: Source


def believable(claimed: float | None, fetched: float) -> float | None:
    """Clip a date that is slightly ahead to the time of fetching. Returns None for an impossible date."""
    if claimed is None or claimed < FIRST_WEB_PAGE or claimed > fetched + CLOCK_SKEW:
        return None
    return min(claimed, fetched)


def date_entry(published: float | None, updated: float | None, fetched: float, position: int = 0) -> Dated:
    """Return the time of a new entry at `position` in its feed (0 is first, usually newest).

    Without a usable date it is the time of fetching, a millisecond less per position so that the document's
    order survives sorting by time.
    """
    for claimed in (published, updated):
        date = believable(claimed, fetched)
        if date is not None:
            return Dated(date, "feed")
    return Dated(fetched - position / 1000, "fetched")


def date_first_entries(claims: Sequence[tuple[float | None, float | None]], fetched: float) -> list[Dated]:
    """Return the times of a feed's first entries from what it claims for each, published and updated.

    One without a usable date is as old as the next that has one, else as the one before; if none has any,
    they are a day old. As of the time of fetching, a feed without dates stood on top of all others as new
    (issue 57).
    """
    dates = [date_entry(published, updated, fetched) for published, updated in claims]
    feed_times = [date.published if date.source == "feed" else None for date in dates]
    around = next((at for at in reversed(feed_times) if at is not None), fetched - UNDATED_AGE)
    for place in range(len(dates) - 1, -1, -1):
        claimed = feed_times[place]
        if claimed is None:
            dates[place] = Dated(around - place / 1000, "fetched")
        else:
            around = claimed
    return dates


def delay(dated: Dated, fetched: float, previous: float | None) -> float | None:
    """Return the seconds from publication to retrieval when both are sure, else None.

    Sure means: the feed's own date, after the previous successful retrieval at `previous`. Entries of the
    first document and back-dated entries do not show how late the retrieval was.
    """
    if dated.source != "feed" or previous is None or dated.published <= previous:
        return None
    return max(0.0, fetched - dated.published)
