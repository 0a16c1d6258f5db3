"""Posting histories between the database and the arrays of `feeds.scheduling.history`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from crawler.rows import upsert_rows
from feeds.models import PostingHistory, PostingPopulation
from feeds.scheduling.forecast import Population, forecast
from feeds.scheduling.history import Histories, Retrievals, pack, unpack
from feeds.scheduling.rates import DAY_HOURS, WEEK_HOURS, Floats, Floats32, PeriodicRates

POPULATION_AGE = timedelta(hours=1)
POPULATION_SAMPLE = 20_000  # feeds; the sums of more would say the same


def population() -> Population:
    """What is expected of a feed that has not shown its own habits yet."""
    row = PostingPopulation.objects.filter(id=1).first()
    if row is None:
        return Population()
    return Population.of(np.frombuffer(row.week_counts, "<f8"), np.frombuffer(row.week_exposure, "<f8"))


def refresh_population(now: datetime) -> None:
    """Sum the histories of all feeds (or of a sample) once an hour."""
    if PostingPopulation.objects.filter(updated__gt=now - POPULATION_AGE).exists():
        return
    counts, exposure = np.zeros(WEEK_HOURS), np.zeros(WEEK_HOURS)
    rows = PostingHistory.objects.order_by("-updated").values_list("week_counts", "week_exposure")
    for blobs in rows[:POPULATION_SAMPLE].iterator(chunk_size=2000):
        counts += np.frombuffer(blobs[0], "<f4")
        exposure += np.frombuffer(blobs[1], "<f4")
    PostingPopulation.objects.update_or_create(
        id=1, defaults={"week_counts": counts.tobytes(), "week_exposure": exposure.tobytes(), "updated": now}
    )


def histories(feed_ids: Sequence[int]) -> Histories:
    """Histories of the given feeds, row by row in their order; feeds without one start anew."""
    found = {
        row[0]: row[1:]
        for row in PostingHistory.objects.filter(feed__in=feed_ids).values_list(
            "feed_id", "hourly", "week_counts", "week_exposure"
        )
    }
    tables = Histories.start(len(feed_ids))
    rows = [i for i, feed in enumerate(feed_ids) if feed in found]
    if rows:
        hourly, counts, exposure = zip(*(found[feed_ids[i]] for i in rows), strict=True)
        tables.hourly[rows] = unpack(hourly, DAY_HOURS)
        tables.counts[rows] = unpack(counts, WEEK_HOURS)
        tables.exposure[rows] = unpack(exposure, WEEK_HOURS)
    return tables


def weekly_rates(tables: Histories, expected_of_all: Population) -> PeriodicRates:
    """Forecast of the 168 hours of the week for every row."""
    return PeriodicRates.of(forecast(tables.counts, tables.exposure, expected_of_all))


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
    untaught = tables.hourly[beginners]
    expected = weekly_rates(tables, everyone).expected(np.asarray(last), np.asarray(now))
    tables.observe(Retrievals.of(np.arange(len(feed_ids)), last, now, new, published), everyone)
    tables.hourly[beginners] = untaught
    _save(feed_ids, tables, now)
    return expected


def _save(feed_ids: Sequence[int], tables: Histories, now: Sequence[float]) -> None:
    blobs = zip(pack(tables.hourly), pack(tables.counts), pack(tables.exposure), strict=True)
    rows = [
        PostingHistory(
            feed_id=feed,
            hourly=hourly,
            week_counts=counts,
            week_exposure=exposure,
            updated=datetime.fromtimestamp(at, UTC),
        )
        for feed, at, (hourly, counts, exposure) in zip(feed_ids, now, blobs, strict=True)
    ]
    upsert_rows(PostingHistory, rows)


def hour_tables(history: PostingHistory) -> tuple[Floats32, Floats32, Floats32]:
    """(24,) hourly rates, (7, 24) counts and (7, 24) hours of exposure of one feed, Monday first."""
    return (
        unpack([history.hourly], DAY_HOURS)[0],
        unpack([history.week_counts], WEEK_HOURS).reshape(7, DAY_HOURS),
        unpack([history.week_exposure], WEEK_HOURS).reshape(7, DAY_HOURS),
    )
