"""A server's pages as a graph: depth from its top page, and directories. Pure.

Terms of Kumagai and Yamana 2004 (sections 5.1, 5.2): the top page has depth 1, every link adds 1 along the
shortest path, and links are followed eleven times.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

MOST_LINKS = 11
DEEPEST = 16
"""So many slashes of a directory's name are looked at; URLs have room for a thousand."""
_INDEX = re.compile(r"(?:index|default|home|welcome)(?:\.[A-Za-z0-9]{1,6})*", re.IGNORECASE)


def raw_directory(path: str) -> str:
    """The part of a path up to its last slash, query and fragment left out: `a/b/` for `a/b/c.html?x`."""
    path = path.partition("#")[0].partition("?")[0]
    return path[: path.rfind("/") + 1]


def parent_directory(name: str) -> str:
    """The directory above: `a/` for `a/b/`, "" for `a/`."""
    return name[: name.rstrip("/").rfind("/") + 1]


def shallow(name: str) -> str:
    """A directory, or that above it at DEEPEST: what goes up from page to root must end on hostile paths."""
    end = 0
    for _ in range(DEEPEST):
        end = name.find("/", end) + 1
        if not end:
            return name
    return name[:end]


def is_index(path: str) -> bool:
    """Whether a path is its directory's own page: `a/`, `a/index.html`, `a/default.aspx`."""
    plain = path.partition("#")[0].partition("?")[0]
    name = plain[plain.rfind("/") + 1 :]
    return not name or _INDEX.fullmatch(name) is not None


def directories(paths: Iterable[str]) -> dict[str, str]:
    """The directory of every page; one that holds an index page only is a page of its parent directory."""
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        inside[raw_directory(path)].append(path)
    found = {}
    for name, pages in inside.items():
        alone = len(pages) == 1 and is_index(pages[0]) and name.strip("/")
        parent = parent_directory(name) if alone else name
        for page in pages:
            found[page] = parent
    return found


@dataclass(frozen=True, slots=True)
class Edges:
    """Of every page the pages that link to it, the shallowest first, and those of its own directory that it
    links to; the pages that other directories link to.
    """

    parents: dict[str, list[str]]
    inside: dict[str, list[str]]
    entered: set[str]


@dataclass(slots=False)
class SiteGraph:
    """Pages with the pages they link to, and the top page. Links to pages that are not there are left out."""

    top: str
    links: Mapping[str, Sequence[str]] = field(repr=False)

    @cached_property
    def depth(self) -> dict[str, int]:
        """Depth of every page that the top page leads to, 1 for itself."""
        if self.top not in self.links:
            return {}
        found = {self.top: 1}
        shell = [self.top]
        for depth in range(2, MOST_LINKS + 2):
            following = []
            for page in shell:
                for target in self.links[page]:
                    if target not in found and target in self.links:
                        found[target] = depth
                        following.append(target)
            shell = following
        return found

    @cached_property
    def directory(self) -> dict[str, str]:
        """Directory of every page that has a depth."""
        return directories(self.depth)

    @cached_property
    def edges(self) -> Edges:
        """The links between pages that have a depth, each once; a page does not link to itself."""
        found = Edges({page: [] for page in self.depth}, {}, set())
        directory, parents, entered = self.directory, found.parents, found.entered
        for page in self.by_depth:
            own = directory[page]
            targets = [one for one in dict.fromkeys(self.links[page]) if one in directory and one != page]
            for target in targets:
                parents[target].append(page)
            inside = found.inside[page] = [target for target in targets if directory[target] == own]
            if len(inside) < len(targets):
                entered.update(target for target in targets if directory[target] != own)
        return found

    @cached_property
    def by_depth(self) -> list[str]:
        """Pages by depth, those of one depth by name."""
        return sorted(self.depth, key=lambda page: (self.depth[page], page))
