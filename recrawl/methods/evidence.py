"""What the pages that a visit has fetched tell of those it has not. Pure.

A change that is found was made since the visit before, or earlier, since the page was last fetched. Either
has causes that pages share: logistic effects, with normal priors, on the odds of a change this week (of the
server, of pages of one kind, of each section) and on the odds that a copy was stale before (of pages that
wait for as many weeks, of these in each section). Each find is shared out between the two by expectation
maximization (Dempster, Laird and Rubin 1977).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recrawl.methods.arrays import Floats, Numbers, bounded, expit, log, logit
from recrawl.methods.gates import Gates
from recrawl.methods.ledger import KINDS, LISTING, Past

_NOW_VARIANCES = (2.0, 2.0, 8.0)
_BEFORE_VARIANCES = (0.25, 8.0)
_TURNS = 4

Sample = list[float]
"""Of a page that was fetched: the logit of what was expected, and how much of a change was found."""
_NONE = -1
"""In place of a group: the sample takes no part."""


def learned(
    gates: Gates, past: Past, kinds: Numbers, logits: Floats, found: Sequence[tuple[int, bool]]
) -> tuple[Floats, Past]:
    """The odds of a change this week of all pages, and the past with what was doubtful before.

    `logits` are those odds before anything was found; `found` are pages, by number, one at least, and whether
    they had changed. Pages that should name new ones have a reason of their own: changes of this week tell
    of each other alone.
    """
    pages = [page for page, _ in found]
    own, sections = kinds[pages].tolist(), gates.section[pages].tolist()
    waited = past.weeks[pages].tolist()
    bases, stale_bases = logits[pages].tolist(), logit(bounded(1 - past.sound[pages])).tolist()
    size = len(gates.sections)
    listing = [kind == LISTING for kind in own]
    now_groups = (
        [_NONE if one else 0 for one in listing],
        own,
        [_NONE if one else name for name, one in zip(sections, listing, strict=True)],
    )
    before_groups = (
        [weeks or _NONE for weeks in waited],
        [weeks * size + name if weeks else _NONE for weeks, name in zip(waited, sections, strict=True)],
    )
    now_logits, before_logits = bases, stale_bases
    for _ in range(_TURNS):
        now: list[Sample] = []
        before: list[Sample] = []
        odds = expit(np.array([now_logits, before_logits])).T.tolist()
        for at, (_, changed) in enumerate(found):
            fresh, stale = odds[at][0], odds[at][1] if waited[at] else 0.0
            either = (fresh + stale - fresh * stale) if changed else math.inf
            now.append([bases[at], fresh / either])
            before.append([stale_bases[at], stale / either])
        of_now = [_effects(*each, now) for each in zip(now_groups, _NOW_VARIANCES, strict=True)]
        of_before = [_effects(*each, before) for each in zip(before_groups, _BEFORE_VARIANCES, strict=True)]
        now_logits, before_logits = [one[0] for one in now], [one[0] for one in before]
    whole, by_kind, by_section = of_now
    moved = _spread(by_section, size)[gates.section] + whole.get(0, 0.0)
    moved = np.where(kinds == LISTING, 0.0, moved) + _spread(by_kind, KINDS)[kinds]
    return bounded(expit(logits + moved)), _revised(past, gates, pages, of_before)


def _revised(past: Past, gates: Gates, fetched: Sequence[int], effects: Sequence[dict[int, float]]) -> Past:
    """The past of pages that have waited as long as some that were fetched, moved by these effects."""
    by_weeks, by_section = effects
    size = len(gates.sections)
    moved = np.zeros(past.sound.size)
    for weeks, shift in by_weeks.items():
        inside = {group % size: more for group, more in by_section.items() if group // size == weeks}
        moved += (past.weeks == weeks) * (shift + _spread(inside, size)[gates.section])
    moved[fetched] = 0.0
    pages = np.nonzero(moved)[0]
    if not pages.size:
        return past
    sound, doubt = past.sound.copy(), past.doubt.copy()
    sound[pages] = 1 - bounded(expit(logit(bounded(1 - sound[pages])) + moved[pages]))
    doubt[pages] = -log(sound[pages])
    return replace(past, sound=sound, doubt=doubt)


def _spread(effects: dict[int, float], size: int) -> Floats:
    """Effects by number as an array."""
    found = np.zeros(size)
    for number, shift in effects.items():
        found[number] = shift
    return found


def _effects(groups: Sequence[int], variance: float, samples: Sequence[Sample]) -> dict[int, float]:
    """For each group the most likely common shift of its samples' logits; they are moved by it."""
    members: defaultdict[int, list[Sample]] = defaultdict(list)
    for group, sample in zip(groups, samples, strict=True):
        if group != _NONE:
            members[group].append(sample)
    return {group: _shifted(some, variance) for group, some in members.items()}


def _shifted(samples: list[Sample], variance: float) -> float:
    """The most likely common shift of the samples' logits under a normal prior; they are moved by it."""
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
    for one in samples:
        one[0] += shift
    return shift
