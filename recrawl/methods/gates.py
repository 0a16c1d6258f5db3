"""The pages of a server by number, with their gates. Pure.

The gates of a page are the tops of its sites in division B. The gates of a top are the tops of the sites
above its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

import numpy as np

from recrawl.division import by_links
from recrawl.methods.arrays import Flags, Numbers
from recrawl.methods.sections import sections
from recrawl.structure import SiteGraph, shallow

_TOP = "top"
"""The top page's section. Other sections are named after directories, which end in a slash."""
_MAX_BYTES = 1_000_000
"""Bytes of masks that are unpacked at once. Unpacked they take eight times as much."""


@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """Pages numbered from 0 in the order in which the server stores them, with their sections and gates."""

    paths: list[str]
    number: dict[str, int]
    reached: Flags
    """Whether each page can be reached from the top page."""
    sections: list[str]
    section: Numbers
    """The number of each page's section. Pages without a depth count as pages of the root.

    The top page is a section of its own: it is fetched in most visits, and would dominate its section.
    """
    pages: Numbers = field(repr=False)
    tops: Numbers = field(repr=False)
    """The gate of each pair of page and gate; `pages` has the page. Pairs are ordered by page."""
    count: Numbers
    """The number of gates of each page."""
    behind: Numbers
    """The number of pages behind each page, as a gate."""

    def of(self, path: str) -> list[str]:
        """Return the gates of a page, by name."""
        number = self.number[path]
        first, last = np.searchsorted(self.pages, (number, number + 1))
        return sorted(self.paths[top] for top in self.tops[first:last].tolist())

    def count_of(self, chosen: Flags) -> Numbers:
        """Count the chosen gates of each page."""
        return np.bincount(self.pages[chosen[self.tops]], minlength=len(self.paths))

    def numbers(self, paths: Iterable[str]) -> list[int]:
        """Return the numbers of the known paths."""
        return [self.number[path] for path in paths if path in self.number]


def gates_of(graph: SiteGraph) -> Gates:
    """Build the gates of a graph. Pages outside its division have none."""
    paths = list(graph.links)
    number = {path: at for at, path in enumerate(paths)}
    names = [shallow(graph.directory.get(path, "")) for path in paths]
    section_of = sections(names)
    page_sections = [
        _TOP if path == graph.top else section_of[name] for path, name in zip(paths, names, strict=True)
    ]
    numbers = {name: at for at, name in enumerate(dict.fromkeys(page_sections))}
    pages, tops = _pairs(graph, number)
    return Gates(
        paths=paths,
        number=number,
        reached=np.array([path in graph.depth for path in paths], np.bool_),
        sections=list(numbers),
        section=np.array([numbers[name] for name in page_sections], np.int64),
        pages=pages,
        tops=tops,
        count=np.bincount(pages, minlength=len(paths)),
        behind=np.bincount(tops, minlength=len(paths)),
    )


def _pairs(graph: SiteGraph, number: dict[str, int]) -> tuple[Numbers, Numbers]:
    """Return all pairs of a page and one of its gates, ordered by page, as two arrays.

    Sites are bits of a mask: those of a page are the sites that hold it; those of a top, the sites that hold
    a page linking to it.
    """
    sites = by_links(graph)
    holders = dict.fromkeys(number, 0)
    # Bits of one number: a site of ten thousand pages has millions of pairs, which sets of names cannot hold.
    site_bits: dict[str, int] = {}
    for at, site in enumerate(sites):
        site_bits[site.tops[0]] = bit = 1 << at  # division B gives each one top
        for page in (*site.tops, *site.members):
            holders[page] |= bit

    def gate_mask(page: str) -> int:
        if page not in site_bits:
            return holders[page]
        leading = map(holders.__getitem__, graph.edges.parents[page])
        return reduce(or_, leading, holders[page]) & ~site_bits[page]

    paths, size = list(number), len(sites) // 8 + 1
    step = _MAX_BYTES // size + 1
    pages, site_numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start in range(0, len(paths), step):
        masks = b"".join([gate_mask(page).to_bytes(size, "little") for page in paths[start : start + step]])
        bits = np.unpackbits(np.frombuffer(masks, np.uint8).reshape(-1, size), axis=1, bitorder="little")
        rows, columns = np.nonzero(bits)
        pages.append(rows + start)
        site_numbers.append(columns)
    tops = np.array([number[page] for page in site_bits], np.int64)
    return np.concatenate(pages), tops[np.concatenate(site_numbers)]
