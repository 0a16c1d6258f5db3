"""The replay by worked examples, and by what must hold for every policy."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from feeds.replay.comparison import Options, replay
from feeds.replay.setup import Setup
from feeds.replay.simulation import Selection, flat_optimum, simulate
from feeds.replay.trace import Trace
from feeds.scheduling.registry import POLICIES, make_policy
from tests.feeds.replay.traces import DAY, MONDAY, invented

HOUR = 3600.0
SHORT = Setup(train_days=4)


def two_feeds() -> Trace:
    """a posts at 0:05 and 0:15, b at 0:25; the last post makes the trace end at 1:00."""
    return Trace.of(
        "two", [("a", MONDAY + 300), ("a", MONDAY + 900), ("b", MONDAY + 1500), ("b", MONDAY + 3600)]
    )


def test_round_robin_by_hand() -> None:
    # Three retrievals an hour and feed: one each tick of ten minutes, a and b by turns.
    told: list[Selection] = []
    record = simulate(
        two_feeds(), make_policy("round-robin"), Setup(budget=3, train_days=0), selected=told.append
    )
    assert [int((s.at - MONDAY) // 60) for s in told] == [0, 10, 20, 30, 40, 50, 60]
    # The first retrieval, at the beginning of time, leaves a as old as b.
    assert [s.rows.tolist() for s in told] == [[0], [0], [1], [0], [1], [0], [1]]
    assert [total for _, total, _ in record.ticks] == [0, 1, 1, 2, 1, 0, 1]
    metrics = record.metrics()
    assert metrics.total_pending == pytest.approx(6 / 7)
    assert (metrics.daily_max_pending, metrics.retrievals) == (1, 7)
    assert metrics.new_per_retrieval == pytest.approx(4 / 7)
    # 0:05 was retrieved at 0:10, 0:15 at 0:30, 0:25 at 0:40, 1:00 at once.
    assert sorted(record.all_delays()) == pytest.approx([0, 5, 15, 15])
    assert metrics.delay_mean == pytest.approx(35 / 4)


def test_a_post_at_the_time_of_a_tick_is_seen_by_it() -> None:
    trace = Trace.of("one", [("a", MONDAY), ("a", MONDAY + 600), ("a", MONDAY + 601)])
    record = simulate(trace, make_policy("round-robin"), Setup(budget=6, train_days=0))
    assert [total for _, total, _ in record.ticks] == [1, 1, 1]


def test_fractions_of_a_retrieval_wait_for_the_next_tick() -> None:
    told: list[Selection] = []
    simulate(two_feeds(), make_policy("round-robin"), Setup(budget=1.5, train_days=0), selected=told.append)
    assert [len(s.rows) for s in told] == [0, 1, 0, 1, 0, 1, 0]


def test_a_short_document_loses_its_oldest_articles() -> None:
    trace = Trace.of("burst", [("a", MONDAY + 10 + i) for i in range(5)] + [("a", MONDAY + 3000)])
    record = simulate(trace, make_policy("round-robin"), Setup(budget=6, train_days=0, window=2))
    assert record.metrics().lost == 3
    assert sorted(record.all_delays() * 60) == pytest.approx([0, 586, 587])


def test_the_training_part_is_not_measured() -> None:
    record = simulate(invented(), make_policy("round-robin"), SHORT)
    assert record.ticks[0][0] == MONDAY + 4 * DAY
    assert record.retrievals == pytest.approx(30 * 0.15 * 8 * 24, abs=30)


def test_the_flat_optimum_is_the_square_root_law() -> None:
    # Rates of 4 and 1 per hour, one retrieval an hour: (2 + 1)^2 / 2.
    posts = [("a", MONDAY + i * 900) for i in range(400)] + [("b", MONDAY + i * HOUR) for i in range(100)]
    assert flat_optimum(Trace.of("flat", posts), Setup(budget=0.5, train_days=0)) == pytest.approx(
        4.5, rel=0.03
    )


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_keeps_the_budget_and_gives_the_same_numbers_again(name: str) -> None:
    trace = invented(feeds=12, days=8)
    once, again = (replay(trace, name, SHORT, Options()) for _ in range(2))
    assert asdict(once) == asdict(again)
    allowed = 12 * 0.15 * 4 * 24
    if POLICIES[name].budgeted:  # type: ignore[attr-defined]
        assert 0.97 * allowed <= once.metrics.retrievals <= allowed + 12
    assert once.metrics.delay_p50 <= once.metrics.delay_p95 <= once.metrics.delay_p99
    assert len(once.pending_by_hour) == 24


@pytest.mark.parametrize("worse", ["round-robin", "advarss", "miniflux", "commafeed", "newsblur"])
def test_freshness_is_better_than_the_others_and_nothing_beats_full_information(worse: str) -> None:
    trace, setup = invented(feeds=60, days=24), Setup(train_days=12)
    ours, theirs, best = (
        replay(trace, name, setup, Options()).metrics for name in ("freshness", worse, "full-information")
    )
    assert best.total_pending < ours.total_pending < theirs.total_pending
    assert ours.delay_mean < theirs.delay_mean


def test_little_s_law_ties_pending_articles_to_their_delays() -> None:
    trace = invented(feeds=20, days=20)
    record = simulate(trace, make_policy("round-robin"), Setup(train_days=0))
    per_minute = len(trace.owner) / (20 * 24 * 60)
    # At ticks before the retrievals: what waits on average, and the half tick in which it came.
    assert record.metrics().total_pending == pytest.approx(record.metrics().delay_mean * per_minute, rel=0.05)


def test_subscribers_shorten_the_delays_of_their_feeds() -> None:
    trace = invented(feeds=20, days=12)
    audience = np.where(np.arange(20) < 10, 100.0, 0.0)
    setup = Setup(train_days=4, subscribers=audience)
    told: list[Selection] = []
    simulate(trace, make_policy("freshness", c=0.1), setup, selected=told.append)
    visits = np.bincount(np.concatenate([s.rows for s in told]), minlength=20)
    plain: list[Selection] = []
    simulate(trace, make_policy("freshness"), SHORT, selected=plain.append)
    before = np.bincount(np.concatenate([s.rows for s in plain]), minlength=20)
    assert visits[:10].sum() > 1.3 * before[:10].sum()
    assert visits.sum() == before.sum()
