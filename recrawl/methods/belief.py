"""The probability that each page has changed, before a visit and during it. Pure.

A page's situation in a visit is the state of its gates, or that it should name new pages, together with the
state of the server's top page. The ledger counts what to expect in each situation. The results of the visit
so far move the odds of all other pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.arrays import Flags, Floats, Numbers, bounded, expit, log, logit
from recrawl.methods.evidence import infer_odds
from recrawl.methods.gates import Gates, gates_of
from recrawl.methods.ledger import CLOSED, KINDS, LISTING, OPEN, UNSEEN, Derived, Ledger, Past, Track
from recrawl.methods.listings import naming_new
from recrawl.structure import raw_directory

MAX_DEMANDS = 52
UNLINKED = 0.1
"""The probability that a page that no stored copy links to still exists."""
_STALE = 0.7
"""The doubt from which a change of a gate fetched long ago says nothing about this week."""
_LATE = 0.25
"""The weight of a week, in checks, if one fetch found a change after several weeks."""


class Group(NamedTuple):
    """The pages of one section (by number) behind gates of one kind, which probably change together."""

    section: int
    kind: int


@dataclass(slots=True, eq=False)
class ChangeBelief:
    """Estimates for every known page, by number: its kind in this visit, its habit, and the probability of a
    change since the visit before.
    """

    gates: Gates
    past: Past
    """The past, with doubts of unfetched pages revised by this visit's outcomes."""
    top: int
    """The state of the server's top page: 0 as stored, 1 changed, 2 unseen."""
    kinds: Numbers
    habits: Numbers
    change_odds: Floats
    fetched_counts: Counter[Group] = field(default_factory=Counter)
    """The number of pages of each group that this visit has fetched."""

    @property
    def sound(self) -> Floats:
        """Return the probability that the stored copy is up to date."""
        return self.past.sound * (1 - self.change_odds)

    @property
    def groups(self) -> list[Group]:
        """Return the group of each page."""
        sections, kinds = self.gates.section.tolist(), self.kinds.tolist()
        return [Group(section, kind) for section, kind in zip(sections, kinds, strict=True)]


def believe(server: KnownServer, visit: OpenVisit, ledger: Ledger) -> ChangeBelief:
    """Estimate the state of all pages at this moment of a visit."""
    gates = server.derived(gates_of)
    past = ledger.past(gates)
    outcome = visit.outcomes.get(server.top)
    top = 2 if outcome is None else int(outcome.changed)
    kinds = _gate_states(gates, visit, past)
    kinds[gates.numbers(naming_new(server, visit))] = LISTING
    every = np.arange(len(gates.paths))
    expected = ledger.expected(gates, top)
    logits = expected.logits[kinds, every]
    belief = ChangeBelief(gates, past, top, kinds, expected.habits[kinds, every], expected.odds[kinds, every])
    if visit.signals:
        _apply_signals(visit, ledger, belief)
        logits = logit(belief.change_odds)
    _learn_from(visit, server.top, belief, logits)
    return belief


def unseen_pages(server: KnownServer, visit: OpenVisit, gates: Gates) -> Flags:
    """Return for each page whether this visit has neither fetched nor first stored it, as in
    `OpenVisit.has_seen`.
    """
    is_unseen = np.array([page.fetched < visit.now for page in server.pages.values()], np.bool_)
    is_unseen[gates.numbers(visit.outcomes)] = False
    is_unseen[gates.numbers(visit.failed)] = False
    return is_unseen


def existence_odds(gates: Gates, visit: OpenVisit) -> Floats:
    """Return the probability that each page still exists. It is lower for pages that no stored copy links to,
    and for directories that have lost pages.
    """
    probabilities = np.where(gates.reached, 1.0, UNLINKED)
    if visit.gone:
        gone_counts = Counter(raw_directory(path) for path in visit.gone)
        alive_counts = Counter(raw_directory(path) for path in visit.outcomes)
        for page, path in enumerate(gates.paths):
            name = raw_directory(path)
            if gone_counts[name]:
                probabilities[page] = (
                    probabilities[page]
                    * (1 + alive_counts[name])
                    / (1 + alive_counts[name] + gone_counts[name])
                )
    return probabilities


def _gate_states(gates: Gates, visit: OpenVisit, past: Past) -> Numbers:
    """Return the state of each page's gates in this visit: OPEN behind a gate that has changed since the
    visit before, CLOSED if at least half of the page's gates were fetched, else UNSEEN.
    """
    kinds = np.full(len(gates.paths), UNSEEN)
    fetched, opened = np.zeros((2, len(gates.paths)), np.bool_)
    for path, outcome in visit.outcomes.items():
        number = gates.number.get(path)
        if number is not None:
            fetched[number] = True
            opened[number] = outcome.changed and (outcome.age <= 1 or past.doubt[number] < _STALE)
    if visit.outcomes:
        fetched_gates = gates.count_of(fetched)
        kinds[(fetched_gates > 0) & (2 * fetched_gates >= gates.count)] = CLOSED
        kinds[gates.count_of(opened) > 0] = OPEN
    return kinds


