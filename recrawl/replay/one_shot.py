"""The one-shot comparison of the paper: all pages of one week, fetched again some weeks later. Pure.

Structure and past of every page are those of week s, known to a crawler that has seen all weeks up to s. Only
pages that were reachable from the top page in week s and still exist in the later week count. Methods that
only order pages fetch, of every server in every week, the share of pages that C fetches over all of them.
The number itself must not tell which servers have changed: given C's own number on each, breadth-first seemed
as good as C, because C fetches nearly all or nearly nothing in 123 of 154 comparisons (issue 58). Those that
know when to stop have the same share, and may save it for a later comparison of the same history, as in the
weekly replay. Server sampling is given each server's true share (section 6.3.3 of the paper).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from recrawl.methods.adaptive import MAX_SAVED_WEEKS, Adaptive
from recrawl.methods.base import Method
from recrawl.methods.gated import ByLinksGated
from recrawl.methods.sampling import WORTH, ServerSampling
from recrawl.replay.history import History
from recrawl.visiting.known_server import CheckOutcome, KnownServer, OpenVisit

ORDERS = ("breadth-first", "history", "cho-garcia-molina")
SAVERS = ("adaptive", "oracle")
"""Methods that order pages and know when to stop: what they leave may be spent in a later comparison."""


@dataclass(slots=True)
class OneShot:
    """Sums over comparisons: pages fetched, changed pages among them, and all changed pages."""

    fetched: int = 0
    changed_fetched: int = 0
    changed: int = 0

    def add(self, other: OneShot) -> None:
        """Add the sums of another."""
        self.fetched += other.fetched
        self.changed_fetched += other.changed_fetched
        self.changed += other.changed

    def as_json(self) -> dict[str, float]:
        """Return the sums with update rate and coverage, which are 0 if there is nothing to divide by."""
        rate, coverage = share(self.changed_fetched, self.fetched), share(self.changed_fetched, self.changed)
        return {**asdict(self), "rate": rate, "coverage": coverage}


def share(part: float, whole: float) -> float:
    """Return a part as a share of a whole. Returns 0 if the whole is 0."""
    return part / whole if whole else 0.0


Table = dict[int, dict[str, OneShot]]


def one_shot(
    history: History,
    methods: Sequence[Callable[[], Method]],
    periods: Sequence[int],
    shares: Mapping[int, float] | None = None,
) -> Table:
    """Return pooled results by period (weeks) and method name. "all" stands for fetching everything.

    `shares` has, by period, the share of pages that methods get which only order them: C's on this history
    if it is None.
    """
    names = [make_method().name for make_method in methods]
    table: Table = {period: {name: OneShot() for name in (*names, "all")} for period in periods}
    allowed = (
        {p: share(*counts) for p, counts in by_c(history, periods).items()} if shares is None else shares
    )
    pages = dict.fromkeys(periods, 0)
    saved: dict[tuple[int, str], float] = {}
    for period, week, pair in pairs(history, periods):
        is_last = week + stride(period) + period >= len(history.weeks)
        before, pages[period] = pages[period], pages[period] + len(pair.changed)
        # What rounding leaves over goes to the next week.
        budget = round(allowed[period] * pages[period]) - round(allowed[period] * before)
        for make_method in methods:
            method = make_method()
            key = (period, method.name)
            before_it = min(saved.get(key, 0.0), MAX_SAVED_WEEKS * budget) if method.name in SAVERS else 0.0
            result = pair.result(method, budget, before_it, saves=method.name in SAVERS and not is_last)
            saved[key] = before_it + budget - result.fetched
            table[period][method.name].add(result)
        table[period]["all"].add(pair.everything())
    return table


def by_c(history: History, periods: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return, by period, the pages that method C fetches in all comparisons, and all pages that count."""
    counts = dict.fromkeys(periods, (0, 0))
    for period, _, pair in pairs(history, periods):
        fetched, pages = counts[period]
        of_c = pair.fetched(ByLinksGated().following, math.inf)
        counts[period] = (fetched + len(of_c), pages + len(pair.changed))
    return counts


def pairs(history: History, periods: Sequence[int]) -> Iterator[tuple[int, int, Pair]]:
    """Yield all comparisons: the period, the week it begins in, and the states of the two weeks."""
    for week, server in enumerate(_observed(history)):
        for period in periods:
            if week % stride(period) or week + period >= len(history.weeks):
                continue
            after = history.weeks[week + period]
            live = history.live[week].items()
            changed = {path: after[path][0] != checksum for path, checksum in live if path in after}
            yield period, week, Pair(server, changed, float(week + period))


def stride(period: int) -> int:
    """Return the weeks between the beginnings of two comparisons."""
    return max(1, period // 2)


def _observed(history: History) -> Iterator[KnownServer]:
    """Yield the server, week by week, as known to a crawler that fetches all of it every week."""
    server = KnownServer(history.top)
    learner = Adaptive()
    for week, state in enumerate(history.weeks):
        live = history.live[week]
        visit = OpenVisit(float(week))
        for path in [path for path in server.pages if path not in live]:
            server.drop(path)
        for path in live:
            links = state[path][1]
            if path in server.pages:
                before = history.weeks[week - 1].get(path)
                changed = before is not None and before[0] != state[path][0]
                visit.outcomes[path] = server.fetched(path, changed, links, visit.now)
            else:
                server.store(path, links, visit.now)
        if week:
            learner.finish(server, visit)
        yield server


@dataclass(frozen=True, slots=True)
class Pair:
    """Two weeks: the server as known in the first, and, for each page that counts, whether it had changed by
    the second.

    `now` is the second week.
    """

    server: KnownServer
    changed: dict[str, bool]
    now: float

    def everything(self) -> OneShot:
        """Return the result of fetching all pages."""
        total = sum(self.changed.values())
        return OneShot(len(self.changed), total, total)

    def result(
        self, method: Method, budget: float = math.inf, saved: float = 0.0, *, saves: bool = False
    ) -> OneShot:
        """Return the result of a method.

        One that orders pages fetches `budget` of them and as many as it has `saved`, fewer if it `saves` for
        another time.
        """
        total = sum(self.changed.values())
        if isinstance(method, ServerSampling):
            worth = total >= WORTH * len(self.changed)
            fetched = self.fetched(method.within, math.inf) if worth else set()
        else:
            allowed = budget if method.name in (*ORDERS, *SAVERS) else math.inf
            fetched = self.fetched(method.following, allowed + saved, budget if saves else None)
        return OneShot(len(fetched), sum(self.changed[path] for path in fetched), total)

    def fetched(
        self,
        following: Callable[[KnownServer, OpenVisit], list[str]],
        budget: float,
        weekly: float | None = None,
    ) -> set[str]:
        """Return the counted pages that a method (given by its `following`) fetches in one visit.

        With `weekly` it may save: that is what a visit adds to its budget.
        """
        stale = {path: True for path, changed in self.changed.items() if changed}
        visit = OpenVisit(
            self.now, budget, budget if weekly is None else weekly, saves=weekly is not None, stale=stale
        )
        counted_pages: set[str] = set()
        while len(counted_pages) < budget:
            pages = following(self.server, visit)
            if not pages:
                break
            for path in pages:
                age = self.now - self.server.pages[path].fetched
                visit.outcomes[path] = CheckOutcome(self.changed.get(path, False), age)
                if path in self.changed and len(counted_pages) < budget:
                    counted_pages.add(path)
                    visit.budget -= 1
        return counted_pages
