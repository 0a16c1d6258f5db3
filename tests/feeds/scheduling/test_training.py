"""The training phase: M, T and ToE, with the paper's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feeds.scheduling.base import FeedStates, select
from feeds.scheduling.history import Retrievals
from feeds.scheduling.training import AdvarssTraining, after_retrieval, due_at, start

NOW = 1_750_000_000.0


def test_it_starts_with_m_4_t_1_and_toe_from_0_to_3() -> None:
    m, t, toe = start(1000, np.random.default_rng(1))
    assert set(m) == {4.0}
    assert set(t) == {1.0}
    assert set(toe) == {0, 1, 2, 3}


def test_the_first_successful_retrieval_gives_m_1_6_and_toe_2() -> None:
    m, t, toe = after_retrieval(4.0, 1.0, new=True)
    assert (m, t, toe) == (pytest.approx(1.6), 1, 2)


def test_unchanged_answers_use_the_old_t_for_m() -> None:
    m, t, toe = after_retrieval(1.6, 1.0, new=False)
    assert (m, t, toe) == (pytest.approx(1.9), pytest.approx(2.6), 2)
    m, t, toe = after_retrieval(m, t, new=False)
    # M = 1.9 + 0.3 * 2.6, T = 2.6 + 1.9.
    assert (m, t, toe) == (pytest.approx(2.68), pytest.approx(4.5), 3)
    m, t, toe = after_retrieval(m, t, new=False)
    assert (m, t, toe) == (pytest.approx(4.03), pytest.approx(7.18), 5)


def test_something_new_brings_m_down_to_a_fifth() -> None:
    m, t, toe = after_retrieval(50.0, 90.0, new=True)
    assert (m, t, toe) == (pytest.approx(10.8), 1, 11)


def test_m_stops_at_80() -> None:
    m, _, toe = after_retrieval(79.0, 100.0, new=False)
    assert (m, toe) == (80, 80)


def test_a_feed_that_always_has_news_ends_at_every_tick() -> None:
    m, t = np.float64(4), np.float64(1)
    for _ in range(30):
        m, t, toe = after_retrieval(m, t, new=True)
    assert (m, toe) == (1, 1)


@given(st.floats(1, 80), st.floats(1, 1e6), st.booleans())
def test_m_stays_within_its_limits(m: float, t: float, new: bool) -> None:
    next_m, next_t, toe = after_retrieval(m, t, new)
    assert 1 <= next_m <= 80
    assert next_t >= 1
    assert toe == np.ceil(next_m)


def test_arrays_and_scalars_agree() -> None:
    m, t, new = np.array([4.0, 1.6, 79]), np.array([1.0, 7, 100]), np.array([True, False, False])
    rows = [after_retrieval(*row) for row in zip(m, t, new, strict=True)]
    assert np.array_equal(np.transpose(after_retrieval(m, t, new)), np.array(rows))


def test_a_retrieval_some_seconds_after_its_tick_is_due_toe_ticks_after_that_tick() -> None:
    due = due_at(NOW + 40, 2, tick=600)
    assert NOW + 600 < due <= NOW + 1200


def test_a_ceiling_brings_quiet_feeds_back_sooner() -> None:
    assert due_at(NOW, 80, tick=600, max_ticks=5) == due_at(NOW, 5, tick=600)


def test_a_tick_that_runs_twice_counts_once() -> None:
    policy = AdvarssTraining(tick=600)
    columns = {"m": np.array([4.0]), "t": np.array([1.0]), "due": due_at([NOW], [2], 600)}
    feeds = FeedStates(id=np.array([1]), last=np.array([NOW]), columns=columns)
    for _ in range(5):
        assert policy.keys(feeds, NOW + 600)[0] == -np.inf
    assert policy.keys(feeds, NOW + 1200)[0] >= 0


def ticks_of_retrieval(news: list[bool], ticks: int) -> list[int]:
    """The ticks at which the policy retrieves one feed added at tick 0 with ToE 0."""
    policy, at = AdvarssTraining(tick=600), []
    columns = {"m": np.array([4.0]), "t": np.array([1.0]), "due": due_at([NOW], [0], 600)}
    feeds = FeedStates(id=np.array([1]), last=np.array([NOW]), columns=columns)
    for tick in range(ticks):
        now = NOW + 600 * tick
        if len(select(feeds, policy.keys(feeds, now), np.array([True]), 1)):
            done = Retrievals.of([0], feeds.last, now, [int(news[len(at)])])
            columns.update(policy.after_retrieval(feeds, done))
            at.append(tick)
    return at


def test_the_policy_follows_toe_tick_by_tick() -> None:
    # M: 1.6, 1.9, 2.68, 4.03, then news: 1.606; so ToE: 2, 2, 3, 5, 2.
    news = [True, False, False, False, True, True, True, True]
    assert ticks_of_retrieval(news, 15) == [0, 2, 4, 7, 12, 14]


def test_it_says_why() -> None:
    policy = AdvarssTraining(tick=600)
    feeds = FeedStates(
        id=np.array([1]),
        last=np.array([NOW]),
        columns={"m": np.array([2.68]), "t": np.array([4.5]), "due": due_at([NOW], [3], 600)},
    )
    assert "every 3 ticks" in policy.explain(feeds, 0, NOW).formula
