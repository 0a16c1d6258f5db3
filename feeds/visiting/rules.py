"""How visits are planned: the environment wins, then an operator's choices, then the defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from crawler import environment
from feeds.models import PlanningRules


@dataclass(frozen=True, slots=True)
class VisitRules:
    """The rules in force: a policy's name, retrievals per feed and hour, c, whether only subscribers who read
    weigh, and the longest wait in training (ticks).
    """

    policy: str
    budget: float
    audience_weight: float
    active_only: bool
    training_max_ticks: int


def stored_rules() -> PlanningRules:
    """Return the row of rules, unsaved if no rule was chosen yet."""
    return PlanningRules.objects.filter(id=1).first() or PlanningRules()


def rules() -> VisitRules:
    """Return the rules in force, read anew, so that a change holds from the next tick on."""
    return in_force(stored_rules())


def in_force(row: PlanningRules) -> VisitRules:
    """Return the rules of a row, with the settings for what it leaves open or the environment has set."""

    def chosen(value: Any, name: str) -> Any:
        setting = getattr(settings, name)
        return setting if value in (None, "") or environment.is_given(name) else value

    return VisitRules(
        chosen(row.policy, "FEED_POLICY"),
        chosen(row.budget, "FEED_BUDGET"),
        chosen(row.audience_weight, "FEED_AUDIENCE_WEIGHT"),
        row.active_only,
        int(chosen(row.training_max_ticks, "FEED_TRAINING_MAX_TICKS")),
    )
