"""Posting histories between the database and the arrays of `feeds.scheduling.history`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from crawler.database.bulk import upsert_rows
from feeds.models import PostingHistory, PostingPopulation
from feeds.scheduling.forecast import Population
from feeds.scheduling.history import Histories, Retrievals, pack, unpack
from feeds.scheduling.rates import DAY_HOURS, WEEK_HOURS, Floats, Floats32, PeriodicRates

LEVELS = 4


def population() -> Population:
    """What is expected of a feed that has not shown its own habits yet."""
    row = PostingPopulation.objects.filter(id=1).first()
    if row is None:
        return Population()
    return Population.of(np.frombuffer(row.week_counts, "<f8"), np.frombuffer(row.week_exposure, "<f8"))


def histories(feed_ids: Sequence[int]) -> Histories:
    """Histories of the given feeds, row by row in their order; feeds without one start anew."""
    found = {
        row[0]: row[1:]
        for row in PostingHistory.objects.filter(feed__in=feed_ids).values_list(
            "feed_id", "hourly", "days", "week_counts", "week_exposure", "levels"
        )
    }
    tables = Histories.start(len(feed_ids))
    rows = [i for i, feed in enumerate(feed_ids) if feed in found]
    if rows:
        hourly, days, counts, exposure, levels = zip(*(found[feed_ids[i]] for i in rows), strict=True)
        tables.hourly[rows] = unpack(hourly, DAY_HOURS)
        tables.days[rows] = days
        tables.counts[rows] = unpack(counts, WEEK_HOURS)
        tables.exposure[rows] = unpack(exposure, WEEK_HOURS)
        tables.levels[rows] = unpack(levels, LEVELS)
    return tables


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

    One row per feed: `last` and `now` in epoch seconds, `new` articles and the published times they
    give; `first` marks what a first document tells of the past, which advaRSS's hourly rates do not
    know of. Returns (n,) how many new articles the history had expected before it learned of these.
    """
    tables, everyone = histories(feed_ids), population()
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
    upsert_rows(PostingHistory, rows)


def hour_tables(history: PostingHistory) -> tuple[Floats32, Floats32, Floats32]:
    """(24,) hourly rates, (7, 24) counts and (7, 24) hours of exposure of one feed, Monday first."""
    return (
        unpack([history.hourly], DAY_HOURS)[0],
        unpack([history.week_counts], WEEK_HOURS).reshape(7, DAY_HOURS),
        unpack([history.week_exposure], WEEK_HOURS).reshape(7, DAY_HOURS),
    )
