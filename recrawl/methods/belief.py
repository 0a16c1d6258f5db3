"""How likely each page has changed, before a visit and during it. Pure.

A page's situation in a visit is what its gates showed, or that it should name pages which are new, and what
the server's top page showed; what is to be expected in it is counted in the ledger. What the visit has found
so far moves the odds of all other pages: logistic effects of the week on the server, on pages of one kind,
and on each directory, with normal priors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from recrawl.knowledge import Server, Visit
from recrawl.methods.arrays import Flags, Floats, Numbers, bounded, expit, log, logit
from recrawl.methods.gates import Gates, gates
from recrawl.methods.ledger import CLOSED, KINDS, LISTING, OPEN, UNSEEN, Ledger, Past, Track
from recrawl.methods.listings import naming_new
from recrawl.structure import raw_directory

_VARIANCES = (2.0, 2.0, 8.0)
MOST_DEMANDS = 52
UNLINKED = 0.1
"""How likely a page that no stored copy links to is still there."""
_FRESH_DOUBT, _STALE = 0.3, 0.7
"""Doubt below which a change found is taken to be of this week, and above which an old gate tells nothing."""
_LATE = 0.25
"""What a week counts, in checks, where one fetch found a change after several."""


@dataclass(slots=True, eq=False)
class Belief:
    """Of every known page, by number: its kind in this visit, its habit then, probability of a change since
    the visit before.
    """

    gates: Gates
    past: Past
    top: int
    """What the server's top page showed: 0 as stored, 1 changed, 2 unseen."""
    kinds: Numbers
    habits: Numbers
    fresh: Floats
    seen: Counter[int] = field(default_factory=Counter)
    """How many pages of each group this visit has fetched."""

    @property
    def sound(self) -> Floats:
        """The probability that the stored copy is what the page holds now."""
        return self.past.sound * (1 - self.fresh)

    @property
    def groups(self) -> Numbers:
        """Pages of one directory behind gates of one kind are a group."""
        return self.gates.directory * KINDS + self.kinds


def believe(server: Server, visit: Visit, ledger: Ledger) -> Belief:
    """What can be known of all pages at this moment of a visit."""
    told = server.derived(gates)
    past = ledger.past(told)
    outcome = visit.outcomes.get(server.top)
    top = 2 if outcome is None else int(outcome.changed)
    kinds = _shown(told, visit, past)
    kinds[told.numbers(naming_new(server, visit))] = LISTING
    every = np.arange(len(told.paths))
    expected = ledger.expected(told, top)
    logits = expected.logits[kinds, every]
    belief = Belief(told, past, top, kinds, expected.habits[kinds, every], expected.odds[kinds, every])
    if visit.signals:
        _heed(visit, ledger, belief)
        logits = logit(belief.fresh)
    _learn_from(visit, server.top, belief, logits)
    return belief


def unseen(server: Server, visit: Visit, told: Gates) -> Flags:
    """Which pages this visit has neither asked for nor found: those that `Visit.has_seen` has not."""
    found = np.array([page.fetched < visit.now for page in server.pages.values()], np.bool_)
    found[told.numbers(visit.outcomes)] = False
    found[told.numbers(visit.failed)] = False
    return found


def there(told: Gates, visit: Visit) -> Floats:
    """How likely pages are there that no stored copy links to, or whose directory has lost others."""
    found = np.where(told.reached, 1.0, UNLINKED)
    if visit.gone:
        gone = Counter(raw_directory(path) for path in visit.gone)
        alive = Counter(raw_directory(path) for path in visit.outcomes)
        for page, path in enumerate(told.paths):
            name = raw_directory(path)
            if gone[name]:
                found[page] = found[page] * (1 + alive[name]) / (1 + alive[name] + gone[name])
    return found


def _shown(told: Gates, visit: Visit, past: Past) -> Numbers:
    """What this visit's gates have shown of each page: OPEN behind one that has changed since the visit
    before, CLOSED where half of its gates or more were looked at.
    """
    kinds = np.full(len(told.paths), UNSEEN)
    looked, opened = np.zeros((2, len(told.paths)), np.bool_)
    for path, outcome in visit.outcomes.items():
        number = told.number.get(path)
        if number is not None:
            looked[number] = True
            opened[number] = outcome.changed and (outcome.age <= 1 or past.doubt[number] < _STALE)
    if visit.outcomes:
        seen = told.told(looked)
        kinds[(seen > 0) & (2 * seen >= told.count)] = CLOSED
        kinds[told.told(opened) > 0] = OPEN
    return kinds


def _heed(visit: Visit, ledger: Ledger, belief: Belief) -> None:
    """Move the odds of pages that sources name by what these have been worth."""
    fresh, number = belief.fresh, belief.gates.number
    for source, named in visit.signals.items():
        shifts = {announced: ledger.log_odds_ratio(source, announced) for announced in set(named.values())}
        known = [(number[path], shifts[announced]) for path, announced in named.items() if path in number]
        if known:
            at = np.array([page for page, _ in known])
            fresh[at] = bounded(expit(logit(fresh[at]) + np.array([shift for _, shift in known])))


