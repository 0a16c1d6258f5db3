"""Comparison of policies on one trace at one budget, in parallel processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from feeds.replay.metrics import Metrics, Recorder
from feeds.replay.setup import Setup
from feeds.replay.simulation import Progress, flat_optimum, simulate
from feeds.replay.trace import Trace
from feeds.scheduling.base import Policy
from feeds.scheduling.min_delay import MinDelay
from feeds.scheduling.peers import Intervals
from feeds.scheduling.rates import DAY, Floats
from feeds.scheduling.registry import POLICIES, make_policy, weighs_audience

_RUNS = 6
_NEAR = 0.005
_PERCENTILES = np.arange(1, 100)


@dataclass(frozen=True, slots=True)
class Result:
    """One policy's replay: `pending_by_hour` (24,) UTC, `delays` the percentiles 1 to 99 in minutes.

    `scale` is the factor on an interval policy's intervals that spends the budget, else 1.
    """

    policy: str
    metrics: Metrics
    pending_by_hour: list[float]
    delays: list[float]
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """The results of all policies, in the order requested."""

    trace: str
    feeds: int
    articles: int
    flat_optimum: float
    results: tuple[Result, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the object of `manage.py replay --json`."""
        return {
            "trace": self.trace,
            "feeds": self.feeds,
            "articles": self.articles,
            "flat_optimum": self.flat_optimum,
            "policies": {result.policy: asdict(result.metrics) for result in self.results},
        }


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the policies: `beta` of freshness, `c` the weight of a subscriber."""

    beta: float | None = None
    c: float = 0.0


def compare(
    trace: Trace,
    names: Sequence[str],
    setup: Setup,
    options: Options,
    *,
    processes: int,
    progress: Callable[[float], None] | None = None,
) -> PolicyComparison:
    """Replay the trace with every policy. Raises ValueError for an unknown policy or setting."""
    for name in names:
        _made(name, setup, options, len(trace.feeds))
    shares = get_context("fork").Array("d", len(names))
    tell = progress or (lambda _share: None)
    with ProcessPoolExecutor(
        min(processes, len(names)), get_context("fork"), initializer=_hold, initargs=(trace, shares)
    ) as pool:
        # The longest first, so that no processor ends alone.
        order = sorted(range(len(names)), key=lambda i: _LONG.get(names[i], 0), reverse=True)
        futures = {i: pool.submit(_replay_held, i, names[i], setup, options) for i in order}
        waiting: set[Future[Result]] = set(futures.values())
        while waiting:
            finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
            tell(sum(shares[:]) / len(names))
    return PolicyComparison(
        trace=trace.name,
        feeds=len(trace.feeds),
        articles=len(trace.owner),
        flat_optimum=flat_optimum(trace, setup),
        results=tuple(futures[i].result() for i in range(len(names))),
    )


def replay(
    trace: Trace, name: str, setup: Setup, options: Options, progress: Progress | None = None
) -> Result:
    """Replay one policy. Scales the intervals of interval policies so that they spend the budget."""
    policy = _made(name, setup, options, len(trace.feeds))
    if isinstance(policy, Intervals):
        return _at_equal_budget(trace, policy, setup, progress)
    return _result(name, simulate(trace, policy, setup, progress))


_LONG = {
    name: 2
    for name, policy_class in POLICIES.items()
    if isinstance(policy_class, type) and issubclass(policy_class, Intervals)
}
_LONG["freshness"] = 3
_worker_state: dict[str, Any] = {}


def _hold(trace: Trace, shares: Any) -> None:
    _worker_state.update(trace=trace, shares=shares)


def _replay_held(i: int, name: str, setup: Setup, options: Options) -> Result:
    shares = _worker_state["shares"]

    def tell(share: float) -> None:
        shares[i] = share

    result = replay(_worker_state["trace"], name, setup, options, tell)
    tell(1.0)
    return result


def _made(name: str, setup: Setup, options: Options, feeds: int) -> Policy:
    settings: dict[str, Any] = {"c": options.c} if weighs_audience(name) else {}
    if name == MinDelay.name:
        settings["per_hour"] = max(setup.budget * feeds, 1e-9)
    if name == "freshness" and options.beta is not None:
        settings["beta"] = options.beta
    if name == "advarss-training":
        settings["tick"] = setup.tick
    return make_policy(name, **settings)


def _at_equal_budget(trace: Trace, policy: Policy, setup: Setup, progress: Progress | None) -> Result:
    """Find the factor on all intervals at which the number of retrievals equals the budget.

    Retrievals fall nearly in proportion to the factor until the budget limits them, so a few correction steps
    replace a bisection.
    """
    goal = budgeted_retrievals(trace, setup)
    scale, low, high = 1.0, 0.0, math.inf
    tried: list[Result] = []
    for run in range(_RUNS):

        def tell(share: float, run: int = run) -> None:
            if progress is not None:
                progress((run + share) / _RUNS)

        record = simulate(trace, replace(policy, scale=scale), setup, tell)  # type: ignore[type-var]
        tried.append(_result(policy.name, record, scale))
        spent = record.retrievals / goal
        # Far below the right factor the budget is spent as well, with everything overdue at once.
        if spent == 0 or (abs(spent - 1) <= _NEAR and (low > 0 or high < math.inf)):
            break
        low, high = (scale, high) if spent >= 1 - _NEAR else (low, scale)
        scale = _next_scale(scale, spent, low, high)
    return min(tried, key=lambda result: abs(result.metrics.retrievals / goal - 1))


def _next_scale(scale: float, spent: float, low: float, high: float) -> float:
    """Return a factor between the largest known to spend the budget and the smallest known not to."""
    if high == math.inf:
        return scale * 2
    if low == 0.0:
        return scale * min(spent * math.sqrt(spent), 0.9)
    return math.sqrt(low * high)


def budgeted_retrievals(trace: Trace, setup: Setup) -> float:
    """Return the retrievals that the budget allows in the measured part."""
    seconds = float(trace.published[-1]) - trace.start - setup.train_days * DAY + setup.tick
    return max(seconds, 0.0) / 3600 * setup.budget * len(trace.feeds)


def _result(name: str, record: Recorder, scale: float = 1.0) -> Result:
    delays: Floats = record.all_delays()
    percentiles = np.percentile(delays, _PERCENTILES).tolist() if len(delays) else []
    return Result(name, record.metrics(), record.by_hour().tolist(), percentiles, scale)
