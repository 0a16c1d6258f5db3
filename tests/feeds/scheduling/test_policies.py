"""The order in which policies take feeds, and the words they have for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feeds.scheduling.base import FeedStates, Policy, in_words, next_visit, select
from feeds.scheduling.rates import PeriodicRates, between_hours, hour_of
from feeds.scheduling.registry import POLICIES, make_policy
from feeds.scheduling.training import due_at

HOUR, DAY = 3600.0, 86400.0
NOW = 1767571200.0 + 12 * HOUR
RANKINGS = ["advarss", "freshness", "round-robin"]


def states(ages_hours: list[float], rates: list[float], **more: Any) -> FeedStates:
    """Feeds 1, 2, ... with flat rates (articles per hour), last retrieved so many hours before NOW."""
    n, flat = len(rates), np.asarray(rates)[:, None]
    return FeedStates(
        id=np.arange(1, n + 1),
        last=NOW - np.asarray(ages_hours) * HOUR,
        hourly=PeriodicRates.of(np.repeat(flat, 24, axis=1)),
        weekly=PeriodicRates.of(np.repeat(flat, 168, axis=1)),
        **more,
    )


def order(policy: Policy, feeds: FeedStates, k: int = 99) -> list[int]:
    """Ids in the order of retrieval."""
    keys = policy.keys(feeds, NOW)
    return feeds.id[select(feeds, keys, np.ones(len(feeds), dtype=bool), k)].tolist()


def test_advarss_takes_the_most_expected_articles_first() -> None:
    # Expected 2, 3, 1.
    assert order(make_policy("advarss"), states([2, 6, 10], [1, 0.5, 0.1])) == [2, 1, 3]


def test_freshness_takes_the_slow_feed_that_waited_long_before_the_fast_one() -> None:
    feeds = states([2, 6], [1, 0.3])
    assert order(make_policy("advarss"), feeds) == [1, 2]  # 2 against 1.8 articles
    assert order(make_policy("freshness"), feeds) == [2, 1]  # 2 against 5.4 article-hours


def test_freshness_is_rate_times_age_squared_over_two_when_flat() -> None:
    assert make_policy("freshness").keys(states([6], [0.3]), NOW)[0] == pytest.approx(0.3 * 36 / 2)


def test_freshness_waits_where_a_plan_asks_for_more_pending_articles() -> None:
    shape = np.ones((2, 168), dtype=np.float32)
    shape[1] = 2
    planned = states([6, 6], [0.3, 0.3], shape=shape)
    assert make_policy("freshness").keys(planned, NOW) == pytest.approx([0.3 * 18, 0.3 * 18 / 4])


def test_a_plan_holds_at_the_beginning_of_an_hour_and_in_between_what_lies_between() -> None:
    shape = np.ones((1, 168), dtype=np.float32)
    hour = int(hour_of(NOW, 168))
    shape[0, hour] = 2
    feeds = states([6], [0.3], shape=shape)
    begin = NOW // HOUR * HOUR
    assert between_hours(shape, begin)[0] == pytest.approx(2)
    assert between_hours(shape, begin + HOUR / 2)[0] == pytest.approx(1.5)
    assert between_hours(shape, begin - HOUR / 4)[0] == pytest.approx(1.75)
    assert make_policy("freshness").keys(feeds, begin)[0] < 0.3 * 36 / 2


def test_round_robin_takes_the_oldest_first() -> None:
    assert order(make_policy("round-robin"), states([2, 9, 5], [100, 0, 1])) == [2, 3, 1]


@pytest.mark.parametrize(("beta", "like"), [(0, "advarss"), (1, "freshness"), (20, "round-robin")])
def test_beta_spans_the_family_from_advarss_to_round_robin(beta: float, like: str) -> None:
    # Ages a factor of 1.5 apart, to the power of 20 3,000 apart, outweigh rates within a factor of 300.
    ages, rates = 0.5 * 1.5 ** np.arange(12), np.geomspace(30, 0.1, 12)
    mixed = np.random.default_rng(7).permutation(12)
    feeds = states(ages[mixed].tolist(), rates[np.roll(mixed, 5)].tolist())
    assert order(make_policy("freshness", beta=beta), feeds) == order(make_policy(like), feeds)


@pytest.mark.parametrize("name", ["advarss", "freshness"])
def test_subscribers_move_a_feed_up_and_c_0_ignores_them(name: str) -> None:
    feeds = states([2, 2], [1, 0.9], subscribers=np.array([0, 10]))
    assert order(make_policy(name, c=0.1), feeds) == [2, 1]
    assert order(make_policy(name, c=0), feeds) == [1, 2]
    keys = make_policy(name, c=0.1).keys(feeds, NOW)
    assert keys[1] == pytest.approx(2 * make_policy(name).keys(feeds, NOW)[1])


def test_a_feed_whose_document_may_overflow_goes_first() -> None:
    # Feed 2 expects 5 of the 10 entries it holds; feed 3 expects 6 of 10; feed 1 just waits.
    feeds = states([500, 1, 1], [1, 5, 6], window=np.array([10_000, 10, 10]))
    assert order(make_policy("freshness"), feeds) == [3, 2, 1]
    feeds = states([500, 1, 1], [1, 4.9, 4.8], window=np.array([10_000, 10, 10]))
    assert order(make_policy("freshness"), feeds) == [1, 2, 3]


def test_a_document_of_unknown_size_does_not_overflow() -> None:
    feeds = states([500, 1], [1, 50], window=np.array([0, 0]))
    assert order(make_policy("freshness"), feeds) == [1, 2]


def test_it_selects_the_first_k_of_the_allowed() -> None:
    feeds = states([1, 2, 3, 4], [1, 1, 1, 1])
    keys = make_policy("advarss").keys(feeds, NOW)
    allowed = np.array([True, True, True, False])
    assert select(feeds, keys, allowed, 2).tolist() == [2, 1]
    assert select(feeds, keys, allowed, 0).tolist() == []
    assert select(feeds, keys, ~allowed, 5).tolist() == [3]


def test_ties_go_to_the_older_retrieval_then_to_the_smaller_id() -> None:
    feeds = FeedStates(id=np.array([9, 4, 7, 1]), last=np.array([50.0, 50, 20, 60]))
    chosen = select(feeds, np.ones(4), np.ones(4, dtype=bool), 3)
    assert feeds.id[chosen].tolist() == [7, 4, 9]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1, 2, -np.inf]), st.integers(0, 2)), max_size=30),
    st.integers(0, 35),
    st.randoms(use_true_random=False),
)
def test_the_selection_is_the_head_of_the_full_order_whatever_the_rows_order(
    rows: list[tuple[float, int]], k: int, shuffle: Any
) -> None:
    keys, last = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], dtype=float)
    ids = np.arange(len(rows))
    full = sorted((i for i in ids if keys[i] > -np.inf), key=lambda i: (-keys[i], last[i], i))
    place = np.array(shuffle.sample(range(len(rows)), len(rows)), dtype=int)
    feeds = FeedStates(id=ids[place], last=last[place])
    chosen = select(feeds, keys[place], np.ones(len(rows), dtype=bool), k)
    assert feeds.id[chosen].tolist() == full[:k]


@pytest.mark.parametrize("name", RANKINGS)
def test_feeds_may_be_ranked_in_blocks(name: str) -> None:
    rng = np.random.default_rng(2)
    ages, rates = rng.uniform(0, 50, 10).tolist(), rng.uniform(0, 3, 10).tolist()
    policy = make_policy(name)
    blocks = [policy.keys(states(ages[i : i + 3], rates[i : i + 3]), NOW) for i in range(0, 10, 3)]
    assert np.concatenate(blocks).tolist() == policy.keys(states(ages, rates), NOW).tolist()


@settings(deadline=None)
@given(st.sampled_from(RANKINGS), st.floats(0, 100), st.floats(0, 100), st.floats(0, 50))
def test_a_key_never_falls_while_a_feed_waits(name: str, age: float, more: float, rate: float) -> None:
    policy, feeds = make_policy(name), states([age], [rate], window=np.array([20]))
    keys = policy.keys(feeds, NOW)[0], policy.keys(feeds, NOW + more * HOUR)[0]
    assert keys[1] >= keys[0] * (1 - 1e-9)


def test_it_foresees_when_a_key_reaches_the_cut_off() -> None:
    # 0.5 articles an hour reach 3 articles six hours after the last retrieval.
    feeds = states([2, 7, 2], [0.5, 0.5, 0.001])
    visits = next_visit(make_policy("advarss"), feeds, NOW, 3.0, 10 * DAY)
    assert visits[0] == pytest.approx(NOW + 4 * HOUR, abs=1)
    assert visits[1] == NOW
    assert visits[2] == np.inf


def test_the_foreseen_visit_is_not_before_its_floor() -> None:
    feeds = states([2, 2], [0.5, 0.5])
    floors = np.array([NOW, NOW + 9 * HOUR])
    visits = next_visit(make_policy("advarss"), feeds, floors, 3.0, DAY)
    assert visits == pytest.approx([NOW + 4 * HOUR, NOW + 9 * HOUR], abs=1)


def test_it_foresees_the_time_of_day_at_which_a_feed_wakes_up() -> None:
    rates = np.zeros((1, 24))
    rates[0, 7] = 6
    feeds = FeedStates(id=np.array([1]), last=np.array([NOW]), hourly=PeriodicRates.of(rates))
    visits = next_visit(make_policy("advarss"), feeds, NOW, 1.0, 2 * DAY)
    assert visits[0] == pytest.approx(NOW + 19 * HOUR + 600, abs=1)


@settings(deadline=None, max_examples=30)
@given(st.floats(0, 30), st.floats(0.01, 20), st.floats(0.01, 30))
def test_a_foreseen_visit_is_the_first_time_the_key_is_reached(
    age: float, rate: float, cutoff: float
) -> None:
    feeds, policy = states([age], [rate]), make_policy("freshness")
    at = next_visit(policy, feeds, NOW, cutoff, 30 * DAY)[0]
    if at < np.inf:
        assert policy.keys(feeds, at)[0] >= cutoff
    if at > NOW + 2:
        assert policy.keys(feeds, min(at, NOW + 30 * DAY) - 2)[0] < cutoff


def test_it_foresees_the_end_of_toe() -> None:
    policy = make_policy("advarss-training", tick=600)
    feeds = FeedStates(id=np.array([1]), last=np.array([NOW]), columns={"due": due_at([NOW], [4], 600)})
    assert next_visit(policy, feeds, NOW, 0.0, DAY)[0] == pytest.approx(NOW + 3.5 * 600, abs=1)


def test_nobody_has_no_next_visit() -> None:
    assert len(next_visit(make_policy("advarss"), states([], []), NOW, 1.0, DAY)) == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("advarss", ["2.00 new articles", "2 hours", "audience 1.50"]),
        ("freshness", ["2.00 new articles", "2 hours", "2.00 article-hours", "audience 1.50"]),
    ],
)
def test_it_explains_a_key_with_its_parts(name: str, words: list[str]) -> None:
    feeds = states([9, 2], [3, 1], subscribers=np.array([0, 5]))
    policy = make_policy(name, c=0.1)
    said = policy.explain(feeds, 1, NOW)
    assert said.key == policy.keys(feeds, NOW)[1]
    assert (said.expected, said.age, said.audience) == (pytest.approx(2), 2 * HOUR, 1.5)
    assert all(word in said.formula for word in words)


def test_it_explains_why_a_feed_goes_first() -> None:
    said = make_policy("freshness").explain(states([2], [5], window=np.array([15])), 0, NOW)
    assert (
        said.formula == "goes first: 10.00 new articles expected in 2 hours, and its document holds only 15"
    )


def test_it_explains_round_robin() -> None:
    assert (
        make_policy("round-robin").explain(states([36], [1]), 0, NOW).formula == "last retrieved 1.5 days ago"
    )


def test_an_unknown_policy_is_named_with_the_choices() -> None:
    with pytest.raises(ValueError, match=r"'fifo'.*advarss, advarss-training, commafeed, .*round-robin"):
        make_policy("fifo")


def test_an_impossible_beta_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 20"):
        make_policy("freshness", beta=-1)


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(ValueError, match=r"'round-robin'.*'beta'"):
        make_policy("round-robin", beta=1)


@pytest.mark.parametrize(
    ("name", "needs"), [("advarss", "hourly"), ("freshness", "weekly"), ("advarss-training", "due")]
)
def test_what_a_policy_lacks_is_named(name: str, needs: str) -> None:
    with pytest.raises(ValueError, match=needs):
        make_policy(name).keys(FeedStates(id=np.array([1]), last=np.array([0.0])), NOW)


def test_every_policy_is_known_by_its_own_name() -> None:
    assert {name: make_policy(name).name for name in POLICIES} == {name: name for name in POLICIES}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (59, "59 seconds"), (60, "1 minute"), (5400, "1.5 hours"), (172800, "2 days")],
)
def test_durations_are_said_in_their_largest_unit(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
