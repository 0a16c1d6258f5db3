"""Plans by hours of the week: what theory says of flat rates, and what common sense says of others."""

from __future__ import annotations

import numpy as np
import pytest

from feeds.scheduling.planning import MAX_SHAPE, MIN_SHAPE, first_prices, planned, todays_prices

WEEK = 168


def flat(*rates: float) -> np.ndarray:
    return np.repeat(np.array(rates)[:, None], WEEK, axis=1)


def daily(hour: int, articles: float = 4.0) -> np.ndarray:
    """(1, 168) a feed that posts in one hour of the day and hardly otherwise."""
    day = np.full(24, 0.02)
    day[hour] = articles
    return np.tile(day, 7)[None]


def test_the_first_price_spends_the_budget_by_the_square_root_law() -> None:
    rates = flat(0.1, 0.4, 1.6)
    (price,) = set(first_prices(rates, 0.5).tolist())
    # With gaps of sqrt(2 p / lambda) hours the feeds' retrievals per hour sum up to the budget.
    assert np.sqrt(rates[:, 0] / (2 * price)).sum() == pytest.approx(0.5)


def test_flat_rates_have_flat_plans() -> None:
    rates = flat(0.01, 0.1, 0.5)
    shapes = planned(rates, first_prices(rates, 0.3)).shapes
    assert shapes == pytest.approx(1, abs=0.12)


def test_plans_of_flat_rates_spend_what_their_price_was_made_for() -> None:
    rates = np.vstack([flat(0.05, 0.1, 0.2, 0.4)] * 20)
    visits = planned(rates, first_prices(rates, 8.0)).visits
    assert visits.mean() == pytest.approx(8.0, rel=0.06)


def test_it_pays_to_wait_before_the_posts_and_to_come_after_them() -> None:
    rates = daily(9)
    shape = planned(rates, first_prices(rates, 0.15)).shapes[0].reshape(7, 24)[2]
    assert shape[8] > 1.5
    assert shape[11] == pytest.approx(MIN_SHAPE)


def test_a_week_s_plan_comes_round() -> None:
    rates = daily(23)
    shape = planned(rates, first_prices(rates, 0.15)).shapes[0].reshape(7, 24)
    assert shape[6, 22] == pytest.approx(shape[2, 22], rel=0.05)
    assert shape[6, 22] > 1.5
    assert shape[0, 1] < 0.5


def test_scaling_rates_and_prices_together_changes_nothing_but_the_unit() -> None:
    rates = np.vstack([daily(9), daily(15, 1.0), flat(0.3)])
    one = planned(rates, first_prices(rates, 0.4)).shapes
    ten = planned(10 * rates, 10 * first_prices(rates, 0.4)).shapes
    assert ten == pytest.approx(one, rel=1e-5)


def test_a_dear_hour_is_avoided() -> None:
    rates = np.vstack([flat(0.1, 0.2, 0.3)] * 10)
    prices = first_prices(rates, 3.0)
    dear = prices.copy()
    dear[[9 + 24 * day for day in range(7)]] *= 3
    visits = planned(rates, dear).visits.reshape(7, 24).sum(axis=0)
    assert visits[9] == 0
    assert visits[10] > visits.mean()


def test_prices_rise_where_more_would_be_spent() -> None:
    rates = np.vstack([daily(9)] * 5 + [flat(0.2)] * 20)
    prices = first_prices(rates, 4.0)
    plan = planned(rates, prices)
    busy = int(plan.visits.argmax())
    after = plan.next_prices(prices)
    assert after[busy] > prices[busy]
    assert after.min() < prices.min()


def test_ascent_spreads_the_retrievals_more_evenly() -> None:
    rng = np.random.default_rng(4)
    rates = np.vstack([daily(hour, rng.uniform(0.5, 4)) for hour in rng.normal(10, 2, 60).astype(int)])
    prices = first_prices(rates, 9.0)
    before = planned(rates, prices).visits
    for _ in range(25):
        prices = todays_prices(planned(rates, prices).next_prices(prices), rates, 9.0)
    after = planned(rates, prices).visits
    day = (before.reshape(7, 24).sum(axis=0), after.reshape(7, 24).sum(axis=0))
    assert day[1].std() < 0.8 * day[0].std()


def test_shapes_stay_in_their_bounds_for_odd_rates() -> None:
    rates = np.vstack([flat(1e-5, 1e3), daily(3, 500.0)])
    shapes = planned(rates, first_prices(rates, 1e-3)).shapes
    assert np.isfinite(shapes).all()
    assert shapes.min() >= np.float32(MIN_SHAPE)
    assert shapes.max() <= np.float32(MAX_SHAPE)
