"""What `adaptive` has counted of a server in past visits, and what it leads to expect of each page. Pure.

How often pages change in a situation is counted by the page's habit there, for the site, for each section,
for the page, each shrunk to the one before.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from recrawl.methods.arrays import LEAST, MOST, Floats, Numbers, bounded, exp, logit, sums
from recrawl.methods.gates import Gates

VERSION = 3
"""Of what `Ledger.packed` writes."""
KINDS = 4
CLOSED, UNSEEN, OPEN, LISTING = range(KINDS)
"""What a page's gates showed, or that it should name pages that are new; with what the top page showed (as
stored, changed, unseen), so many times that added, it is the page's situation."""

SITUATIONS = 3 * KINDS
Cell = tuple[int, int]
"""A situation, and a page's habit in it."""

FIRST_ODDS: tuple[tuple[float, ...], ...] = (
    (0.025, 0.010, 0.03, 0.03, 0.06),  # the top page is as stored: gates closed,
    (0.010, 0.010, 0.03, 0.03, 0.05),  # unseen,
    (0.100, 0.150, 0.30, 0.30, 0.60),  # open;
    (0.300, 0.300, 0.40, 0.70, 0.85),  # pages that should name new ones
    (0.030, 0.015, 0.05, 0.10, 0.12),  # the top page has changed
    (0.060, 0.008, 0.03, 0.10, 0.30),
    (0.450, 0.150, 0.20, 0.50, 0.85),
    (0.450, 0.300, 0.40, 0.70, 0.85),
    (0.025, 0.010, 0.03, 0.03, 0.06),  # the top page is unseen
    (0.030, 0.010, 0.03, 0.05, 0.10),
    (0.300, 0.150, 0.20, 0.40, 0.80),
    (0.300, 0.300, 0.40, 0.70, 0.85),
)
"""The odds of a change before a site has shown any, by situation and habit, the first of them where nothing
is known of the page: about what recorded histories of real sites showed (docs/recrawl.md); for pages that
should name new ones less, lest they take all that is given from the first visit on.
"""
_HABITS = (0.12, 0.45, 0.8)
_KINDS_OF_HABIT = 5
_LEAST_CHECKS = 0.5
_SITE_WEIGHT, _DIRECTORY_WEIGHT, _PAGE_WEIGHT = 4.0, 4.0, 2.0


@dataclass(slots=True)
class Track:
    """A page's weeks in one situation: doubt since its last fetch, and what fetches have shown.

    Changes by `checks` are the odds of a week, changes by `span`, the weeks that were settled, the rate.
    """

    weeks: int = 0
    doubt: float = 0.0
    checks: float = 0.0
    changes: float = 0.0
    span: float = 0.0


