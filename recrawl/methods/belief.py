"""How likely each page has changed, before a visit and during it. Pure.

A page's situation in a visit is what its gates showed (the tops of its sites in method B, or of the sites
above where it is a top itself) and what the server's top page showed. How often pages change in a
situation is counted by the page's habit there, for the site, for each directory, for the page, each shrunk to
the one before. What the visit has found so far moves the odds of all other pages: logistic effects of the
week on the server, on pages behind gates of one kind, and on each directory, with normal priors.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from recrawl.division import above, by_links
from recrawl.knowledge import Server, Visit
from recrawl.structure import Graph

CLOSED, UNSEEN, OPEN = 0, 1, 2
Cell = tuple[int, int]
"""A situation, and a page's habit in it."""

_FIRST_ODDS = {CLOSED: 0.06, UNSEEN: 0.06, OPEN: 0.35}
_HABITS = (0.12, 0.45, 0.8)
_SITE_WEIGHT, _DIRECTORY_WEIGHT, _PAGE_WEIGHT = 4.0, 4.0, 2.0
_VARIANCES = (2.0, 2.0, 8.0)
_LEAST, _MOST = 1e-4, 0.99
MOST_DEMANDS = 52
_NOTHING: dict[int, Any] = {}
_FRESH_DOUBT, _STALE = 0.3, 0.7
"""Doubt below which a change found is taken to be of this week, and above which an old gate tells nothing."""


@dataclass(slots=True)
class Track:
    """A page's weeks in one situation: doubt since its last fetch, and what fetches have shown."""

    weeks: int = 0
    doubt: float = 0.0
    checks: float = 0.0
    changes: float = 0.0


