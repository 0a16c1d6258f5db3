"""Divisions of a server's pages into groups, each with top pages that stand for its members. Pure.

Methods A, B and C of Kumagai and Yamana 2004 (sections 5.2 to 5.4), which call a group a site. The paper
leaves some cases open. Here all pages of the least depth of a group are its tops (A). A page that no top
links to joins its shallowest parent in its directory, else the top of its directory (B). A group is opened if
any group above it has changed (C).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recrawl.structure import SiteGraph


@dataclass(frozen=True, slots=True)
class PageGroup:
    """A group of a division. A visit fetches its tops first, and its members if a top has changed."""

    tops: tuple[str, ...]
    members: tuple[str, ...]


def by_directory(graph: SiteGraph) -> list[PageGroup]:
    """Divide by method A: each directory is a group, and its shallowest pages are the tops."""
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for page in graph.by_depth:
        inside[graph.directory[page]].append(page)
    groups = []
    for pages in inside.values():
        depth = graph.depth[pages[0]]
        tops = tuple(page for page in pages if graph.depth[page] == depth)
        groups.append(PageGroup(tops, tuple(pages[len(tops) :])))
    return groups


def by_links(graph: SiteGraph) -> list[PageGroup]:
    """Divide by method B: each page with links from other directories is a top, and its members are the pages
    of its directory that it links to.
    """
    edges = graph.edges
    candidates = [page for page in graph.by_depth if page == graph.top or page in edges.entered]
    groups = {
        page: list(edges.inside[page]) for page in candidates if edges.inside[page] or page == graph.top
    }
    placed = set(groups).union(*groups.values())
    for page in graph.by_depth:
        if page not in placed:
            host = _top_of(graph, page, groups)
            members = groups.setdefault(host, [])
            if page != host:
                members.append(page)
    order = sorted(groups, key=lambda page: (graph.depth[page], page))
    return [PageGroup((top,), tuple(groups[top])) for top in order]


def groups_above(graph: SiteGraph, groups: Sequence[PageGroup]) -> list[set[int]]:
    """Return, for each group, the indexes of the groups above it.

    A group is above another one if one of its pages links to a top of the other one.
    """
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for number, group in enumerate(groups):
        for page in (*group.tops, *group.members):
            holders[page].add(number)
    above = []
    for number, group in enumerate(groups):
        linking = {parent for top in group.tops for parent in graph.edges.parents[top]}
        above.append(set().union(*(holders[parent] for parent in linking)) - {number})
    return above


def _top_of(graph: SiteGraph, page: str, groups: Mapping[str, Sequence[str]]) -> str:
    """Return the top of a page that no top links to: its shallowest parent in its directory, else the
    directory's top, else the page itself.
    """
    directory = graph.directory[page]
    parent = next(
        (candidate for candidate in graph.edges.parents[page] if graph.directory[candidate] == directory),
        None,
    )
    if parent is not None:
        return parent
    tops = [candidate for candidate in groups if graph.directory[candidate] == directory]
    return min(tops, key=lambda candidate: (graph.depth[candidate], candidate)) if tops else page