@dataclass(slots=True)
class Ledger:
    """What a server has shown: [changes, checks] by cell, for all pages and by section; tracks of pages."""

    site: dict[Cell, list[float]] = field(default_factory=dict)
    sections: dict[tuple[str, int, int], list[float]] = field(default_factory=dict)
    tracks: dict[str, dict[int, Track]] = field(default_factory=dict)
    demands: list[float] = field(default_factory=list)
    """How many pages are thought to have changed, in each of the last visits."""
    trust: dict[str, list[float]] = field(default_factory=dict)
    """By source of signals: changed pages announced and not, unchanged pages announced and not."""
    derived: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was computed from the rest, until that changes at the end of a visit."""

    def odds(self, section: str, situation: int, habit: int) -> float:
        """The share of checks in a cell that find a change of that week."""
        changes, checks = self.site.get((situation, habit), (0.0, 0.0))
        first = FIRST_ODDS[situation][habit]
        share = (first * _SITE_WEIGHT + changes) / (_SITE_WEIGHT + checks)
        found = self.sections.get((section, situation, habit))
        if found:
            share = (share * _DIRECTORY_WEIGHT + found[0]) / (_DIRECTORY_WEIGHT + found[1])
        return min(max(share, LEAST), MOST)

    def log_odds_ratio(self, source: str, announced: bool) -> float:
        """How much more likely pages that changed are announced (or not) by a source than others."""
        yes, no, false, quiet = self.trust.get(source, (0.0, 0.0, 0.0, 0.0))
        right, wrong = (yes + 3) / (yes + no + 4), (false + 0.02) / (false + quiet + 4)
        return math.log(right / wrong if announced else (1 - right) / (1 - wrong))

    def add(self, section: str, cell: Cell, change: float) -> None:
        """Count a check, and how much of a change of that week it found."""
        for row in (
            self.site.setdefault(cell, [0.0, 0.0]),
            self.sections.setdefault((section, *cell), [0.0, 0.0]),
        ):
            row[0] += change
            row[1] += 1.0

    def past(self, gates: Gates) -> Past:
        """The tracks of these pages as arrays."""
        found: Past | None = self.derived.get("past")
        if found is None or found.gates is not gates:
            found = self.derived["past"] = _past(self, gates)
        return found

    def expected(self, gates: Gates, top: int) -> Expected:
        """What is to be expected of these pages after what the top page showed: 0 to 2, as situations do."""
        key = f"expected {top}"
        found: Expected | None = self.derived.get(key)
        if found is None or found.gates is not gates:
            found = self.derived[key] = _expected(self, gates, top)
        return found

    def packed(self) -> bytes:
        """What is kept between visits: JSON under zlib."""
        content = [
            VERSION,
            [[*cell, *row] for cell, row in self.site.items()],
            [[*cell, *row] for cell, row in self.sections.items()],
            {
                path: [
                    [number, one.weeks, one.doubt, one.checks, one.changes, one.span]
                    for number, one in track.items()
                ]
                for path, track in self.tracks.items()
            },
            self.demands,
            self.trust,
        ]
        return zlib.compress(orjson.dumps(content), 1)

    @classmethod
    def unpacked(cls, content: bytes) -> Ledger:
        """The ledger back; an empty one from nothing, or from what a version that is not known wrote.

        Version 1 did not count the weeks themselves, and took checks for them; version 2 knew three kinds of
        pages for each state of the top page, which are the first three of now.
        """
        if not content:
            return cls()
        version, site, sections, tracks, demands, trust = orjson.loads(zlib.decompress(content))
        if version == 1:
            tracks = {path: [[*row, row[3]] for row in track] for path, track in tracks.items()}
        if version in {1, 2}:
            site = [[_widened(situation), *rest] for situation, *rest in site]
            sections = [[name, _widened(situation), *rest] for name, situation, *rest in sections]
            tracks = {path: [[_widened(row[0]), *row[1:]] for row in track] for path, track in tracks.items()}
        elif version != VERSION:
            return cls()
        return cls(
            {(situation, habit): row for situation, habit, *row in site},
            {(name, situation, habit): row for name, situation, habit, *row in sections},
            {path: {number: Track(*row) for number, *row in track} for path, track in tracks.items()},
            demands,
            trust,
        )


def _widened(situation: int) -> int:
    """A situation of version 2, where three kinds were told apart."""
    top, kind = divmod(situation, 3)
    return KINDS * top + kind


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """Tracks by situation (rows) and number of the page (columns), and of each page the sums of its rows."""

    gates: Gates
    checks: Floats
    changes: Floats
    all_checks: Floats
    all_changes: Floats
    span: Floats
    doubt: Floats
    """Minus the logarithm of the probability that nothing had changed up to the last visit."""
    sound: Floats
    """That probability."""
    weeks: Numbers
    """How many visits have left the page out since its last fetch."""


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Of each page (columns) by what its gates show (rows): its habit, the odds of a change, their logit."""

    gates: Gates
    habits: Numbers
    odds: Floats
    logits: Floats
    opened: Floats
    """Odds behind open gates, without the page's own checks."""


def _past(ledger: Ledger, gates: Gates) -> Past:
    pages = len(gates.paths)
    nothing: dict[int, Track] = {}
    rows = [
        (situation, number, one.checks, one.changes, one.span, one.doubt, one.weeks)
        for number, path in enumerate(gates.paths)
        for situation, one in ledger.tracks.get(path, nothing).items()
    ]
    columns = np.array(rows, np.float64).reshape(-1, 7).T
    situations, numbers = columns[:2].astype(np.int64)
    checks, changes = np.zeros((2, SITUATIONS, pages))
    checks[situations, numbers], changes[situations, numbers] = columns[2:4]
    all_checks, all_changes, span, doubt, weeks = (sums(numbers, column, pages) for column in columns[2:])
    waited = weeks.astype(np.int64)
    return Past(gates, checks, changes, all_checks, all_changes, span, doubt, exp(-doubt), waited)


def _expected(ledger: Ledger, gates: Gates, top: int) -> Expected:
    past = ledger.past(gates)
    own = slice(KINDS * top, KINDS * top + KINDS)
    habits = _habits(past, own)
    plain = np.empty(habits.shape)
    for kind in range(KINDS):
        cells = (gates.section * _KINDS_OF_HABIT + habits[kind]).tolist()
        known = {}
        for cell in set(cells):
            section, habit = divmod(cell, _KINDS_OF_HABIT)
            known[cell] = ledger.odds(gates.sections[section], KINDS * top + kind, habit)
        plain[kind] = [known[cell] for cell in cells]
    checks, changes = past.checks[own], past.changes[own]
    shrunk = bounded((plain * _PAGE_WEIGHT + changes) / (_PAGE_WEIGHT + checks))
    odds = np.where(checks > 0, shrunk, plain)
    return Expected(gates, habits, odds, logit(odds), plain[OPEN])


def _habits(past: Past, own: slice) -> Numbers:
    """0 where nothing is known, else 1 to 4 by the share of checks that found a change.

    Of the checks in the situation itself; where there are none, of those with the same top page, then of all.
    """
    checks, changes = past.checks[own], past.changes[own]
    alike_checks, alike_changes = sum(checks), sum(changes)
    here, alike = checks >= _LEAST_CHECKS, alike_checks >= _LEAST_CHECKS
    checked = np.where(here, checks, np.where(alike, alike_checks, past.all_checks))
    changed = np.where(here, changes, np.where(alike, alike_changes, past.all_changes))
    known = checked >= _LEAST_CHECKS
    shares = changed / np.where(known, checked, 1.0)
    return np.where(known, 1 + np.searchsorted(_HABITS, shares, side="right"), 0)