@dataclass(slots=True)
class Ledger:
    """What a server has shown: [changes, checks] by cell, for all pages and by directory; tracks of pages."""

    site: dict[Cell, list[float]] = field(default_factory=dict)
    directories: dict[tuple[str, int, int], list[float]] = field(default_factory=dict)
    tracks: dict[str, dict[int, Track]] = field(default_factory=dict)
    demands: list[float] = field(default_factory=list)
    """How many pages are thought to have changed, in each of the last visits."""
    trust: dict[str, list[float]] = field(default_factory=dict)
    """By source of signals: changed pages announced and not, unchanged pages announced and not."""
    derived: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was computed from the rest, until that changes at the end of a visit."""

    def odds(self, directory: str, situation: int, habit: int) -> float:
        """The share of checks in a cell that find a change of that week."""
        changes, checks = self.site.get((situation, habit), (0.0, 0.0))
        first = _first(situation, habit)
        share = (first * _SITE_WEIGHT + changes) / (_SITE_WEIGHT + checks)
        found = self.directories.get((directory, situation, habit))
        if found:
            share = (share * _DIRECTORY_WEIGHT + found[0]) / (_DIRECTORY_WEIGHT + found[1])
        return _bounded(share)

    def odds_ratio(self, source: str, announced: bool) -> float:
        """How much more likely pages that changed are announced (or not) by a source than others."""
        yes, no, false, quiet = self.trust.get(source, (0.0, 0.0, 0.0, 0.0))
        told, wrong = (yes + 3) / (yes + no + 4), (false + 0.25) / (false + quiet + 4)
        return told / wrong if announced else (1 - told) / (1 - wrong)

    def add(self, directory: str, cell: Cell, changes: float, checks: float) -> None:
        """Count a check."""
        for row in (
            self.site.setdefault(cell, [0.0, 0.0]),
            self.directories.setdefault((directory, *cell), [0.0, 0.0]),
        ):
            row[0] += changes
            row[1] += checks


def _first(situation: int, habit: int) -> float:
    """The share that is assumed before anything is known."""
    share = _FIRST_ODDS[situation % 3]
    return (share, share * 0.35, max(share, 0.2), max(share, 0.5), max(share, 0.85))[habit]


def habit(track: dict[int, Track], situation: int) -> int:
    """0 where nothing is known, else 1 to 4 by the share of checks that found a change.

    Of the checks in this situation; where there are none, of those with the same top page, then of all.
    """
    alike = range(situation - situation % 3, situation - situation % 3 + 3)
    for wanted in ([situation], alike, track):
        rows = [track[one] for one in wanted if one in track]
        checks = sum(row.checks for row in rows)
        if checks >= 0.5:
            share = sum(row.changes for row in rows) / checks
            return 1 + sum(share >= bound for bound in _HABITS)
    return 0


def gates(graph: Graph) -> dict[str, list[str]]:
    """For each page the tops that tell of it."""
    sites = by_links(graph)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for site, over in zip(sites, above(graph, sites), strict=True):
        for member in site.members:
            found[member].update(site.tops)
        for top in site.tops:
            found[top].update(one for number in over for one in sites[number].tops)
    return {page: sorted(tops - {page}) for page, tops in found.items()}


@dataclass(slots=True)
class Belief:
    """Of every known page: doubt from before this visit, probability of a change since, and its cell.

    `doubt` is minus the logarithm of the probability that nothing had changed up to the last visit.
    """

    doubt: defaultdict[str, float]
    fresh: dict[str, float]
    cells: dict[str, tuple[str, int, int]]
    seen: Counter[tuple[str, int]]
    """How many pages of a directory behind gates of one kind this visit has fetched."""

    def sound(self, path: str) -> float:
        """The probability that the stored copy is what the page holds now."""
        return math.exp(-self.doubt[path]) * (1 - self.fresh[path])

    def group(self, path: str) -> tuple[str, int]:
        """Directory and kind of gates."""
        directory, situation, _ = self.cells[path]
        return directory, situation % 3


def believe(server: Server, visit: Visit, ledger: Ledger) -> Belief:
    """What can be known of all pages at this moment of a visit."""
    told = server.derived(gates)
    directories = server.graph.directory
    doubt = _doubts(ledger)
    habits: dict[tuple[str, int], int] = ledger.derived.setdefault("habits", {})
    opened, seen = _shown(server, visit, doubt)
    outcome = visit.outcomes.get(server.top)
    top = 2 if outcome is None else int(outcome.changed)
    cells: dict[str, tuple[str, int, int]] = {}
    fresh: dict[str, float] = {}
    known: dict[tuple[str, int, int], float] = {}
    for path in server.pages:
        track = ledger.tracks.get(path, _NOTHING)
        situation = 3 * top + UNSEEN
        if path in opened:
            situation = 3 * top + OPEN
        elif path in seen and 2 * seen[path] >= len(told[path]):
            situation = 3 * top + CLOSED
        own_habit = habits.get((path, situation))
        if own_habit is None:
            own_habit = habits[path, situation] = habit(track, situation)
        cell = cells[path] = (directories.get(path, ""), situation, own_habit)
        if cell not in known:
            known[cell] = ledger.odds(*cell)
        fresh[path] = known[cell]
        own = track.get(situation)
        if own is not None and own.checks:
            fresh[path] = _bounded((fresh[path] * _PAGE_WEIGHT + own.changes) / (_PAGE_WEIGHT + own.checks))
    for source, named in visit.signals.items():
        for path in named.keys() & fresh.keys():
            shift = math.log(ledger.odds_ratio(source, named[path]))
            fresh[path] = _bounded(_expit(_logit(fresh[path]) + shift))
    belief = Belief(doubt, fresh, cells, Counter())
    _learn_from(visit, server.top, belief)
    return belief


def _doubts(ledger: Ledger) -> defaultdict[str, float]:
    """Of every page from before the visit; 0 for those that are new."""
    found: defaultdict[str, float] | None = ledger.derived.get("doubts")
    if found is None:
        found = ledger.derived["doubts"] = defaultdict(float)
        for path, track in ledger.tracks.items():
            found[path] = sum(row.doubt for row in track.values())
    return found


def behind(graph: Graph) -> dict[str, list[str]]:
    """For each gate the pages that it tells of."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for page, tops in gates(graph).items():
        for top in tops:
            found[top].append(page)
    return dict(found)


def _shown(server: Server, visit: Visit, doubt: defaultdict[str, float]) -> tuple[set[str], Counter[str]]:
    """What this visit's gates have shown: pages behind one that has changed since the visit before, and of
    every page how many of its gates were looked at.
    """
    opened: set[str] = set()
    seen: Counter[str] = Counter()
    told = server.derived(behind)
    for path, outcome in visit.outcomes.items():
        pages = told.get(path, ())
        seen.update(pages)
        if outcome.changed and (outcome.age <= 1 or doubt[path] < _STALE):
            opened.update(pages)
    return opened, seen


