"""A tree of a site's gates (division B), with the state of each gate and the fetches behind it in a visit."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.division import by_links, groups_above
from recrawl.models import Check, Site, Visit, WatchedPage
from recrawl.visiting.stored_server import knowledge_of

MAX_PAGES = 5000
"""Larger sites are left out: their tree would take seconds to lay out."""
MAX_GATES = 200
MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Gate:
    """A top page with the number of its members. `state` is the outcome of its last check in the visit, or
    empty.
    """

    depth: int
    page: int
    path: str
    title: str
    members: int
    state: str
    fetched: int
    changed: int


def outline(site: Site, visit: Visit | None) -> list[Gate]:
    """Return the gates from the top page down, each below the first gate that leads to it. Returns [] for
    sites of more than MAX_PAGES pages.
    """
    if site.pages.live().count() > MAX_PAGES:
        return []
    knowledge = knowledge_of(site)
    sites = by_links(knowledge.server.graph)
    over = groups_above(knowledge.server.graph, sites)
    children: dict[int, list[int]] = {}
    for number, holders in enumerate(over):
        parents = [holder for holder in holders if holder < number]
        if number:
            children.setdefault(min(parents, default=0), []).append(number)
    entries = [(depth, sites[number]) for depth, number in _order(children)[:MAX_GATES]] if sites else []
    outcomes = dict(Check.objects.filter(visit=visit).values_list("page_id", "outcome")) if visit else {}
    tops = [knowledge.ids[division.tops[0]] for _, division in entries]
    titles = dict(WatchedPage.objects.filter(pk__in=tops).values_list("pk", "title"))
    gates = []
    for depth, division in entries:
        path, pk = division.tops[0], knowledge.ids[division.tops[0]]
        member_outcomes = [
            outcomes[knowledge.ids[member]]
            for member in division.members
            if knowledge.ids[member] in outcomes
        ]
        changed = sum(outcome == Check.Outcome.CHANGED for outcome in member_outcomes)
        state, title = outcomes.get(pk, ""), titles.get(pk, "")
        gates.append(
            Gate(depth, pk, path, title, len(division.members), state, len(member_outcomes), changed)
        )
    return gates


def _order(children: dict[int, list[int]]) -> list[tuple[int, int]]:
    """Return (depth, number) of all gates, each after its parent."""
    ordered: list[tuple[int, int]] = []
    waiting = [(0, 0)]
    while waiting:
        depth, number = waiting.pop()
        ordered.append((min(depth, MAX_DEPTH), number))
        waiting += [(depth + 1, child) for child in reversed(children.get(number, ()))]
    return ordered
