"""Which pages should name those that are new: indexes of the directories above them, and pages that list
their neighbours. Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.structure import SiteGraph, is_index, parent_directory, raw_directory, shallow

FEWEST, SHARE = 2, 0.3
"""So many of the pages beside a new one, and this part of them, a page links to that lists them."""


def naming_new(server: KnownServer, visit: OpenVisit) -> set[str]:
    """Pages that should name those which joined the copy in this visit, but for the top page."""
    new = visit.joined(server)
    return listings(server.graph, new) - {server.top} if new else set()


def listings(graph: SiteGraph, new: set[str]) -> set[str]:
    """Pages that should link to the new ones, as far as the graph's top page leads; these themselves are left
    out.
    """
    above = {name for path in new for name in _upwards(raw_directory(path))}
    found = set()
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for path in graph.links:
        name = raw_directory(path)
        if path in new or path not in graph.depth:
            continue
        if is_index(path) and next(_upwards(name)) in above:
            found.add(path)
        for one in _upwards(name):
            if one in above:
                inside[one].append(path)
    nearest = {next((one for one in _upwards(raw_directory(path)) if inside[one]), "") for path in new}
    for name in nearest:
        mates = inside[name]
        naming = Counter(parent for mate in mates for parent in graph.edges.parents[mate])
        found.update(page for page, count in naming.items() if count >= max(FEWEST, SHARE * len(mates)))
    return found - new


def _upwards(name: str) -> Iterator[str]:
    """A directory, as far as its name is looked at, and those above it, the root as the last."""
    name = shallow(name)
    while name.strip("/"):
        yield name
        name = parent_directory(name)
    yield ""
