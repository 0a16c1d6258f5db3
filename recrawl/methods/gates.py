"""The pages of a server by number, and which of them tell of which: its gates. Pure.

A page's gates are the tops of its sites in division B, of a top those of the sites above it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

import numpy as np

from recrawl.division import by_links
from recrawl.methods.arrays import Flags, Floats, Numbers, sums
from recrawl.methods.sections import sections
from recrawl.structure import SiteGraph, shallow

_TOP = "top"
"""The top page's section; names of others are directories, which end in a slash."""
_MOST_BYTES = 1_000_000
"""Masks that are spread out at once, in bytes; eight times as many when they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """Pages are numbered from 0 in the order in which the server stores them; so are sections."""

    paths: list[str]
    number: dict[str, int]
    place: Numbers
    """Of each page its place in the alphabet of paths."""
    reached: Flags
    """Of each page whether the top page leads to it."""
    sections: list[str]
    section: Numbers
    """Of each page the number of its section; pages without a depth are taken for pages of the root.

    The top page is a section of its own: it is fetched in most visits, and would speak for all beside it.
    """
    pages: Numbers = field(repr=False)
    tops: Numbers = field(repr=False)
    """Page and gate of each pair, by page."""
    count: Numbers
    """Of each page how many gates tell of it."""
    behind: Numbers
    """Of each page how many others it tells of."""

    def of(self, path: str) -> list[str]:
        """The gates of a page, by name."""
        number = self.number[path]
        first, last = np.searchsorted(self.pages, (number, number + 1))
        return sorted(self.paths[top] for top in self.tops[first:last].tolist())

    def count_of(self, chosen: Flags) -> Numbers:
        """Of each page how many of the chosen gates tell of it."""
        return np.bincount(self.pages[chosen[self.tops]], minlength=len(self.paths))

    def gathered(self, values: Floats) -> Floats:
        """For each gate the sum of what the pages behind it have, added up in their order."""
        return sums(self.tops, values[self.pages], len(self.paths))

    def numbers(self, paths: Iterable[str]) -> list[int]:
        """Of those that are known."""
        return [self.number[path] for path in paths if path in self.number]


def gates_of(graph: SiteGraph) -> Gates:
    """The gates of a graph, as far as its division goes."""
    paths = list(graph.links)
    number = {path: at for at, path in enumerate(paths)}
    place = np.empty(len(paths), np.int64)
    place[[number[path] for path in sorted(paths)]] = np.arange(len(paths))
    names = [shallow(graph.directory.get(path, "")) for path in paths]
    section_of = sections(names)
    own = [_TOP if path == graph.top else section_of[name] for path, name in zip(paths, names, strict=True)]
    numbers = {name: at for at, name in enumerate(dict.fromkeys(own))}
    pages, tops = _pairs(graph, number)
    return Gates(
        paths=paths,
        number=number,
        place=place,
        reached=np.array([path in graph.depth for path in paths], np.bool_),
        sections=list(numbers),
        section=np.array([numbers[name] for name in own], np.int64),
        pages=pages,
        tops=tops,
        count=np.bincount(pages, minlength=len(paths)),
        behind=np.bincount(tops, minlength=len(paths)),
    )


def _pairs(graph: SiteGraph, number: dict[str, int]) -> tuple[Numbers, Numbers]:
    """Each page with each top that tells of it, by page.

    Sites are bits of a mask: of one page that they hold, or of one that leads to a top.
    """
    sites = by_links(graph)
    holders = dict.fromkeys(number, 0)
    own: dict[str, int] = {}
    for at, site in enumerate(sites):
        own[site.tops[0]] = bit = 1 << at  # division B gives each one top
        for page in (*site.tops, *site.members):
            holders[page] |= bit

    def telling(page: str) -> int:
        if page not in own:
            return holders[page]
        leading = map(holders.__getitem__, graph.edges.parents[page])
        return reduce(or_, leading, holders[page]) & ~own[page]

    paths, size = list(number), len(sites) // 8 + 1
    step = _MOST_BYTES // size + 1
    pages, found = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start in range(0, len(paths), step):
        masks = b"".join([telling(page).to_bytes(size, "little") for page in paths[start : start + step]])
        bits = np.unpackbits(np.frombuffer(masks, np.uint8).reshape(-1, size), axis=1, bitorder="little")
        rows, columns = np.nonzero(bits)
        pages.append(rows + start)
        found.append(columns)
    tops = np.array([number[page] for page in own], np.int64)
    return np.concatenate(pages), tops[np.concatenate(found)]
