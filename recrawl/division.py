"""Divisions of a server into sites, each with top pages that stand for its members. Pure.

Methods A, B and C of Kumagai and Yamana 2004 (sections 5.2 to 5.4). The paper leaves some cases open. Here
all pages of the least depth of a site are its tops (A). A page that no top links to joins its shallowest
parent in its directory, else the top of its directory (B). A site is opened if any site above it has changed
(C).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recrawl.structure import SiteGraph


@dataclass(frozen=True, slots=True)
class Division:
    """A site of a division: tops, which are fetched first, and members, fetched if a top has changed."""

    tops: tuple[str, ...]
    members: tuple[str, ...]


def by_directory(graph: SiteGraph) -> list[Division]:
    """Divide by method A: a site for each directory, whose shallowest pages are its tops."""
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for page in graph.by_depth:
        inside[graph.directory[page]].append(page)
    sites = []
    for pages in inside.values():
        depth = graph.depth[pages[0]]
        tops = tuple(page for page in pages if graph.depth[page] == depth)
        sites.append(Division(tops, tuple(pages[len(tops) :])))
    return sites


def by_links(graph: SiteGraph) -> list[Division]:
    """Divide by method B: a site for each page that other directories link to, with the pages of its own
    directory that it links to.
    """
    edges = graph.edges
    candidates = [page for page in graph.by_depth if page == graph.top or page in edges.entered]
    sites = {page: list(edges.inside[page]) for page in candidates if edges.inside[page] or page == graph.top}
    placed = set(sites).union(*sites.values())
    for page in graph.by_depth:
        if page not in placed:
            host = _top_of(graph, page, sites)
            members = sites.setdefault(host, [])
            if page != host:
                members.append(page)
    order = sorted(sites, key=lambda page: (graph.depth[page], page))
    return [Division((top,), tuple(sites[top])) for top in order]


def above(graph: SiteGraph, sites: Sequence[Division]) -> list[set[int]]:
    """Return, for each site, the numbers of the sites above it. They hold a page that links to one of its
    tops.
    """
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for number, site in enumerate(sites):
        for page in (*site.tops, *site.members):
            holders[page].add(number)
    members = []
    for number, site in enumerate(sites):
        linking = {parent for top in site.tops for parent in graph.edges.parents[top]}
        members.append(set().union(*(holders[parent] for parent in linking)) - {number})
    return members


def _top_of(graph: SiteGraph, page: str, sites: Mapping[str, Sequence[str]]) -> str:
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
    tops = [candidate for candidate in sites if graph.directory[candidate] == directory]
    return min(tops, key=lambda candidate: (graph.depth[candidate], candidate)) if tops else page
