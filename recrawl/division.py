"""Divisions of a server into sites, each with top pages that tell of its members. Pure.

Methods A, B and C of Kumagai and Yamana 2004 (sections 5.2 to 5.4). What the paper leaves open: pages of one
least depth are all tops (A); a page that no top links to goes to its shallowest parent in its directory, else
to the top of its directory (B); a site is opened when any site above it has changed (C).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recrawl.structure import SiteGraph


@dataclass(frozen=True, slots=True)
class Division:
    """Pages that are looked at first, and those that are fetched when one of these has changed."""

    tops: tuple[str, ...]
    members: tuple[str, ...]


def by_directory(graph: SiteGraph) -> list[Division]:
    """Method A: a site for each directory; its shallowest pages are its tops."""
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for page in graph.by_depth:
        inside[graph.directory[page]].append(page)
    sites = []
    for pages in inside.values():
        least = graph.depth[pages[0]]
        tops = tuple(page for page in pages if graph.depth[page] == least)
        sites.append(Division(tops, tuple(pages[len(tops) :])))
    return sites


def by_links(graph: SiteGraph) -> list[Division]:
    """Method B: a site for each page that other directories link to, with what it links to in its own."""
    edges = graph.edges
    candidates = [page for page in graph.by_depth if page == graph.top or page in edges.entered]
    sites = {page: list(edges.inside[page]) for page in candidates if edges.inside[page] or page == graph.top}
    placed = set(sites).union(*sites.values())
    for page in graph.by_depth:
        if page not in placed:
            host = _host(graph, page, sites)
            members = sites.setdefault(host, [])
            if page != host:
                members.append(page)
    order = sorted(sites, key=lambda page: (graph.depth[page], page))
    return [Division((top,), tuple(sites[top])) for top in order]


def above(graph: SiteGraph, sites: Sequence[Division]) -> list[set[int]]:
    """For each site the numbers of those above it: they hold a page that links to one of its tops."""
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for number, site in enumerate(sites):
        for page in (*site.tops, *site.members):
            holders[page].add(number)
    found = []
    for number, site in enumerate(sites):
        linking = {parent for top in site.tops for parent in graph.edges.parents[top]}
        found.append(set().union(*(holders[parent] for parent in linking)) - {number})
    return found


def _host(graph: SiteGraph, page: str, sites: Mapping[str, Sequence[str]]) -> str:
    """Where a page goes that no top links to: its shallowest parent there, else its directory's top."""
    own = graph.directory[page]
    parent = next((one for one in graph.edges.parents[page] if graph.directory[one] == own), None)
    if parent is not None:
        return parent
    tops = [one for one in sites if graph.directory[one] == own]
    return min(tops, key=lambda one: (graph.depth[one], one)) if tops else page
