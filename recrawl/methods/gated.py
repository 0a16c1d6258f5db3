"""Methods A, B and C: fetch the tops of every site, then the members of sites whose top has changed. Pure."""

from __future__ import annotations

from recrawl.division import Division, above, by_directory, by_links
from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.base import Method, unfetched
from recrawl.structure import SiteGraph


class ByDirectory(Method):
    """Method A: sites are directories."""

    name = "A"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        return _tops_then_members(server.derived(by_directory), server, visit)


class ByLinks(Method):
    """Method B: sites are pages that other directories link to."""

    name = "B"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        return _tops_then_members(server.derived(by_links), server, visit)


class ByLinksGated(Method):
    """Method C: as B, but a site is checked only if a site above it has changed. The top page's site is
    always checked.
    """

    name = "C"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        sites, over = server.derived(_sites_and_those_above)
        changed = {number for number, site in enumerate(sites) if _changed(site, visit)}
        tops: list[str] = []
        members: list[str] = []
        for number, site in enumerate(sites):
            if server.top in site.tops or over[number] & changed:
                tops += site.tops
            if number in changed:
                members += site.members
        return unfetched(tops, server, visit) or unfetched(members, server, visit)


def _sites_and_those_above(graph: SiteGraph) -> tuple[list[Division], list[set[int]]]:
    sites = by_links(graph)
    return sites, above(graph, sites)


def _tops_then_members(sites: list[Division], server: KnownServer, visit: OpenVisit) -> list[str]:
    tops = [top for site in sites for top in site.tops]
    members = [page for site in sites if _changed(site, visit) for page in site.members]
    return unfetched(tops, server, visit) or unfetched(members, server, visit)


def _changed(site: Division, visit: OpenVisit) -> bool:
    return any(visit.changed(top) for top in site.tops)
