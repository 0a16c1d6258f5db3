"""What a crawler knows of a server: its stored copy of every page, and what its fetches have shown. Pure.

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
    """One page as it is stored: the links of the copy, and the time of the last fetch.

    `checks` are the fetches after the first, `changes` those of them that found something new.
    """

    links: tuple[str, ...]
    fetched: float
    checks: int = 0
    changes: int = 0


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """A fetch: whether the page had changed, and how old the copy was, in weeks."""

    changed: bool
    age: float


@dataclass(slots=True)
class OpenVisit:
    """One visit to a server while it lasts.

    `budget` is how many fetches may still be made, what was saved included; `weekly` what each week gives.
    """

    now: float
    budget: float = math.inf
    weekly: float = math.inf
    outcomes: dict[str, CheckOutcome] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    """Pages that were asked for and are there no more."""
    failed: set[str] = field(default_factory=set)
    """Pages that were asked for and could not be had: nothing is known of them, and they are left alone."""
    signals: dict[str, dict[str, bool]] = field(default_factory=dict)
    """By source (a sitemap, a feed): of the pages that it names, whether it announces something new."""
    saves: bool = True
    """Whether fetches that are not made may be made in later visits."""

    def has_seen(self, path: str, server: KnownServer) -> bool:
        """Whether it was asked for in this visit, or joined the copy in it."""
        return path in self.outcomes or path in self.failed or server.pages[path].fetched >= self.now

    def joined(self, server: KnownServer) -> set[str]:
        """Pages that joined the copy in this visit: seen, and neither asked for nor failed."""
        found = {path for path, page in server.pages.items() if page.fetched >= self.now}
        return found - self.outcomes.keys() - self.failed

    def changed(self, path: str) -> bool:
        """Whether it was fetched in this visit, and had changed."""
        outcome = self.outcomes.get(path)
        return outcome is not None and outcome.changed


class KnownServer:
    """Stored pages by path, the graph of their links, and what a method wants to keep between visits."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.pages: dict[str, KnownPage] = {}
        self.memory: dict[str, Any] = {}
        self._derived: dict[Callable[[SiteGraph], Any], Any] = {}
        self._graph: SiteGraph | None = None

    @property
    def graph(self) -> SiteGraph:
        """The links of the stored copies."""
        if self._graph is None:
            self._graph = SiteGraph(self.top, {path: page.links for path, page in self.pages.items()})
        return self._graph

    def derived(self, function: Callable[[SiteGraph], T]) -> T:
        """What a function makes of the graph, computed once for each state of it."""
        if function not in self._derived:
            self._derived[function] = function(self.graph)
        found: T = self._derived[function]
        return found

    def store(self, path: str, links: Sequence[str], now: float) -> None:
        """A page that was not known."""
        self.pages[path] = KnownPage(tuple(links), now)
        self._forget()

    def drop(self, path: str) -> None:
        """A page that is gone."""
        if self.pages.pop(path, None) is not None:
            self._forget()

    def fetched(self, path: str, changed: bool, links: Sequence[str], now: float) -> CheckOutcome:
        """Note a fetch of a known page; what it showed."""
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
