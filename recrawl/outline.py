"""A site as its tree of gates (division B): which were open in a visit, and what was fetched behind them."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.division import Division, above, by_links
from recrawl.loading import known_of
from recrawl.models import Check, Site, Visit, WatchedPage

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
    shown = _order(children)[:MOST_GATES] if sites else []
    checks = Check.objects.filter(visit=visit) if visit else Check.objects.none()
    outcomes = dict(checks.values_list("page_id", "outcome"))
    tops = [known.ids[sites[number].tops[0]] for _, number in shown]
    titles = dict(WatchedPage.objects.filter(pk__in=tops).values_list("pk", "title"))
    return [_gate(depth, sites[number], known.ids, outcomes, titles) for depth, number in shown]


def _order(children: dict[int, list[int]]) -> list[tuple[int, int]]:
    """(depth, number) of all, each after what leads to it."""
    found: list[tuple[int, int]] = []
    waiting = [(0, 0)]
    while waiting:
        depth, number = waiting.pop()
        found.append((min(depth, DEEPEST), number))
        waiting += [(depth + 1, child) for child in reversed(children.get(number, ()))]
    return found


def _gate(
    depth: int, site: Division, ids: dict[str, int], outcomes: dict[int, str], titles: dict[int, str]
) -> Gate:
    pk = ids[site.tops[0]]
    seen = [outcomes[ids[path]] for path in site.members if ids[path] in outcomes]
    return Gate(
        depth,
        pk,
        site.tops[0],
        titles.get(pk, ""),
        len(site.members),
        outcomes.get(pk, ""),
        len(seen),
        sum(outcome == Check.Outcome.CHANGED for outcome in seen),
    )
