"""How likely each page has changed, before a visit and during it. Pure.

A page's situation in a visit is what its gates showed, or that it should name pages which are new, and what
the server's top page showed; what is to be expected in it is counted in the ledger. What the visit has found
so far moves the odds of all other pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.arrays import Flags, Floats, Numbers, bounded, expit, log, logit
from recrawl.methods.evidence import learned
from recrawl.methods.gates import Gates, gates_of
from recrawl.methods.ledger import CLOSED, KINDS, LISTING, OPEN, UNSEEN, Ledger, Past, Track
from recrawl.methods.listings import naming_new
from recrawl.structure import raw_directory

MOST_DEMANDS = 52
UNLINKED = 0.1
"""How likely a page that no stored copy links to is still there."""
_STALE = 0.7
"""Doubt above which an old gate tells nothing."""
_LATE = 0.25
"""What a week counts, in checks, where one fetch found a change after several."""


@dataclass(slots=True, eq=False)
class ChangeBelief:
    """Of every known page, by number: its kind in this visit, its habit then, probability of a change since
    the visit before.
    """

    gates: Gates
    past: Past
    """With the doubt that this visit's finds leave on pages it has not fetched."""
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
        """Pages of one section behind gates of one kind are a group."""
        return self.gates.section * KINDS + self.kinds


def believe(server: KnownServer, visit: OpenVisit, ledger: Ledger) -> ChangeBelief:
    """What can be known of all pages at this moment of a visit."""
    gates = server.derived(gates_of)
    past = ledger.past(gates)
    outcome = visit.outcomes.get(server.top)
    top = 2 if outcome is None else int(outcome.changed)
    kinds = _shown(gates, visit, past)
    kinds[gates.numbers(naming_new(server, visit))] = LISTING
    every = np.arange(len(gates.paths))
    expected = ledger.expected(gates, top)
    logits = expected.logits[kinds, every]
    belief = ChangeBelief(gates, past, top, kinds, expected.habits[kinds, every], expected.odds[kinds, every])
    if visit.signals:
        _heed(visit, ledger, belief)
        logits = logit(belief.fresh)
    _learn_from(visit, server.top, belief, logits)
    return belief


def unseen(server: KnownServer, visit: OpenVisit, gates: Gates) -> Flags:
    """Which pages this visit has neither asked for nor found: those that `OpenVisit.has_seen` has not."""
    found = np.array([page.fetched < visit.now for page in server.pages.values()], np.bool_)
    found[gates.numbers(visit.outcomes)] = False
    found[gates.numbers(visit.failed)] = False
    return found


def there(gates: Gates, visit: OpenVisit) -> Floats:
    """How likely pages are there that no stored copy links to, or whose directory has lost others."""
    found = np.where(gates.reached, 1.0, UNLINKED)
    if visit.gone:
        gone = Counter(raw_directory(path) for path in visit.gone)
        alive = Counter(raw_directory(path) for path in visit.outcomes)
        for page, path in enumerate(gates.paths):
            name = raw_directory(path)
            if gone[name]:
                found[page] = found[page] * (1 + alive[name]) / (1 + alive[name] + gone[name])
    return found


def _shown(gates: Gates, visit: OpenVisit, past: Past) -> Numbers:
    """What this visit's gates have shown of each page: OPEN behind one that has changed since the visit
    before, CLOSED where half of its gates or more were looked at.
    """
    kinds = np.full(len(gates.paths), UNSEEN)
    fetched, opened = np.zeros((2, len(gates.paths)), np.bool_)
    for path, outcome in visit.outcomes.items():
        number = gates.number.get(path)
        if number is not None:
            fetched[number] = True
            opened[number] = outcome.changed and (outcome.age <= 1 or past.doubt[number] < _STALE)
    if visit.outcomes:
        seen = gates.count_of(fetched)
        kinds[(seen > 0) & (2 * seen >= gates.count)] = CLOSED
        kinds[gates.count_of(opened) > 0] = OPEN
    return kinds


def _heed(visit: OpenVisit, ledger: Ledger, belief: ChangeBelief) -> None:
    """Move the odds of pages that sources name by what these have been worth."""
    fresh, number = belief.fresh, belief.gates.number
    for source, named in visit.signals.items():
        shifts = {announced: ledger.log_odds_ratio(source, announced) for announced in set(named.values())}
        known = [(number[path], shifts[announced]) for path, announced in named.items() if path in number]
        if known:
            at = np.array([page for page, _ in known])
            fresh[at] = bounded(expit(logit(fresh[at]) + np.array([shift for _, shift in known])))


def _learn_from(visit: OpenVisit, top: str, belief: ChangeBelief, logits: Floats) -> None:
    """Move the odds of all pages by what the visit has found; what the top page showed is counted before."""
    number = belief.gates.number
    found = [
        (number[path], outcome.changed)
        for path, outcome in visit.outcomes.items()
        if path in number and path != top
    ]
    if found:
        belief.seen.update(belief.groups[[page for page, _ in found]].tolist())
        belief.fresh, belief.past = learned(belief.gates, belief.past, belief.kinds, logits, found)


def record(server: KnownServer, visit: OpenVisit, ledger: Ledger) -> None:
    """After a visit: count what its fetches showed, and let doubt grow on the other pages."""
    belief = believe(server, visit, ledger)
    _keep_revised(belief, ledger)
    for source, named in visit.signals.items():
        row = ledger.trust.setdefault(source, [0.0] * 4)
        for path in named.keys() & visit.outcomes.keys():
            row[(0 if visit.outcomes[path].changed else 2) + (not named[path])] += 1
    for path in ledger.tracks.keys() - server.pages.keys():
        del ledger.tracks[path]
    names = belief.gates.sections
    joined = visit.joined(server)
    demand = 0.0
    for path, section, kind, habit, fresh, quiet, still in zip(
        belief.gates.paths,
        belief.gates.section.tolist(),
        belief.kinds.tolist(),
        belief.habits.tolist(),
        belief.fresh.tolist(),
        log(1 - belief.fresh).tolist(),
        there(belief.gates, visit).tolist(),
        strict=True,
    ):
        if path in joined:
            continue
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
        ledger.add(names[section], (situation, habit), now)
        _settle(track.values(), whole, outcome.changed)
    ledger.demands = [*ledger.demands, demand][-MOST_DEMANDS:]
    ledger.derived = {}


def _keep_revised(belief: ChangeBelief, ledger: Ledger) -> None:
    """What the visit has told of doubt from before it, on the pages that it has not fetched."""
    before = ledger.past(belief.gates).doubt
    for page in np.nonzero(belief.past.doubt != before)[0].tolist():
        factor = float(belief.past.doubt[page] / before[page])
        for track in ledger.tracks[belief.gates.paths[page]].values():
            track.doubt *= factor


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
