"""Storage of posting histories: database rows to and from the arrays of `feeds.scheduling.history`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from crawler.database.bulk import upsert_rows
from feeds.models import Feed, PostingHistory, PostingPlan, PostingPopulation
from feeds.scheduling.forecast import Population
from feeds.scheduling.history import Histories, Retrievals, pack, unpack
from feeds.scheduling.rates import DAY_HOURS, WEEK_HOURS, Floats, Floats32, PeriodicRates
from feeds.visiting.priors import default_prior, parse_prior

LEVELS = 4
_EMPTY = np.zeros(WEEK_HOURS).tobytes()
NOTHING_POSTED = {"week_counts": _EMPTY, "week_exposure": _EMPTY}
"""The columns of a population without posts."""


def population() -> Population:
    """Return the expectations for a feed without observations of its own."""
    row = PostingPopulation.objects.filter(id=1).first()
    if row is None:
        return default_prior()
    prior = parse_prior(row.prior) if row.prior else default_prior()
    return Population.of(
        np.frombuffer(row.week_counts, "<f8"), np.frombuffer(row.week_exposure, "<f8"), prior
    )


def histories(feed_ids: Sequence[int]) -> Histories:
    """Return the histories of the given feeds, row by row in their order. Feeds without one get an empty
    history.
    """
    stored = {
        row[0]: row[1:]
        for row in PostingHistory.objects.filter(feed__in=feed_ids).values_list(
            "feed_id", "hourly", "days", "week_counts", "week_exposure", "levels"
        )
    }
    tables = Histories.start(len(feed_ids))
    rows = [i for i, feed in enumerate(feed_ids) if feed in stored]
    if rows:
        hourly, days, counts, exposure, levels = zip(*(stored[feed_ids[i]] for i in rows), strict=True)
        tables.hourly[rows] = unpack(hourly, DAY_HOURS)
        tables.days[rows] = days
        tables.counts[rows] = unpack(counts, WEEK_HOURS)
        tables.exposure[rows] = unpack(exposure, WEEK_HOURS)
        tables.levels[rows] = unpack(levels, LEVELS)
    return tables


def floats(column: bytes | memoryview) -> list[float]:
    """Return the numbers of a column of little-endian float32."""
    return list(map(float, np.frombuffer(column, "<f4")))


def plan_of(feed: Feed) -> list[float] | None:
    """Return the 168 thresholds of a feed's plan (`feeds.scheduling.planning`), None before its first one."""
    row = PostingPlan.objects.filter(feed=feed).first()
    return None if row is None else floats(row.shape)


def observe(
    feed_ids: Sequence[int],
    last: Sequence[float],
    now: Sequence[float],
    new: Sequence[int],
    published: Sequence[Sequence[float]],
    *,
    first: Sequence[bool],
) -> Floats:
    """Enter successful retrievals into the histories, inside the caller's transaction.

    One row per feed: `last` and `now` in epoch seconds, `new` articles and their published times; `first`
    marks first documents, whose past articles do not enter advaRSS's hourly rates. Returns the (n,) new
    articles that the history had expected before these retrievals.
    """
    tables, everyone = histories(feed_ids), population()
    # A first document holds the last articles however old, and says nothing of hours that nobody watched.
    beginners = np.flatnonzero(first)
    untaught, not_watched = tables.hourly[beginners], tables.days[beginners]
    before = tables.observe(Retrievals.of(np.arange(len(feed_ids)), last, now, new, published), everyone)
    tables.hourly[beginners], tables.days[beginners] = untaught, not_watched
    _save(feed_ids, tables, now, tables.forecast(everyone).rates())
    return PeriodicRates.of(before.rates()).expected(np.asarray(last), np.asarray(now))


def _save(feed_ids: Sequence[int], tables: Histories, now: Sequence[float], rates: Floats32) -> None:
    packed = [pack(table) for table in (tables.hourly, tables.counts, tables.exposure, tables.levels, rates)]
    rows = [
        PostingHistory(
            feed_id=feed,
            hourly=hourly,
            days=days,
            week_counts=counts,
            week_exposure=exposure,
            levels=levels,
            rates=forecast,
            updated=datetime.fromtimestamp(at, UTC),
        )
        for feed, at, days, hourly, counts, exposure, levels, forecast in zip(
            feed_ids, now, tables.days.tolist(), *packed, strict=True
        )
    ]
    # A feed that was just added has no row yet.
    upsert_rows(PostingHistory, rows)
