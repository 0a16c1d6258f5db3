"""How visits are planned: an operator's choices, and the settings if none was made."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

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
    """Return the rules of a row, with the settings for what it leaves open."""

    def chosen(value: float | None, setting: float) -> float:
        return setting if value is None else value

    return VisitRules(
        row.policy or settings.FEED_POLICY,
        chosen(row.budget, settings.FEED_BUDGET),
        chosen(row.audience_weight, settings.FEED_AUDIENCE_WEIGHT),
        row.active_only,
        int(chosen(row.training_max_ticks, settings.FEED_TRAINING_MAX_TICKS)),
    )
