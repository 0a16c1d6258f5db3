"""The first page of the laboratory: one answer in minutes, three ways to spend the requests, two pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from feeds.laboratory.doubling import Gain, gain
from feeds.laboratory.models import Experiment, Outcome

MINUTE = 60
FACTORS = (0.5, 1.0, 2.0, 4.0)
FACTOR_WORDS = {
    0.25: gettext_lazy("a quarter"),
    0.5: gettext_lazy("half"),
    1.0: gettext_lazy("now"),
    2.0: gettext_lazy("twice"),
    4.0: gettext_lazy("4 times"),
}
CHOICES = {
    "2": gettext_lazy("twice as many"),
    "4": gettext_lazy("four times as many"),
    "0.5": gettext_lazy("half as many"),
    "0.25": gettext_lazy("a quarter as many"),
}
"""Factors that can be tried, as the choice of the page says them."""
POLICY_WORDS = {
    "freshness": (
        gettext_lazy("Freshet’s plan"),
        gettext_lazy("goes where an article is likely, and where more people read"),
    ),
    "advarss": (
        gettext_lazy("Most expected first"),
        gettext_lazy("goes to the feeds that should have most new articles"),
    ),
    "round-robin": (
        gettext_lazy("All alike"),
        gettext_lazy("goes round all feeds in turn, whatever they do"),
    ),
    "advarss-training": (
        gettext_lazy("Always learning"),
        gettext_lazy("halves or doubles each feed’s wait by what the last visit brought"),
    ),
}
_LINES = ("ln", "ln2", "ln3")
_LEFT, _RIGHT, _TOP, _BOTTOM = 36, 416, 26, 166


@dataclass(frozen=True, slots=True)
class PolicyCard:
    """A way to spend the requests: its name and sentence, and its delays in seconds."""

    policy: str
    name: str
    words: str
    is_used: bool
    line: str
    mean: float
    half: float
    most: float
    lost: int


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """A bar of the first picture: its height, place and words."""

    x: int
    y: float
    height: float
    css: str
    words: str
    seconds: float
    a_day: float

    @property
    def label(self) -> float:
        """Where its number stands, above it."""
        return self.y - 8


@dataclass(frozen=True, slots=True)
class LabAnswer:
    """The sentences and figures of one experiment for the page; delays in seconds."""

    experiment: Experiment
    factor: float
    gain: Gain | None
    now: float
    then: float
    cards: list[PolicyCard]
    bars: list[BudgetBar]
    curves: list[tuple[str, str]]
    last_minute: int

    @property
    def minutes(self) -> int:
        """Whole minutes that articles come earlier (below 0: later)."""
        return round(self.gain.minutes) if self.gain else 0

    @property
    def later(self) -> int:
        """Whole minutes that articles come later."""
        return -self.minutes

    @property
    def asked(self) -> str:
        """The requests that were tried, as in "With twice the requests"."""
        return {
            0.25: _("a quarter of the requests"),
            0.5: _("half the requests"),
            2.0: _("twice the requests"),
            4.0: _("four times the requests"),
        }.get(self.factor, "")


def lab_answer(experiment: Experiment, policy: str, factor: float) -> LabAnswer:
    """Return what an experiment says of `factor` times the requests, and of other policies."""
    estimate = gain(experiment, policy, factor)
    cards = _cards(experiment, policy)
    last = _last_minute(experiment)
    return LabAnswer(
        experiment,
        factor,
        estimate,
        estimate.now * MINUTE if estimate else 0.0,
        estimate.then * MINUTE if estimate else 0.0,
        cards,
        _bars(experiment, policy),
        [(card.line, _curve(outcome, last)) for card, outcome in _measured(experiment, cards)],
        last,
    )


def _at(experiment: Experiment, factor: float) -> dict[str, Outcome]:
    """Return the outcomes at a multiple of the experiment's budget, by policy."""
    return {
        outcome.policy: outcome
        for outcome in experiment.outcomes
        if outcome.metrics and abs(outcome.budget / experiment.budget - factor) < 0.001
    }


def _cards(experiment: Experiment, used: str) -> list[PolicyCard]:
    outcomes, cards = _at(experiment, 1.0), []
    for line, policy in zip(_LINES, experiment.policies, strict=False):
        if policy not in outcomes:
            continue
        metrics: dict[str, Any] = outcomes[policy].metrics or {}
        name, words = POLICY_WORDS.get(policy, (policy, ""))
        cards.append(
            PolicyCard(
                policy,
                str(name),
                str(words),
                policy == used,
                line,
                metrics["delay_mean"] * MINUTE,
                metrics["delay_p50"] * MINUTE,
                metrics["delay_p95"] * MINUTE,
                metrics["lost"],
            )
        )
    return cards


def _measured(experiment: Experiment, cards: Sequence[PolicyCard]) -> list[tuple[PolicyCard, Outcome]]:
    outcomes = _at(experiment, 1.0)
    return [(card, outcomes[card.policy]) for card in cards]


def _bars(experiment: Experiment, policy: str) -> list[BudgetBar]:
    """Return the mean delay of a policy at each budget as bars of a picture 440 wide and 190 high."""
    by_factor = {
        factor: (outcome.metrics or {})["delay_mean"]
        for factor in FACTORS
        if (outcome := _at(experiment, factor).get(policy))
    }
    top = max(by_factor.values(), default=0.0)
    return [
        BudgetBar(
            44 + 98 * place,
            round(160 - 115 * minutes / top, 1),
            round(115 * minutes / top, 1),
            "b" if factor == 1 else "b2",
            str(FACTOR_WORDS[factor]),
            minutes * MINUTE,
            experiment.budget * factor * 24 * (experiment.feeds or 0),
        )
        for place, (factor, minutes) in enumerate(by_factor.items())
        if top
    ]


def _last_minute(experiment: Experiment) -> int:
    """Return the last minute of the second picture: by then the best policy has nine of ten articles."""
    ninth = [outcome.delays[89] for outcome in _at(experiment, 1.0).values() if len(outcome.delays) > 89]
    minutes = min(ninth, default=60.0)
    return next((mark for mark in (30, 60, 120, 240, 480, 960, 1440) if minutes <= mark), 2880)


def _curve(outcome: Outcome, last: int) -> str:
    """Return the path of the share of articles that are here after so many minutes."""
    points = [(_LEFT, _BOTTOM)]
    for share, minutes in enumerate(outcome.delays, 1):
        if minutes > last:
            break
        x = _LEFT + (_RIGHT - _LEFT) * minutes / last
        points.append((round(x), round(_BOTTOM - (_BOTTOM - _TOP) * share / 100)))
    return "M" + "L".join(f"{x} {y}" for x, y in points)