def _apply_signals(visit: OpenVisit, ledger: Ledger, belief: ChangeBelief) -> None:
    """Move the odds of pages that sources name, by how reliable each source has been."""
    change_odds, number = belief.change_odds, belief.gates.number
    for source, announcements in visit.signals.items():
        shifts = {
            announced: ledger.log_odds_ratio(source, announced) for announced in set(announcements.values())
        }
        page_shifts = [
            (number[path], shifts[announced]) for path, announced in announcements.items() if path in number
        ]
        if page_shifts:
            at = np.array([page for page, _ in page_shifts])
            change_odds[at] = bounded(
                expit(logit(change_odds[at]) + np.array([shift for _, shift in page_shifts]))
            )


def _learn_from(visit: OpenVisit, top: str, belief: ChangeBelief, logits: Floats) -> None:
    """Move the odds of all pages by the visit's outcomes. The top page is left out: its outcome is part of
    every situation.
    """
    number = belief.gates.number
    outcomes = [
        (number[path], outcome.changed)
        for path, outcome in visit.outcomes.items()
        if path in number and path != top
    ]
    if outcomes:
        groups = belief.groups
        belief.fetched_counts.update(groups[page] for page, _ in outcomes)
        belief.change_odds, belief.past = infer_odds(
            belief.gates, belief.past, belief.kinds, logits, outcomes
        )


def record(server: KnownServer, visit: OpenVisit, ledger: Ledger) -> None:
    """Count the outcomes of a visit after its end, and let doubt grow on the pages it has not fetched."""
    belief = believe(server, visit, ledger)
    _keep_revised(belief, ledger)
    for source, announcements in visit.signals.items():
        row = ledger.trust.setdefault(source, [0.0] * 4)
        for path in announcements.keys() & visit.outcomes.keys():
            row[(0 if visit.outcomes[path].changed else 2) + (not announcements[path])] += 1
    for path in ledger.tracks.keys() - server.pages.keys():
        del ledger.tracks[path]
    names = belief.gates.sections
    joined = visit.joined(server)
    demand = 0.0
    for path, section, kind, habit, change_odds, quiet, still in zip(
        belief.gates.paths,
        belief.gates.section.tolist(),
        belief.kinds.tolist(),
        belief.habits.tolist(),
        belief.change_odds.tolist(),
        log(1 - belief.change_odds).tolist(),
        existence_odds(belief.gates, visit).tolist(),
        strict=True,
    ):
        if path in joined:
            continue
        situation = KINDS * belief.top + kind
        page_tracks = ledger.tracks.get(path)
        if page_tracks is None:
            page_tracks = ledger.tracks[path] = {}
        track = page_tracks.get(situation)
        if track is None:
            track = page_tracks[situation] = Track()
        track.weeks += 1
        track.doubt -= quiet
        outcome = visit.outcomes.get(path)
        if outcome is None:
            demand += change_odds * still if change_odds >= 0.5 else 0.0
            continue
        total_doubt = sum(track.doubt for track in page_tracks.values())
        now = -quiet / total_doubt if outcome.changed else 0.0
        demand += now
        ledger.add(names[section], (situation, habit), now)
        _settle(page_tracks.values(), total_doubt, outcome.changed)
    ledger.demands = [*ledger.demands, demand][-MAX_DEMANDS:]
    ledger.derived = Derived()


def _keep_revised(belief: ChangeBelief, ledger: Ledger) -> None:
    """Store the visit's evidence about earlier doubts of pages that it has not fetched."""
    before = ledger.past(belief.gates).doubt
    for page in np.nonzero(belief.past.doubt != before)[0].tolist():
        factor = float(belief.past.doubt[page] / before[page])
        for track in ledger.tracks[belief.gates.paths[page]].values():
            track.doubt *= factor


def _settle(tracks: Iterable[Track], total_doubt: float, changed: bool) -> None:
    """End all doubt of a fetched page. A change is shared among its tracks by their doubt; weeks without a
    change are checks.

    A change found after several weeks says little about how many there were, so these weeks count in part as
    checks.
    """
    for track in tracks:
        track.span += track.weeks
        if changed:
            share = track.doubt / total_doubt
            track.changes += share
            track.checks += max(share, _LATE * track.weeks if track.weeks > 1 else 0.0)
        else:
            track.checks += track.weeks
        track.weeks, track.doubt = 0, 0.0
