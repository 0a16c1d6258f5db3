"""Methods week by week under one budget, each knowing only what it has fetched itself. Pure.

Every week a method may fetch `budget` times as many pages as there are, and save what it does not spend, up
to eight weeks' worth. The first third of the weeks warms up and is not measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.base import Method
from recrawl.replay.history import History
from recrawl.replay.one_shot import share

SAVED_WEEKS = 8


@dataclass(frozen=True, slots=True)
class Budgeted:
    """Figures of a method on a history's measured weeks, by the spec's definitions."""

    spent: float
    staleness: float
    coverage: float
    rate: float
    delay_weeks: float


@dataclass(slots=True)
class _Tally:
    fetches: int = 0
    found: int = 0
    page_weeks: int = 0
    stale: list[float] = field(default_factory=list)
    changes: int = 0
    caught: int = 0
    delays: list[int] = field(default_factory=list)


def measured_from(weeks: int) -> int:
    """The first week that is measured."""
    return math.ceil(weeks / 3)


def mean_spending(history: History, method: Method) -> float:
    """What a method fetches where nothing bounds it, as a share of the pages of the measured weeks."""
    return simulate(history, method, None).spent


def simulate(history: History, method: Method, budget: float | None) -> Budgeted:
    """Run a method through a history, from a first copy of everything; None: without any bound."""
    copy = _Copy(history)
    begin = measured_from(len(history.weeks))
    tally = _Tally()
    open_changes: dict[str, list[int]] = {}
    saved = 0.0
    for week in range(1, len(history.weeks)):
        live, changed = history.live[week], history.changed[week]
        for path in changed:
            open_changes.setdefault(path, []).append(week)
        weekly = math.inf if budget is None else budget * len(live)
        saved = min(saved, SAVED_WEEKS * weekly) + weekly
        visit = OpenVisit(float(week), math.floor(saved + 1e-9) if saved < math.inf else math.inf, weekly)
        fetched = copy.visit(week, method, visit)
        saved -= fetched
        _settle(open_changes, visit, week, begin, tally)
        if week >= begin:
            tally.fetches += fetched
            tally.found += sum(outcome.changed for outcome in visit.outcomes.values())
            tally.page_weeks += len(live)
            stale = sum(copy.stored.get(path) != checksum for path, checksum in live.items())
            tally.stale.append(stale / len(live) if live else 0.0)
            tally.changes += len(changed)
    for weeks in open_changes.values():
        tally.delays += [len(history.weeks) - week for week in weeks if week >= begin]
    return Budgeted(
        spent=share(tally.fetches, tally.page_weeks),
        staleness=share(sum(tally.stale), len(tally.stale)),
        coverage=share(tally.caught, tally.changes),
        rate=share(tally.found, tally.fetches),
        delay_weeks=share(sum(tally.delays), len(tally.delays)),
    )


class _Copy:
    """What a crawler holds of a history's site: what it knows, and the checksum of every stored page."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.server = KnownServer(history.top)
        self.stored: dict[str, str] = {}
        self._join(0, (history.top,))

    def visit(self, week: int, method: Method, visit: OpenVisit) -> int:
        """Fetch what the method wants as long as the budget lasts; how many pages."""
        fetched = 0
        while visit.budget >= 1:
            wanted = method.following(self.server, visit)
            if not wanted:
                break
            for path in wanted[: int(min(visit.budget, len(wanted)))]:
                visit.budget -= 1
                fetched += 1
                self._fetch(week, path, visit)
        method.finish(self.server, visit)
        return fetched

    def _fetch(self, week: int, path: str, visit: OpenVisit) -> None:
        state = self.history.weeks[week]
        if path not in state:
            visit.gone.append(path)
            self.server.drop(path)
            self.stored.pop(path, None)
            return
        checksum, links = state[path]
        visit.outcomes[path] = self.server.fetched(path, self.stored[path] != checksum, links, visit.now)
        self.stored[path] = checksum
        self._join(week, links)

    def _join(self, week: int, links: Iterable[str]) -> None:
        """Pages first seen join the copy with what they hold now, and the pages that they lead to."""
        state = self.history.weeks[week]
        waiting = list(links)
        while waiting:
            path = waiting.pop()
            if path not in self.stored and path in state:
                self.stored[path], found = state[path]
                self.server.store(path, found, float(week))
                waiting += found


def _settle(
    open_changes: dict[str, list[int]], visit: OpenVisit, week: int, begin: int, tally: _Tally
) -> None:
    """Changes that the visit's fetches saw are over."""
    for path in visit.outcomes:
        for changed in open_changes.pop(path, ()):
            if changed >= begin:
                tally.delays.append(week - changed)
                tally.caught += changed == week
