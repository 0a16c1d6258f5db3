"""A site as its tree of gates (division B): which were open in a visit, and what was fetched behind them."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.division import above, by_links
from recrawl.models import Check, Site, Visit, WatchedPage
from recrawl.stored_server import known_of

MOST_PAGES = 5000
"""For larger sites the tree would take seconds to lay out."""
MOST_GATES = 200
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Gate:
    """A top page with what it tells of; `state` is the outcome of its last check in the visit, or empty."""

    depth: int
    page: int
    path: str
    title: str
    members: int
    state: str
    fetched: int
    changed: int


def outline(site: Site, visit: Visit | None) -> list[Gate]:
    """The gates from the top page down, each below the first that leads to it; [] for very large sites."""
    if site.pages.live().count() > MOST_PAGES:
        return []
    known = known_of(site)
    sites = by_links(known.server.graph)
    over = above(known.server.graph, sites)
    children: dict[int, list[int]] = {}
    for number, holders in enumerate(over):
        parents = [holder for holder in holders if holder < number]
        if number:
            children.setdefault(min(parents, default=0), []).append(number)
    shown = [(depth, sites[number]) for depth, number in _order(children)[:MOST_GATES]] if sites else []
    outcomes = dict(Check.objects.filter(visit=visit).values_list("page_id", "outcome")) if visit else {}
    tops = [known.ids[division.tops[0]] for _, division in shown]
    titles = dict(WatchedPage.objects.filter(pk__in=tops).values_list("pk", "title"))
    gates = []
    for depth, division in shown:
        path, pk = division.tops[0], known.ids[division.tops[0]]
        seen = [outcomes[known.ids[member]] for member in division.members if known.ids[member] in outcomes]
        changed = sum(outcome == Check.Outcome.CHANGED for outcome in seen)
        state, title = outcomes.get(pk, ""), titles.get(pk, "")
        gates.append(Gate(depth, pk, path, title, len(division.members), state, len(seen), changed))
    return gates


def _order(children: dict[int, list[int]]) -> list[tuple[int, int]]:
    """(depth, number) of all, each after what leads to it."""
    found: list[tuple[int, int]] = []
    waiting = [(0, 0)]
    while waiting:
        depth, number = waiting.pop()
        found.append((min(depth, DEEPEST), number))
        waiting += [(depth + 1, child) for child in reversed(children.get(number, ()))]
    return found