Sample = list[float]
"""A fetch of this visit: logit of what was expected, how much of a change was fresh, weight."""


def _learn_from(visit: Visit, top: str, belief: Belief, logits: Floats) -> None:
    """Move the odds of all pages by what the visit has found; what the top page showed is counted before.

    Pages that should name new ones have changed for that reason: they tell of each other alone.
    """
    kinds, directories, bases = belief.kinds.tolist(), belief.gates.directory.tolist(), logits.tolist()
    samples: list[Sample] = []
    by_kind: dict[int, list[Sample]] = {}
    by_directory: dict[int, list[Sample]] = {}
    for path, outcome in visit.outcomes.items():
        page = belief.gates.number.get(path)
        if page is None or path == top:
            continue
        now, weight = 0.0, 1.0
        if outcome.changed:
            odds = float(belief.fresh[page])
            now = odds / (1 - float(belief.past.sound[page]) * (1 - odds))
            weight = now if belief.past.doubt[page] >= _FRESH_DOUBT else 1.0
        kind, directory = kinds[page], directories[page]
        belief.seen[directory * KINDS + kind] += 1
        sample = [bases[page], now, weight]
        by_kind.setdefault(kind, []).append(sample)
        if kind != LISTING:
            samples.append(sample)
            by_directory.setdefault(directory, []).append(sample)
    if not by_kind:
        return
    whole = _shifted(samples, _VARIANCES[0]) if samples else 0.0
    of_kind, of_directory = np.zeros(KINDS), np.zeros(len(belief.gates.directories))
    for kind, some in by_kind.items():
        of_kind[kind] = _shifted(some, _VARIANCES[1])
    for directory, some in by_directory.items():
        of_directory[directory] = _shifted(some, _VARIANCES[2])
    listing = belief.kinds == LISTING
    moved = of_kind[belief.kinds] + np.where(listing, 0.0, whole + of_directory[belief.gates.directory])
    belief.fresh = bounded(expit(logits + moved))


def _shifted(samples: list[Sample], variance: float) -> float:
    """The most likely common shift of the samples' logits under a normal prior; they are moved by it."""
    shift = 0.0
    exp = math.exp
    for _ in range(12):
        slope, curve = -shift / variance, 1 / variance
        for base, change, weight in samples:
            expected = 1 / (1 + exp(-(base + shift)))
            slope += change - weight * expected
            curve += weight * expected * (1 - expected)
        step = slope / curve
        shift += max(-1.5, min(1.5, step))
        if abs(step) < 1e-3:
            break
    for one in samples:
        one[0] += shift
    return shift


def record(server: Server, visit: Visit, ledger: Ledger) -> None:
    """After a visit: count what its fetches showed, and let doubt grow on the other pages."""
    belief = believe(server, visit, ledger)
    for source, named in visit.signals.items():
        row = ledger.trust.setdefault(source, [0.0] * 4)
        for path in named.keys() & visit.outcomes.keys():
            row[(0 if visit.outcomes[path].changed else 2) + (not named[path])] += 1
    for path in ledger.tracks.keys() - server.pages.keys():
        del ledger.tracks[path]
    names = belief.gates.directories
    demand = 0.0
    for path, directory, kind, habit, fresh, quiet, still in zip(
        belief.gates.paths,
        belief.gates.directory.tolist(),
        belief.kinds.tolist(),
        belief.habits.tolist(),
        belief.fresh.tolist(),
        log(1 - belief.fresh).tolist(),
        there(belief.gates, visit).tolist(),
        strict=True,
    ):
        situation = KINDS * belief.top + kind
        track = ledger.tracks.get(path)
        if track is None:
            track = ledger.tracks[path] = {}
        here = track.get(situation)
        if here is None:
            here = track[situation] = Track()
        here.weeks += 1
        here.doubt -= quiet
        outcome = visit.outcomes.get(path)
        if outcome is None:
            demand += fresh * still if fresh >= 0.5 else 0.0
            continue
        whole = sum(one.doubt for one in track.values())
        now = -quiet / whole if outcome.changed else 0.0
        demand += now
        ledger.add(names[directory], (situation, habit), now)
        _settle(track.values(), whole, outcome.changed)
    ledger.demands = [*ledger.demands, demand][-MOST_DEMANDS:]
    ledger.derived = {}


def _settle(rows: Iterable[Track], whole: float, changed: bool) -> None:
    """A fetch ends all doubt: a change is shared out by it, and weeks without one are checks.

    A change found after several weeks tells little of how many there were: as checks the weeks count in part.
    """
    for one in rows:
        one.span += one.weeks
        if changed:
            share = one.doubt / whole
            one.changes += share
            one.checks += max(share, _LATE * one.weeks if one.weeks > 1 else 0.0)
        else:
            one.checks += one.weeks
        one.weeks, one.doubt = 0, 0.0
