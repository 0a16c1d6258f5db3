"""Methods A, B and C: fetch the tops of every group, then the members of groups with a changed top. Pure."""

from __future__ import annotations

from recrawl.division import PageGroup, by_directory, by_links, groups_above
from recrawl.methods.base import Method, unfetched
from recrawl.structure import SiteGraph
from recrawl.visiting.known_server import KnownServer, OpenVisit


class ByDirectory(Method):
    """Method A: groups are directories."""

    name = "A"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        return _tops_then_members(server.derived(by_directory), server, visit)


class ByLinks(Method):
    """Method B: each page with links from other directories is the top of a group."""

    name = "B"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        return _tops_then_members(server.derived(by_links), server, visit)


class ByLinksGated(Method):
    """Method C: as B, but a group is checked only if a group above it has changed. The group of the server's
    top page is always checked.
    """

    name = "C"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        groups, over = server.derived(_groups_and_those_above)
        changed = {number for number, group in enumerate(groups) if _changed(group, visit)}
        tops: list[str] = []
        members: list[str] = []
        for number, group in enumerate(groups):
            if server.top in group.tops or over[number] & changed:
                tops += group.tops
            if number in changed:
                members += group.members
        return unfetched(tops, server, visit) or unfetched(members, server, visit)


def _groups_and_those_above(graph: SiteGraph) -> tuple[list[PageGroup], list[set[int]]]:
    groups = by_links(graph)
    return groups, groups_above(graph, groups)


def _tops_then_members(groups: list[PageGroup], server: KnownServer, visit: OpenVisit) -> list[str]:
    tops = [top for group in groups for top in group.tops]
    members = [page for group in groups if _changed(group, visit) for page in group.members]
    return unfetched(tops, server, visit) or unfetched(members, server, visit)


def _changed(group: PageGroup, visit: OpenVisit) -> bool:
    return any(visit.changed(top) for top in group.tops)
