"""A crawler's knowledge of a server: its copy of every page, and the results of its fetches. Pure.

Time is counted in weeks, as a number that need not be whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from recrawl.structure import SiteGraph

T = TypeVar("T")


@dataclass(slots=True)
class KnownPage:
    """A stored page: the links of the copy, and the time of the last fetch.

    `checks` counts the fetches after the first, `changes` those that found a change.
    """

    links: tuple[str, ...]
    fetched: float
    checks: int = 0
    changes: int = 0


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of a fetch: whether the page had changed, and the age of the copy in weeks."""

    changed: bool
    age: float


@dataclass(slots=True)
class OpenVisit:
    """A visit to a server while it lasts.

    `budget` is the number of fetches left, including saved ones. `weekly` is the budget of one week.
    """

    now: float
    budget: float = math.inf
    weekly: float = math.inf
    outcomes: dict[str, CheckOutcome] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    """Pages that were fetched and no longer exist."""
    failed: set[str] = field(default_factory=set)
    """Pages whose fetch failed. Their state is unknown, and they are not fetched again in this visit."""
    signals: dict[str, dict[str, bool]] = field(default_factory=dict)
    """For each source (a sitemap, a feed) the pages that it names, and whether it announces something new."""
    saves: bool = True
    """Whether unspent fetches are saved for later visits."""
    stale: dict[str, bool] = field(default_factory=dict)
    """In replays, for `oracle`: the stale copies, and whether their page changed this week."""

    def has_seen(self, path: str, server: KnownServer) -> bool:
        """Return whether a page was fetched or first stored in this visit."""
        return path in self.outcomes or path in self.failed or server.pages[path].fetched >= self.now

    def joined(self, server: KnownServer) -> set[str]:
        """Return the pages that were first stored in this visit, without a fetch after that."""
        joined = {path for path, page in server.pages.items() if page.fetched >= self.now}
        return joined - self.outcomes.keys() - self.failed

    def changed(self, path: str) -> bool:
        """Return whether a page was fetched in this visit and had changed."""
        outcome = self.outcomes.get(path)
        return outcome is not None and outcome.changed


class KnownServer:
    """Stored pages by path, the graph of their links, and the data that a method keeps between visits."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.pages: dict[str, KnownPage] = {}
        self.memory: dict[str, Any] = {}
        self._derived: dict[Callable[[SiteGraph], Any], Any] = {}
        self._graph: SiteGraph | None = None

    @property
    def graph(self) -> SiteGraph:
        """Return the graph of the stored copies' links."""
        if self._graph is None:
            self._graph = SiteGraph(self.top, {path: page.links for path, page in self.pages.items()})
        return self._graph

    def derived(self, function: Callable[[SiteGraph], T]) -> T:
        """Return a function's value for the graph, computed once for each state of the graph."""
        if function not in self._derived:
            self._derived[function] = function(self.graph)
        value: T = self._derived[function]
        return value

    def store(self, path: str, links: Sequence[str], now: float) -> None:
        """Add a new page."""
        self.pages[path] = KnownPage(tuple(links), now)
        self._forget()

    def drop(self, path: str) -> None:
        """Remove a page that no longer exists."""
        if self.pages.pop(path, None) is not None:
            self._forget()

    def fetched(self, path: str, changed: bool, links: Sequence[str], now: float) -> CheckOutcome:
        """Record a fetch of a known page. Returns its outcome."""
        page = self.pages[path]
        age = now - page.fetched
        page.checks += 1
        page.changes += changed
        page.fetched = now
        if changed and tuple(links) != page.links:
            page.links = tuple(links)
            self._forget()
        return CheckOutcome(changed, age)

    def _forget(self) -> None:
        self._graph = None
        self._derived.clear()
