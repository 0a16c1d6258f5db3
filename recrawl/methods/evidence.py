"""Inference from the pages that a visit has fetched to the pages that it has not. Pure.

A change found by a fetch was made either since the last visit, or earlier, since the page was last fetched.
Both kinds have causes that pages share: logistic effects, with normal priors, on the odds of a change this
week (of the server, of pages of one kind, of each section) and on the odds that a copy was stale before (of
pages that wait for the same number of weeks, and of these in each section). Each found change is divided
between the two by expectation maximization (Dempster, Laird and Rubin 1977).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from recrawl.methods.arrays import Floats, Numbers, bounded, expit, log, logit
from recrawl.methods.gates import Gates
from recrawl.methods.ledger import KINDS, LISTING, Past

_NOW_VARIANCES = (2.0, 2.0, 8.0)
_WEEKS_VARIANCE = 0.25
_WAITING_SECTION_VARIANCE = 8.0
_TURNS = 4

Sample = list[float]
Key = TypeVar("Key", bound=Hashable)
"""The logit of the expected odds of a fetched page, and the share of a change that was found."""


def infer_odds(
    gates: Gates, past: Past, kinds: Numbers, logits: Floats, outcomes: Sequence[tuple[int, bool]]
) -> tuple[Floats, Past]:
    """Return the odds of a change this week of all pages, and the past with revised doubts.

    `logits` are these odds before the visit's outcomes; `outcomes` are pages, by number, and whether they had
    changed. At least one outcome is required. Pages that should name new pages change for a reason of their
    own: their changes of this week are evidence for each other only.
    """
    pages = [page for page, _ in outcomes]
    page_kinds, sections = kinds[pages].tolist(), gates.section[pages].tolist()
    waited = past.weeks[pages].tolist()
    bases, stale_bases = logits[pages].tolist(), logit(bounded(1 - past.sound[pages])).tolist()
    size = len(gates.sections)
    listing = [kind == LISTING for kind in page_kinds]
    now_groups = (
        [None if is_listing else 0 for is_listing in listing],
        page_kinds,
        [None if is_listing else section for section, is_listing in zip(sections, listing, strict=True)],
    )
    weeks_groups = [weeks or None for weeks in waited]
    section_groups = [
        (weeks, section) if weeks else None for weeks, section in zip(waited, sections, strict=True)
    ]
    now_logits, before_logits = bases, stale_bases
    for _ in range(_TURNS):
        now: list[Sample] = []
        before: list[Sample] = []
        odds = expit(np.array([now_logits, before_logits])).T.tolist()
        for at, (_, changed) in enumerate(outcomes):
            now_odds, stale_odds = odds[at][0], odds[at][1] if waited[at] else 0.0
            either = (now_odds + stale_odds - now_odds * stale_odds) if changed else math.inf
            now.append([bases[at], now_odds / either])
            before.append([stale_bases[at], stale_odds / either])
        now_effects = [
            _effects(groups, variance, now)
            for groups, variance in zip(now_groups, _NOW_VARIANCES, strict=True)
        ]
        weeks_effects = _effects(weeks_groups, _WEEKS_VARIANCE, before)
        section_effects = _effects(section_groups, _WAITING_SECTION_VARIANCE, before)
        now_logits, before_logits = [sample[0] for sample in now], [sample[0] for sample in before]
    whole, by_kind, by_section = now_effects
    shifts = _spread(by_section, size)[gates.section] + whole.get(0, 0.0)
    shifts = np.where(kinds == LISTING, 0.0, shifts) + _spread(by_kind, KINDS)[kinds]
    return bounded(expit(logits + shifts)), _revise(past, gates, pages, weeks_effects, section_effects)


def _revise(
    past: Past,
    gates: Gates,
    fetched: Sequence[int],
    by_weeks: dict[int, float],
    by_section: dict[tuple[int, int], float],
) -> Past:
    """Return the past with the doubts of unfetched pages moved by the effects of their weeks and sections."""
    size = len(gates.sections)
    shifts = np.zeros(past.sound.size)
    for weeks, shift in by_weeks.items():
        section_shifts = {
            section: section_shift
            for (waiting_weeks, section), section_shift in by_section.items()
            if waiting_weeks == weeks
        }
        shifts += (past.weeks == weeks) * (shift + _spread(section_shifts, size)[gates.section])
    shifts[fetched] = 0.0
    pages = np.nonzero(shifts)[0]
    if not pages.size:
        return past
    sound, doubt = past.sound.copy(), past.doubt.copy()
    sound[pages] = 1 - bounded(expit(logit(bounded(1 - sound[pages])) + shifts[pages]))
    doubt[pages] = -log(sound[pages])
    return replace(past, sound=sound, doubt=doubt)


def _spread(effects: dict[int, float], size: int) -> Floats:
    """Return effects by number as an array."""
    values = np.zeros(size)
    for number, shift in effects.items():
        values[number] = shift
    return values


def _effects(groups: Sequence[Key | None], variance: float, samples: Sequence[Sample]) -> dict[Key, float]:
    """Return the most likely common shift of each group's logits. The samples are moved by it.

    Samples of the group None take no part.
    """
    members: defaultdict[Key, list[Sample]] = defaultdict(list)
    for group, sample in zip(groups, samples, strict=True):
        if group is not None:
            members[group].append(sample)
    return {group: _shifted(group_samples, variance) for group, group_samples in members.items()}


def _shifted(samples: list[Sample], variance: float) -> float:
    """Return the most likely common shift of the samples' logits under a normal prior. The samples are moved
    by it.
    """
    shift = 0.0
    exp = math.exp
    for _ in range(12):
        slope, curve = -shift / variance, 1 / variance
        for base, change in samples:
            expected = 1 / (1 + exp(-(base + shift)))
            slope += change - expected
            curve += expected * (1 - expected)
        step = slope / curve
        shift += max(-1.5, min(1.5, step))
        if abs(step) < 1e-3:
            break
    for sample in samples:
        sample[0] += shift
    return shift
