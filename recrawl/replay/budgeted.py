"""Methods week by week under one budget, each knowing only what it has fetched itself. Pure.

Every week a method may fetch `budget` times as many pages as there are, and save what it does not spend, up
to some weeks' worth (SAVED_WEEKS unless told otherwise). The first third of the weeks warms up and is not
measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from recrawl.methods.base import Method
from recrawl.replay.history import History
from recrawl.replay.one_shot import share
from recrawl.visiting.known_server import KnownServer, OpenVisit

SAVED_WEEKS = 8


@dataclass(frozen=True, slots=True)
class Budgeted:
    """Figures of a method on the measured weeks of a history."""

    spent: float
    staleness: float
    coverage: float
    rate: float
    delay_weeks: float


@dataclass(slots=True)
class _Tally:
    fetches: int = 0
    changed_fetches: int = 0
    page_weeks: int = 0
    stale: list[float] = field(default_factory=list)
    changes: int = 0
    caught: int = 0
    delays: list[int] = field(default_factory=list)


def measured_from(weeks: int) -> int:
    """Return the first week that is measured."""
    return math.ceil(weeks / 3)


def mean_spending(history: History, method: Method) -> float:
    """Return the fetches of a method without a budget, as a share of the pages of the measured weeks."""
    return simulate(history, method, None).spent


def simulate(history: History, method: Method, budget: float | None, save: float = SAVED_WEEKS) -> Budgeted:
    """Run a method through a history, starting with a copy of everything. A budget of None sets no limit.

    At most `save` weeks' budget is saved, from nothing on; inf sets no limit.
    """
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
        saved = (min(saved, save * weekly) if save < math.inf else saved) + weekly
        visit = OpenVisit(float(week), math.floor(saved + 1e-9) if saved < math.inf else math.inf, weekly)
        visit.stale = {
            path: path in changed for path, checksum in live.items() if copy.stored.get(path) != checksum
        }
        fetched = copy.visit(week, method, visit)
        saved -= fetched
        _settle(open_changes, visit, week, begin, tally)
        if week >= begin:
            tally.fetches += fetched
            tally.changed_fetches += sum(outcome.changed for outcome in visit.outcomes.values())
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
        rate=share(tally.changed_fetches, tally.fetches),
        delay_weeks=share(sum(tally.delays), len(tally.delays)),
    )


class _Copy:
    """A crawler's copy of a history's site: its knowledge, and the checksum of every stored page."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.server = KnownServer(history.top)
        self.stored: dict[str, str] = {}
        self._join(0, (history.top,))

    def visit(self, week: int, method: Method, visit: OpenVisit) -> int:
        """Fetch the pages that the method chooses while the budget lasts. Returns the number of fetches."""
        fetched = 0
        while visit.budget >= 1:
            pages = method.following(self.server, visit)
            if not pages:
                break
            for path in pages[: int(min(visit.budget, len(pages)))]:
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
        """Store pages seen for the first time, and the pages they lead to, with their present content."""
        state = self.history.weeks[week]
        waiting = list(links)
        while waiting:
            path = waiting.pop()
            if path not in self.stored and path in state:
                self.stored[path], page_links = state[path]
                self.server.store(path, page_links, float(week))
                waiting += page_links


def _settle(
    open_changes: dict[str, list[int]], visit: OpenVisit, week: int, begin: int, tally: _Tally
) -> None:
    """Close the changes that the visit's fetches have found."""
    for path in visit.outcomes:
        for changed in open_changes.pop(path, ()):
            if changed >= begin:
                tally.delays.append(week - changed)
                tally.caught += changed == week