@dataclass(slots=True)
class _Sample:
    """A fetch of this visit: logit of what was expected, how much of a change was fresh, weight, group."""

    logit: float
    change: float
    weight: float
    group: tuple[str, int]


def _learn_from(visit: Visit, top: str, belief: Belief) -> None:
    """Move the odds of all pages by what the visit has found; what the top page showed is counted before."""
    samples = []
    for path, outcome in visit.outcomes.items():
        if path in belief.fresh and path != top:
            odds, before = belief.fresh[path], math.exp(-belief.doubt[path])
            now = odds / (1 - before * (1 - odds)) if outcome.changed else 0.0
            weight = now if outcome.changed and belief.doubt[path] >= _FRESH_DOUBT else 1.0
            group = belief.group(path)
            belief.seen[group] += 1
            samples.append(_Sample(_logit(odds), now, weight, group))
    if not samples:
        return
    whole = _shifted(samples, _VARIANCES[0])
    by_gate = {
        gate: _shifted([one for one in samples if one.group[1] == gate], _VARIANCES[1])
        for gate in sorted({one.group[1] for one in samples})
    }
    by_directory = {
        name: _shifted([one for one in samples if one.group[0] == name], _VARIANCES[2])
        for name in sorted({one.group[0] for one in samples})
    }
    for path, odds in belief.fresh.items():
        directory, gate = belief.group(path)
        moved = whole + by_gate.get(gate, 0.0) + by_directory.get(directory, 0.0)
        belief.fresh[path] = _bounded(_expit(_logit(odds) + moved))


def _shifted(samples: list[_Sample], variance: float) -> float:
    """The most likely common shift of the samples' logits under a normal prior; they are moved by it."""
    shift = 0.0
    for _ in range(12):
        slope, curve = -shift / variance, 1 / variance
        for one in samples:
            expected = _expit(one.logit + shift)
            slope += one.change - one.weight * expected
            curve += one.weight * expected * (1 - expected)
        step = slope / curve
        shift += max(-1.5, min(1.5, step))
        if abs(step) < 1e-3:
            break
    for one in samples:
        one.logit += shift
    return shift


def record(server: Server, visit: Visit, ledger: Ledger) -> None:
    """After a visit: count what its fetches showed, and let doubt grow on the other pages."""
    belief = believe(server, visit, ledger)
    for source, named in visit.signals.items():
        row = ledger.trust.setdefault(source, [0.0] * 4)
        for path in named.keys() & visit.outcomes.keys():
            row[(0 if visit.outcomes[path].changed else 2) + (not named[path])] += 1
    for path in set(ledger.tracks) - set(server.pages):
        del ledger.tracks[path]
    demand = 0.0
    for path in server.pages:
        directory, situation, own = belief.cells[path]
        track = ledger.tracks.setdefault(path, {})
        here = track.setdefault(situation, Track())
        here.weeks += 1
        here.doubt -= math.log(1 - belief.fresh[path])
        outcome = visit.outcomes.get(path)
        if outcome is None:
            demand += belief.fresh[path] if belief.fresh[path] >= 0.5 else 0.0
            continue
        whole = sum(one.doubt for one in track.values())
        now = -math.log(1 - belief.fresh[path]) / whole if outcome.changed else 0.0
        demand += now
        sure = not outcome.changed or belief.doubt[path] < _FRESH_DOUBT
        ledger.add(directory, (situation, own), now, 1.0 if sure else now)
        for one in track.values():
            share = one.doubt / whole if outcome.changed else 0.0
            one.changes += share
            one.checks += (
                max(share, 0.5 * one.weeks if one.weeks > 1 else 0.0) if outcome.changed else one.weeks
            )
            one.weeks, one.doubt = 0, 0.0
    ledger.demands = [*ledger.demands, demand][-MOST_DEMANDS:]
    ledger.derived = {}


def _logit(share: float) -> float:
    """The logarithm of the odds."""
    return math.log(share / (1 - share))


def _expit(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def _bounded(share: float) -> float:
    return min(max(share, _LEAST), _MOST)
