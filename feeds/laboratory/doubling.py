"""The laboratory's own answer: what other budgets and orders would bring to this deployment's feeds.

It replays what they have posted.

It is asked for by opening the page, at most once a day, and anew when the rules in force have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crawler.engine.ticking import tick_seconds
from feeds.laboratory.experiments import begin
from feeds.laboratory.models import Experiment
from feeds.replay.trace import TraceError
from feeds.visiting.rules import VisitRules, rules

COMPARED = ("freshness", "advarss", "round-robin")
"""The orders of visits of the three cards; the full laboratory has them all."""
FRESH = timedelta(days=1)
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Gain:
    """Mean minutes from publication to retrieval with the present budget and with another one."""

    now: float
    then: float

    @property
    def minutes(self) -> float:
        """How many minutes earlier articles would be here."""
        return self.now - self.then


def newest_answer(chosen: VisitRules | None = None) -> Experiment | None:
    """Return the newest replay of the deployment's own posts at the present budget, None without one."""
    budget = (chosen or rules()).budget
    rows = Experiment.objects.lean().filter(source=Experiment.Source.HISTORY, curve=True)
    near = rows.filter(budget__gte=budget * 0.99, budget__lte=budget * 1.01)
    return near.exclude(result__outcomes=[]).order_by("-id").first()


def ask(now: datetime, person: int | None) -> None:
    """Begin the replay unless one of the last day, or one that still runs, is there."""
    chosen = rules()
    rows = Experiment.objects.filter(source=Experiment.Source.HISTORY, curve=True)
    near = rows.filter(budget__gte=chosen.budget * 0.99, budget__lte=chosen.budget * 1.01)
    if rows.open().exists() or near.filter(created__gte=now - FRESH).exists():
        return
    policies = list(dict.fromkeys([chosen.policy, *COMPARED]))[: len(COMPARED)]
    try:
        begin(
            Experiment(
                source=Experiment.Source.HISTORY,
                policies=policies,
                budget=min(max(chosen.budget, 0.001), 6),
                curve=True,
                tick=int(min(max(tick_seconds(), 60), _DAY)),
                started_by_id=person,
            )
        )
    except TraceError:
        return  # nothing was posted yet, so there is nothing to replay


def gain(experiment: Experiment, policy: str, factor: float) -> Gain | None:
    """Return what `factor` times the budget would bring with a policy, None if it was not replayed."""
    delays = {
        round(outcome.budget / experiment.budget, 3): outcome.metrics["delay_mean"]
        for outcome in experiment.outcomes
        if outcome.policy == policy and outcome.metrics
    }
    if 1.0 not in delays or factor not in delays:
        return None
    return Gain(delays[1.0], delays[factor])


def gain_of_twice() -> Gain | None:
    """Return what twice the requests would bring, None if it is not known."""
    chosen = rules()
    experiment = newest_answer(chosen)
    return gain(experiment, chosen.policy, 2.0) if experiment else None


def is_asked(now: datetime | None = None) -> bool:
    """Return whether a replay of the deployment's own posts is running."""
    since = (now or datetime.now(UTC)) - FRESH
    rows = Experiment.objects.open().filter(source=Experiment.Source.HISTORY, created__gte=since)
    return rows.exists()
