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

MAX_LINKS = 11
MAX_LEVELS = 16
"""Slashes of a directory name that are considered. URLs have room for a thousand."""
_INDEX = re.compile(r"(?:index|default|home|welcome)(?:\.[A-Za-z0-9]{1,6})*", re.IGNORECASE)


def raw_directory(path: str) -> str:
    """Return a path up to its last slash, without query and fragment: `a/b/` for `a/b/c.html?x`."""
    path = path.partition("#")[0].partition("?")[0]
    return path[: path.rfind("/") + 1]


def parent_directory(name: str) -> str:
    """Return the directory above: `a/` for `a/b/`, "" for `a/`."""
    return name[: name.rstrip("/").rfind("/") + 1]


def shallow(name: str) -> str:
    """Return a directory, cut to MAX_LEVELS, so that walks from page to root end on hostile paths."""
    end = 0
    for _ in range(MAX_LEVELS):
        end = name.find("/", end) + 1
        if not end:
            return name
    return name[:end]


def is_index(path: str) -> bool:
    """Return whether a path is its directory's own page: `a/`, `a/index.html`, `a/default.aspx`."""
    plain = path.partition("#")[0].partition("?")[0]
    name = plain[plain.rfind("/") + 1 :]
    return not name or _INDEX.fullmatch(name) is not None


def directories(paths: Iterable[str]) -> dict[str, str]:
    """Return the directory of every page. One that holds only an index page is a page of its parent
    directory.
    """
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        inside[raw_directory(path)].append(path)
    directory_of = {}
    for name, pages in inside.items():
        alone = len(pages) == 1 and is_index(pages[0]) and name.strip("/")
        parent = parent_directory(name) if alone else name
        for page in pages:
            directory_of[page] = parent
    return directory_of


@dataclass(frozen=True, slots=True)
class Edges:
    """The links of every page: the pages that link to it, shallowest first (`parents`), and the pages of its
    own directory that it links to (`inside`); and the pages that other directories link to (`entered`).
    """

    parents: dict[str, list[str]]
    inside: dict[str, list[str]]
    entered: set[str]


@dataclass(slots=False)
class SiteGraph:
    """Pages with the pages they link to, and the top page. Links to unknown pages are ignored."""

    top: str
    links: Mapping[str, Sequence[str]] = field(repr=False)

    @cached_property
    def depth(self) -> dict[str, int]:
        """Return the depth of every page reachable from the top page, which has depth 1."""
        if self.top not in self.links:
            return {}
        depths = {self.top: 1}
        shell = [self.top]
        for depth in range(2, MAX_LINKS + 2):
            following = []
            for page in shell:
                for target in self.links[page]:
                    if target not in depths and target in self.links:
                        depths[target] = depth
                        following.append(target)
            shell = following
        return depths

    @cached_property
    def directory(self) -> dict[str, str]:
        """Return the directory of every page that has a depth."""
        return directories(self.depth)

    @cached_property
    def edges(self) -> Edges:
        """Return the links between pages that have a depth, each once, without links of a page to itself."""
        edges = Edges({page: [] for page in self.depth}, {}, set())
        directory, parents, entered = self.directory, edges.parents, edges.entered
        for page in self.by_depth:
            page_directory = directory[page]
            targets = [
                target for target in dict.fromkeys(self.links[page]) if target in directory and target != page
            ]
            for target in targets:
                parents[target].append(page)
            inside = edges.inside[page] = [
                target for target in targets if directory[target] == page_directory
            ]
            if len(inside) < len(targets):
                entered.update(target for target in targets if directory[target] != page_directory)
        return edges

    @cached_property
    def by_depth(self) -> list[str]:
        """Return pages by depth, then by name."""
        return sorted(self.depth, key=lambda page: (self.depth[page], page))
