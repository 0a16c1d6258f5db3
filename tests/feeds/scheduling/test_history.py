"""Posting history: what retrievals leave in the hourly rates and the hour-of-week counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feeds.scheduling.forecast import Population, forecast
from feeds.scheduling.history import MIN_RATE, START_RATE, Histories, Retrievals, pack, unpack

HOUR, DAY, WEEK = 3600.0, 86400.0, 7 * 86400.0
MONDAY = 1767571200.0
ANYONE = Population()


def observed(*args: object, n: int = 1, half_life: float = 1e15) -> Histories:
    """Fresh histories after one batch of retrievals, by default without forgetting."""
    histories = Histories.start(n)
    histories.observe(Retrievals.of(*args), ANYONE, half_life)  # type: ignore[arg-type]
    return histories


def test_all_feeds_start_with_one_rate() -> None:
    assert set(Histories.start(3).hourly.ravel()) == {np.float32(START_RATE)}


def test_new_articles_are_spread_over_the_hours_since_the_last_retrieval() -> None:
    hourly = observed([0], MONDAY + 9 * HOUR, MONDAY + 12 * HOUR, [30]).hourly[0]
    # Ten an hour from 9 to 12; the start counts as one day, so that the mean of two lies between.
    assert hourly[9:12] == pytest.approx([(START_RATE + 10) / 2] * 3)
    assert set(np.delete(hourly, [9, 10, 11])) == {np.float32(START_RATE)}


def test_an_hour_that_was_half_covered_moves_less() -> None:
    hourly = observed([0], MONDAY, MONDAY + 1.5 * HOUR, [15]).hourly[0]
    assert START_RATE < hourly[1] < hourly[0]


def test_a_rate_never_falls_below_its_minimum() -> None:
    histories = Histories.start(1)
    histories.observe(Retrievals.of([0], MONDAY, MONDAY + 400 * DAY, [0]), ANYONE)
    assert histories.hourly[0].max() < MIN_RATE
    assert histories.hourly_rates()[0] == pytest.approx([MIN_RATE] * 24)


def test_published_times_place_articles_in_their_hour_of_the_week() -> None:
    tuesday_at_five = MONDAY + DAY + 5.5 * HOUR
    counts = observed([0], MONDAY, MONDAY + 2 * DAY, [2], [[tuesday_at_five, tuesday_at_five + 60]]).counts[0]
    assert counts[29] == 2
    assert counts.sum() == 2


@pytest.mark.parametrize("odd", [MONDAY, MONDAY - DAY, MONDAY + 2 * HOUR + 1, 0.0])
def test_published_times_outside_the_interval_are_spread_instead(odd: float) -> None:
    counts = observed([0], MONDAY, MONDAY + 2 * HOUR, [1], [[odd]]).counts[0]
    assert counts[:2] == pytest.approx([0.5, 0.5])


def test_the_moment_of_retrieval_belongs_to_the_interval() -> None:
    counts = observed([0], MONDAY, MONDAY + 2.5 * HOUR, [1], [[MONDAY + 2.5 * HOUR]]).counts[0]
    assert counts[2] == 1


def test_undated_articles_follow_the_feeds_own_profile() -> None:
    histories = Histories.start(1)
    for week in range(8):
        begin = MONDAY + week * WEEK
        news = [begin + 2.5 * HOUR + i for i in range(20)]
        histories.observe(Retrievals.of([0], begin, begin + WEEK, [20], [news]), ANYONE)
    before = histories.counts[0].copy()
    begin = MONDAY + 8 * WEEK
    histories.observe(Retrievals.of([0], begin, begin + 4 * HOUR, [10]), ANYONE, half_life=1e15)
    added = histories.counts[0] - before
    assert added[:4].argmax() == 2
    assert added[2] > 3 * added[0]
    assert added.sum() == pytest.approx(10, rel=1e-5)


def test_old_articles_fade_by_half_in_a_half_life() -> None:
    histories = observed([0], MONDAY, MONDAY + HOUR, [8])
    histories.observe(Retrievals.of([0], MONDAY + HOUR, MONDAY + HOUR + WEEK, [0]), ANYONE, half_life=WEEK)
    assert histories.counts[0, 0] == pytest.approx(4)
    assert histories.exposure[0, 0] == pytest.approx(0.5 + 1)


def test_two_retrievals_in_one_second_leave_finite_histories() -> None:
    histories = observed([0], MONDAY, MONDAY, [3])
    assert np.isfinite(histories.hourly).all()
    assert histories.counts[0].sum() == 3


def test_a_batch_leaves_what_single_retrievals_leave() -> None:
    rows, news = [2, 0], [[MONDAY + 60, MONDAY + 2 * HOUR], []]
    batch = observed(rows, [MONDAY, MONDAY - DAY], MONDAY + 3 * HOUR, [3, 4], news, n=3)
    single = Histories.start(3)
    single.observe(Retrievals.of([2], MONDAY, MONDAY + 3 * HOUR, [3], [news[0]]), ANYONE, 1e15)
    single.observe(Retrievals.of([0], MONDAY - DAY, MONDAY + 3 * HOUR, [4]), ANYONE, 1e15)
    assert np.array_equal(batch.counts, single.counts)
    assert np.array_equal(batch.exposure, single.exposure)
    assert np.array_equal(batch.hourly, single.hourly)


@settings(deadline=None)
@given(
    st.floats(0, 20 * DAY),
    st.integers(0, 500),
    st.lists(st.floats(-1e9, 4e9), max_size=20),
)
def test_no_article_is_lost_or_made_up(age: float, undated: int, published: list[float]) -> None:
    new = undated + len(published)
    histories = observed([0], MONDAY, MONDAY + age, [new], [published])
    assert histories.counts.sum() == pytest.approx(new, rel=1e-4)
    assert (histories.counts >= 0).all()
    assert histories.exposure.sum() * HOUR == pytest.approx(age, rel=1e-4, abs=1)


def test_lists_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="1 lists"):
        Retrievals.of([0, 1], MONDAY, MONDAY + 1, [1, 1], [[MONDAY]])


def test_the_stored_form_is_little_endian_float32() -> None:
    table = np.arange(48, dtype=np.float32).reshape(2, 24) / 7
    blobs = pack(table)
    assert [len(blob) for blob in blobs] == [96, 96]
    assert np.frombuffer(blobs[1], dtype="<f4").tolist() == table[1].tolist()
    assert np.array_equal(unpack([memoryview(blob) for blob in blobs], 24), table)
    assert unpack([], 168).shape == (0, 168)


def test_a_stored_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="95 bytes"):
        unpack([bytes(95)], 24)


# From here on: rates from counts.


def rates_of(counts: np.ndarray, hours: float, population: Population = ANYONE) -> np.ndarray:
    """(168,) rates of a feed watched so long in every hour of the week, its last days like the rest."""
    watched = np.full(168, hours)
    level = [counts.sum(), watched.sum()]
    return forecast(counts, watched, [[*level, *level]], population).rates()[0]


def test_a_feed_that_was_never_seen_is_like_the_population() -> None:
    profile = np.linspace(0.5, 1.5, 168)
    rates = rates_of(np.zeros(168), 0.0, Population(mean=0.2, profile=profile))
    assert rates == pytest.approx(0.2 * profile)


def test_many_articles_outweigh_the_prior() -> None:
    rng = np.random.default_rng(5)
    hours = np.repeat(rng.uniform(1, 9, 4), 6)  # of the day, changing slowly
    rates = rates_of(np.tile(hours, 7) * 1000, 1000.0)
    inside = np.arange(168) % 6 // 2 == 1
    assert rates[inside] == pytest.approx(np.tile(hours, 7)[inside], rel=0.05)


def test_one_article_hardly_bends_a_profile() -> None:
    counts = np.zeros(168)
    counts[40] = 1
    rates = rates_of(counts, 4.0)
    assert rates.max() < 1.2 * np.median(rates)
    assert rates.argmax() % 24 == 40 % 24


def test_an_hour_of_day_teaches_the_same_hour_of_other_days() -> None:
    counts = np.zeros((7, 24))
    counts[:4, 9] = 10
    rates = rates_of(counts.ravel(), 4.0).reshape(7, 24)
    assert rates[5, 9] > 3 * rates[5, 3]


def test_an_hour_teaches_a_little_of_the_hours_beside_it() -> None:
    counts = np.zeros((7, 24))
    counts[:, 0] = 10
    first, second, *_, last = rates_of(counts.ravel(), 4.0)[:24]
    assert first > second > rates_of(counts.ravel(), 4.0)[12]
    assert second == pytest.approx(last, rel=1e-3)  # the day is a circle


def test_the_last_days_move_the_level_and_leave_the_profile() -> None:
    counts, exposure = np.full((1, 168), 10.0), np.full((1, 168), 10.0)
    usual = forecast(counts, exposure, [[600.0, 600.0, 72.0, 72.0]], ANYONE)
    busy = forecast(counts, exposure, [[600.0, 600.0, 144.0, 72.0]], ANYONE)
    silent = forecast(counts, exposure, [[600.0, 600.0, 0.0, 72.0]], ANYONE)
    assert usual.level[0] == pytest.approx(1, rel=0.01)
    assert busy.level[0] == pytest.approx(150 / 78, rel=0.02)
    assert silent.level[0] == pytest.approx(6 / 78, rel=0.02)
    assert np.array_equal(busy.profile, silent.profile)


def test_a_profile_has_mean_1() -> None:
    rng = np.random.default_rng(7)
    counts, exposure = rng.poisson(3.0, (5, 168)), rng.uniform(0, 9, (5, 168))
    assert forecast(counts, exposure, np.zeros((5, 4)), ANYONE).profile.mean(axis=1) == pytest.approx(
        1, rel=1e-5
    )


def test_silence_lowers_the_forecast_but_never_to_nothing() -> None:
    short = rates_of(np.zeros(168), 1.0)
    long = rates_of(np.zeros(168), 100.0)
    assert 0 < long.max() < short.min() < ANYONE.mean


def test_the_population_is_the_mean_of_what_was_seen() -> None:
    counts = np.full(168, 1000.0)
    counts[:3] = 3000
    population = Population.of(counts, np.full(168, 500.0))
    assert population.mean == pytest.approx(counts.sum() / (168 * 500))
    assert population.profile.mean() == pytest.approx(1)
    assert population.profile[1] == pytest.approx(3, rel=0.1)
    assert 1 < population.profile[3] < 2  # an hour says something of its neighbours


def test_a_population_of_nobody_is_the_default() -> None:
    assert Population.of(np.zeros(168), np.zeros(168)).mean == Population().mean
