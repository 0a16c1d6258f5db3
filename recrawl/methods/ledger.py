"""Counts of past visits to a server, and the expectations of `adaptive` for each page. Pure.

The share of checks that find a change in a situation is counted by the page's habit in it, for the site, for
each section and for each page. Each estimate is shrunk to the one before it.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field

import numpy as np
import orjson

from recrawl.methods.arrays import MAX_ODDS, MIN_ODDS, Floats, Numbers, bounded, exp, logit, sums
from recrawl.methods.gates import Gates

VERSION = 3
"""The version of the format that `Ledger.packed` writes."""
KINDS = 4
CLOSED, UNSEEN, OPEN, LISTING = range(KINDS)
"""The state of a page's gates, or that it should name new pages. A page's situation is this kind plus KINDS
times the state of the top page (0 as stored, 1 changed, 2 unseen).
"""

SITUATIONS = 3 * KINDS
Cell = tuple[int, int]
"""A situation and a page's habit in it."""

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
"""The odds of a change for a site without history, by situation (rows) and habit. The first habit means that
nothing is known of the page. They are close to the shares in recorded histories of real sites
(docs/recrawl.md), but lower for pages that should name new pages, which would otherwise use up the budget
from the first visit on.
"""
_HABITS = (0.12, 0.45, 0.8)
_KINDS_OF_HABIT = 5
_MIN_CHECKS = 0.5
_SITE_WEIGHT, _DIRECTORY_WEIGHT, _PAGE_WEIGHT = 4.0, 4.0, 2.0


@dataclass(slots=True)
class Track:
    """A page's weeks in one situation: the doubt since its last fetch, and the outcomes of fetches.

    `changes / checks` gives the odds of a change in a week. `changes / span`, where `span` is the number of
    settled weeks, gives the rate.
    """

    weeks: int = 0
    doubt: float = 0.0
    checks: float = 0.0
    changes: float = 0.0
    span: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """Tracks by situation (rows) and page number (columns), and sums over the situations of each page."""

    gates: Gates
    checks: Floats
    changes: Floats
    all_checks: Floats
    all_changes: Floats
    span: Floats
    doubt: Floats
    """-ln P(no change up to the last visit)."""
    sound: Floats
    """P(no change up to the last visit)."""
    weeks: Numbers
    """The number of visits since the page's last fetch that left it out."""


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Expectations by page (columns) and kind of gates (rows): habit, odds of a change, their logit."""

    gates: Gates
    habits: Numbers
    odds: Floats
    logits: Floats
    opened: Floats
    """The odds behind open gates, without the page's own checks."""


@dataclass(frozen=True, slots=True, eq=False)
class VisitRates:
    """The rates of change of all pages, and the price of a fetch, as the adaptive method computes them."""

    gates: Gates
    rates: Floats
    price: float


@dataclass(slots=True, eq=False)
class Derived:
    """Values computed from a ledger: its past, expectations by the top page's state, rates by budget."""

    past: Past | None = None
    expected: dict[int, Expected] = field(default_factory=dict)
    rates: dict[float, VisitRates] = field(default_factory=dict)


