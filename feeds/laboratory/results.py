"""Results of an experiment so far: a table, four charts, and the budgets needed for a delay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from crawler.web.charts import Axis, Bar, Line, bar_plot, line_plot
from feeds.laboratory.models import Experiment, Outcome, has_budget
from feeds.replay.curve import Needed, Point, needed_budget
from feeds.scheduling.registry import POLICIES

# The same colour for a policy in every chart; ours has the first.
_INKS = {
    name: at for at, name in enumerate(sorted(POLICIES, key=lambda name: (name != "freshness", name)), 1)
}

_FAIR = 1.02  # more than so many times the budget, and a policy is not compared


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A policy's row of the table: its outcome, and its total pending as a multiple of others'."""

    outcome: Outcome
    to_advarss: float | None
    to_flat: float | None
    best: bool


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """A policy's retrievals a day for a chosen mean delay, and their `share` of those of `advarss`."""

    policy: str
    needed: Needed
    a_day: float | None
    share: float | None


def at_budget(experiment: Experiment, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes at the experiment's own budget, in the order of its policies."""
    by_policy = {outcome.policy: outcome for outcome in outcomes if outcome.budget == experiment.budget}
    return [by_policy[name] for name in experiment.policies if name in by_policy]


def rows(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[ResultRow]:
    """Return the rows of the table at the experiment's budget."""
    at_own_budget = at_budget(experiment, outcomes)
    totals = {
        outcome.policy: outcome.metrics["total_pending"] for outcome in at_own_budget if outcome.metrics
    }
    fair = [
        outcome.policy
        for outcome in at_own_budget
        if outcome.spent and outcome.spent <= _FAIR * outcome.budget
    ]
    rivals = {name: totals[name] for name in fair if name != "full-information"}
    best = min(rivals, key=lambda name: rivals[name], default="")
    return [
        ResultRow(
            outcome,
            _ratio(totals.get(outcome.policy), totals.get("advarss")),
            _ratio(totals.get(outcome.policy), experiment.flat_optimum),
            outcome.policy == best and len(rivals) > 1,
        )
        for outcome in at_own_budget
    ]


def budgets_for(experiment: Experiment, outcomes: Sequence[Outcome], delay: float) -> list[BudgetRow]:
    """Return each budgeted policy's budget for a mean delay (minutes), from the measured curve."""
    budgeted = [name for name in experiment.policies if has_budget(name)]
    needed = {name: needed_budget(curve(outcomes, name), delay) for name in budgeted}
    base = needed["advarss"].budget if "advarss" in needed else None
    all_feeds = 24 * (experiment.feeds or 0)
    return [
        BudgetRow(name, need, need.budget * all_feeds if need.budget else None, _ratio(need.budget, base))
        for name, need in needed.items()
    ]


def charts(experiment: Experiment, outcomes: Sequence[Outcome]) -> dict[str, SafeString]:
    """Draw pending by hour, maximum pending, distribution of delays, and delay against budget.

    Returns {} before the first outcome.
    """
    measured = [outcome for outcome in at_budget(experiment, outcomes) if outcome.metrics]
    if not measured:
        return {}
    plots = {
        "hours": line_plot(
            [Line(o.policy, _hours(o), _INKS[o.policy], steps=True) for o in measured],
            Axis(_("hour of day, UTC"), marks=range(0, 25, 3)),
            Axis(_("pending articles")),
            _("Mean pending articles by hour of day and policy"),
        ),
        "most": bar_plot(
            [Bar(o.policy, (o.metrics or {})["daily_max_pending"], _INKS[o.policy]) for o in measured],
            _("pending articles of the fullest feed, the day's maximum, mean over days"),
            _("Daily maximum of pending articles by policy"),
        ),
        "delays": line_plot(
            [Line(o.policy, _shares(o), _INKS[o.policy]) for o in measured],
            Axis(_("delay, minutes"), log=True),
            Axis(_("per cent of articles retrieved within it"), marks=range(0, 101, 20)),
            _("Distribution of delays by policy"),
        ),
    }
    curves = {name: curve(outcomes, name) for name in experiment.policies}
    if any(len(points) > 1 for points in curves.values()):
        plots["curve"] = line_plot(
            [Line(n, [(p.spent, p.delay) for p in c], _INKS[n]) for n, c in curves.items() if len(c) > 1],
            Axis(_("retrievals per feed and hour"), log=True),
            Axis(_("mean delay, minutes"), log=True),
            _("Mean delay by budget and policy"),
        )
    return plots


def hours(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[tuple[int, list[float]]]:
    """Return (hour, pending articles of each policy), the numbers behind the chart."""
    columns = [each.pending_by_hour for each in at_budget(experiment, outcomes) if each.metrics]
    return [(hour, list(row)) for hour, row in enumerate(zip(*columns, strict=True))]


def curve(outcomes: Iterable[Outcome], policy: str) -> list[Point]:
    """Return a policy's measured budgets and delays, smallest budget first."""
    points = [
        Point(each.spent, each.metrics["delay_mean"])
        for each in outcomes
        if each.policy == policy and each.metrics and each.spent
    ]
    return sorted(points, key=lambda point: point.spent)


def _hours(outcome: Outcome) -> list[tuple[float, float]]:
    values = outcome.pending_by_hour
    return [*((float(hour), value) for hour, value in enumerate(values)), (24.0, values[-1])]


def _shares(outcome: Outcome) -> list[tuple[float, float]]:
    """Return pairs of minutes and per cent of the articles."""
    return [(minutes, float(share)) for share, minutes in enumerate(outcome.delays, 1)]


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None
