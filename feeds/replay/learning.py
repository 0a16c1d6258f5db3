"""A crawler's knowledge at each tick of a replay: histories, rates and plans from retrievals alone."""

from __future__ import annotations

import numpy as np

from feeds.replay.setup import Setup
from feeds.scheduling.base import FeedStates, Policy
from feeds.scheduling.forecast import Forecast, Population
from feeds.scheduling.history import Histories, Retrievals
from feeds.scheduling.planning import PLAN_SECONDS, planned, todays_prices
from feeds.scheduling.rates import WEEK_HOURS, Integers, PeriodicRates


class Learner:
    """The current states of n feeds, with only the tables that the policy reads."""

    def __init__(self, policy: Policy, n: int, start: float, setup: Setup) -> None:
        self._policy = policy
        self._setup = setup
        self._histories = Histories.start(n)
        self._population = setup.prior
        self._plan_until = start
        self._hourly = PeriodicRates.of(self._histories.hourly_rates()) if "hourly" in policy.reads else None
        rates = self.forecast(start).rates()
        self._weekly = PeriodicRates.of(rates) if "weekly" in policy.reads else None
        self._shape = np.ones((n, WEEK_HOURS), dtype=np.float32) if "plan" in policy.reads else None
        self._prices = np.ones(WEEK_HOURS)
        self._columns = policy.start(n, start, np.random.default_rng(setup.seed))
        self._ids = np.arange(n, dtype=np.int64)
        self._window = np.full(n, float(setup.window)) if setup.window else None
        self.last = np.full(n, start)

    def forecast(self, now: float, rows: Integers | slice = slice(None)) -> Forecast:
        """Return the forecast of these feeds. benchmarks/knowledge.py puts hindsight in its place."""
        return self._histories.forecast(self._population, rows)

    def states(self, pending: Integers) -> FeedStates:
        """Return the states that the policy may see now."""
        return FeedStates(
            id=self._ids,
            last=self.last,
            hourly=self._hourly,
            weekly=self._weekly,
            shape=self._shape,
            subscribers=self._setup.subscribers,
            window=self._window,
            pending=pending if "pending" in self._policy.reads else None,
            columns=self._columns,
        )

    def tick(self, now: float) -> None:
        """Update the population, its forecasts and the plans once a day."""
        if now < self._plan_until:
            return
        self._plan_until = now + PLAN_SECONDS
        if self._weekly is not None:
            counts, exposure = self._histories.counts, self._histories.exposure
            self._population = Population.of(counts.sum(axis=0), exposure.sum(axis=0), self._setup.prior)
            rates = self.forecast(now).rates()
            self._weekly = PeriodicRates.of(rates)
            if self._shape is not None:
                prices = todays_prices(self._prices, rates, self._setup.budget * len(self._ids))
                plan = planned(rates, prices)
                self._shape, self._prices = plan.shapes, plan.next_prices(prices)
        self._columns.update(self._policy.plan(self.states(np.zeros(0, np.int64)), now))

    def learn(self, retrievals: Retrievals) -> None:
        """Enter the retrievals of a tick."""
        rows = retrievals.rows
        if self._weekly is not None:
            self._histories.observe(retrievals, self._population)
            self._weekly.put(rows, self.forecast(float(retrievals.now[0]), rows).rates())
        if self._hourly is not None:
            if self._weekly is None:
                self._histories.observe_hours(retrievals)
            self._hourly.put(rows, self._histories.hourly_rates(rows))
        for name, values in self._policy.after_retrieval(
            self.states(np.zeros(0, np.int64)), retrievals
        ).items():
            self._columns[name][rows] = values
        self.last[rows] = retrievals.now
