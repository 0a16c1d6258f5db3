"""How often a feed posts, computed from the dates of its articles: one pace for every page that names it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

MIN_ARTICLES = 4
"""Articles from which a rhythm is told."""
FOUR_WEEKS = timedelta(days=28)
YEAR = timedelta(days=365)
MIN_DATES = 2
"""Dated articles from which a feed has a pace at all."""
MIN_DAYS = 2
"""Days that a pace is computed over at least, so that a single busy hour makes none."""
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Posted:
    """The dated articles of a feed: their numbers within four weeks, within a year and since the `first`."""

    month: int = 0
    year: int = 0
    total: int = 0
    first: datetime | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """A number of articles in a unit of 1, 7, 30 or 365 days."""

    count: int
    days: int


def posted_at(times: Sequence[datetime], now: datetime) -> Posted:
    """Return the numbers of articles with these times of publication; those in the future do not count."""
    past = [at for at in times if at <= now]
    if not past:
        return Posted()
    month, year = (sum(now - at < length for at in past) for length in (FOUR_WEEKS, YEAR))
    return Posted(month, year, len(past), min(past))


def pace_of(posted: Posted, now: datetime) -> Pace | None:
    """Return how often a feed posts. Returns None when fewer than two articles of it have a date."""
    if posted.first is None or posted.total < MIN_DATES:
        return None
    days = max(math.ceil((now - posted.first).total_seconds() / _DAY_SECONDS), MIN_DAYS)
    if posted.month >= MIN_ARTICLES:
        rate = posted.month / min(days, FOUR_WEEKS.days)
        counts = [Pace(round(rate * length), length) for length in (1, 7, 30)]
        return next((pace for pace in counts if pace.count >= 2), Pace(max(counts[-1].count, 1), 30))
    if posted.month == posted.total:
        return Pace(posted.month, 30)
    if posted.year:
        return Pace(posted.year, YEAR.days)
    return Pace(max(round(posted.total * YEAR.days / days), 1), YEAR.days)


def how_often(posted: Posted, now: datetime) -> str:
    """Return how often a feed posts in the fewest words, such as "3 a day", "" when it cannot be known."""
    pace = pace_of(posted, now)
    if pace is None:
        return ""
    words = {
        1: _("%(count)d a day"),
        7: _("%(count)d a week"),
        30: _("%(count)d a month"),
        365: _("about %(count)d a year"),
    }
    return words[pace.days] % {"count": pace.count}


def articles_often(posted: Posted, now: datetime) -> str:
    """Return how often a feed posts as a part of a sentence, such as "about 3 articles a day"."""
    pace = pace_of(posted, now)
    if pace is None:
        return ""
    count = pace.count
    words = {
        1: ngettext("about one article a day", "about %(count)d articles a day", count),
        7: ngettext("about one article a week", "about %(count)d articles a week", count),
        30: ngettext("about one article a month", "about %(count)d articles a month", count),
        365: ngettext("about one article a year", "about %(count)d articles a year", count),
    }
    return words[pace.days] % {"count": count}
