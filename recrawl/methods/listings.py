"""Pages that should name new pages: indexes of the directories above them, and pages that list their
neighbours. Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from recrawl.structure import SiteGraph, is_index, parent_directory, raw_directory, shallow
from recrawl.visiting.known_server import KnownServer, OpenVisit

MIN_LINKS, MIN_SHARE = 2, 0.3
"""A page that links to this number, and this share, of the pages beside a new page lists them."""


def naming_new(server: KnownServer, visit: OpenVisit) -> set[str]:
    """Return the pages, except the top page, that should name pages first stored in this visit."""
    new = visit.joined(server)
    return listings(server.graph, new) - {server.top} if new else set()


def listings(graph: SiteGraph, new: set[str]) -> set[str]:
    """Return the pages that should link to the `new` pages, among pages reachable from the top page. The new
    pages themselves are left out.
    """
    above = {name for path in new for name in _upwards(raw_directory(path))}
    listing_pages = set()
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for path in graph.links:
        name = raw_directory(path)
        if path in new or path not in graph.depth:
            continue
        # An index above a new page is where a site would name it, whatever it links to now.
        if is_index(path) and next(_upwards(name)) in above:
            listing_pages.add(path)
        for directory in _upwards(name):
            if directory in above:
                inside[directory].append(path)
    nearest_directories = {
        next((directory for directory in _upwards(raw_directory(path)) if inside[directory]), "")
        for path in new
    }
    for name in nearest_directories:
        neighbours = inside[name]
        naming = Counter(parent for neighbour in neighbours for parent in graph.edges.parents[neighbour])
        listing_pages.update(
            page for page, count in naming.items() if count >= max(MIN_LINKS, MIN_SHARE * len(neighbours))
        )
    return listing_pages - new


def _upwards(name: str) -> Iterator[str]:
    """Yield a directory, shortened by `shallow`, and all directories above it, the root ("") last."""
    name = shallow(name)
    while name.strip("/"):
        yield name
        name = parent_directory(name)
    yield ""