@dataclass(slots=True)
class Ledger:
    """Counts of a server ([changes, checks] by cell, for all pages and by section), and the tracks of its
    pages.
    """

    site: dict[Cell, list[float]] = field(default_factory=dict)
    sections: dict[tuple[str, int, int], list[float]] = field(default_factory=dict)
    tracks: dict[str, dict[int, Track]] = field(default_factory=dict)
    demands: list[float] = field(default_factory=list)
    """The estimated number of changed pages in each of the last visits."""
    trust: dict[str, list[float]] = field(default_factory=dict)
    """By source: number of changed pages announced and not, of unchanged pages announced and not."""
    derived: Derived = field(default_factory=Derived, repr=False, compare=False)
    """Cached values computed from the other fields. Cleared at the end of a visit."""

    def odds(self, section: str, situation: int, habit: int) -> float:
        """Return the share of checks in a cell that find a change of that week, limited as by `bounded`."""
        changes, checks = self.site.get((situation, habit), (0.0, 0.0))
        first = FIRST_ODDS[situation][habit]
        share = (first * _SITE_WEIGHT + changes) / (_SITE_WEIGHT + checks)
        section_counts = self.sections.get((section, situation, habit))
        if section_counts:
            share = (share * _DIRECTORY_WEIGHT + section_counts[0]) / (_DIRECTORY_WEIGHT + section_counts[1])
        return min(max(share, MIN_ODDS), MAX_ODDS)

    def log_odds_ratio(self, source: str, announced: bool) -> float:
        """Return the log likelihood ratio of a change, given that a source announces a page (or does not)."""
        yes, no, false, quiet = self.trust.get(source, (0.0, 0.0, 0.0, 0.0))
        right, wrong = (yes + 3) / (yes + no + 4), (false + 0.02) / (false + quiet + 4)
        return math.log(right / wrong if announced else (1 - right) / (1 - wrong))

    def add(self, section: str, cell: Cell, change: float) -> None:
        """Count a check, and the share of a change of that week that it found."""
        for row in (
            self.site.setdefault(cell, [0.0, 0.0]),
            self.sections.setdefault((section, *cell), [0.0, 0.0]),
        ):
            row[0] += change
            row[1] += 1.0

    def past(self, gates: Gates) -> Past:
        """Return the tracks of these pages as arrays."""
        past = self.derived.past
        if past is None or past.gates is not gates:
            past = self.derived.past = _past(self, gates)
        return past

    def expected(self, gates: Gates, top: int) -> Expected:
        """Return the expectations for these pages, given the state of the top page (0 to 2)."""
        expected = self.derived.expected.get(top)
        if expected is None or expected.gates is not gates:
            expected = self.derived.expected[top] = _expected(self, gates, top)
        return expected

    def packed(self) -> bytes:
        """Return the stored form: JSON under zlib."""
        content = [
            VERSION,
            [[*cell, *row] for cell, row in self.site.items()],
            [[*cell, *row] for cell, row in self.sections.items()],
            {
                path: [
                    [number, track.weeks, track.doubt, track.checks, track.changes, track.span]
                    for number, track in page_tracks.items()
                ]
                for path, page_tracks in self.tracks.items()
            },
            self.demands,
            self.trust,
        ]
        return zlib.compress(orjson.dumps(content), 1)

    @classmethod
    def unpacked(cls, content: bytes) -> Ledger:
        """Read a ledger back. Returns an empty one for empty content and for other versions."""
        if not content:
            return cls()
        version, site, sections, tracks, demands, trust = orjson.loads(zlib.decompress(content))
        if version != VERSION:
            return cls()
        return cls(
            {(situation, habit): row for situation, habit, *row in site},
            {(name, situation, habit): row for name, situation, habit, *row in sections},
            {path: {number: Track(*row) for number, *row in track} for path, track in tracks.items()},
            demands,
            trust,
        )


def _past(ledger: Ledger, gates: Gates) -> Past:
    pages = len(gates.paths)
    nothing: dict[int, Track] = {}
    rows = [
        (situation, number, track.checks, track.changes, track.span, track.doubt, track.weeks)
        for number, path in enumerate(gates.paths)
        for situation, track in ledger.tracks.get(path, nothing).items()
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
    situations = slice(KINDS * top, KINDS * top + KINDS)
    habits = _habits(past, situations)
    plain = np.empty(habits.shape)
    for kind in range(KINDS):
        cells = (gates.section * _KINDS_OF_HABIT + habits[kind]).tolist()
        cell_odds = {}
        for cell in set(cells):
            section, habit = divmod(cell, _KINDS_OF_HABIT)
            cell_odds[cell] = ledger.odds(gates.sections[section], KINDS * top + kind, habit)
        plain[kind] = [cell_odds[cell] for cell in cells]
    checks, changes = past.checks[situations], past.changes[situations]
    shrunk = bounded((plain * _PAGE_WEIGHT + changes) / (_PAGE_WEIGHT + checks))
    odds = np.where(checks > 0, shrunk, plain)
    return Expected(gates, habits, odds, logit(odds), plain[OPEN])


def _habits(past: Past, situations: slice) -> Numbers:
    """Return the habit of each page (columns) and kind (rows): 0 if unknown, else 1 to 4 by its share of
    checks with a change.

    The share is that of checks in the situation itself. Without any it is that of checks with the same state
    of the top page, and without these that of all checks.
    """
    checks, changes = past.checks[situations], past.changes[situations]
    alike_checks, alike_changes = sum(checks), sum(changes)
    here, alike = checks >= _MIN_CHECKS, alike_checks >= _MIN_CHECKS
    checked = np.where(here, checks, np.where(alike, alike_checks, past.all_checks))
    changed = np.where(here, changes, np.where(alike, alike_changes, past.all_changes))
    is_known = checked >= _MIN_CHECKS
    shares = changed / np.where(is_known, checked, 1.0)
    return np.where(is_known, 1 + np.searchsorted(_HABITS, shares, side="right"), 0)
