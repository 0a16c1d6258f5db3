"""Sections: groups of pages that are counted together. A section is a directory, or the one above where
directories are small. Pure.

Many sites give every article a directory of its own, so that one page would say nothing about any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from recrawl.structure import parent_directory

MIN_PAGES = 8
"""A directory with fewer pages belongs to the section above."""


def sections(names: Iterable[str]) -> dict[str, str]:
    """Map every directory to the directory that its section is named after.

    `names` has the directory of each page, cut by `structure.shallow` because every directory above is
    visited. Works bottom up: a directory that holds fewer than MIN_PAGES pages, including joined
    subdirectories, joins the one above.
    """
    pages = Counter(names)
    directories = list(pages)
    above: dict[str, str] = {}
    for name in sorted(_with_parents(directories), key=lambda name: (-name.count("/"), name)):
        if pages[name] < MIN_PAGES and name.strip("/"):
            above[name] = parent_directory(name)
            pages[above[name]] += pages[name]
    return {name: _section_of(above, name) for name in directories}


def _with_parents(names: Iterable[str]) -> set[str]:
    waiting = list(names)
    directories = set(waiting)
    while waiting:
        above = parent_directory(waiting.pop())
        if above.strip("/") and above not in directories:
            directories.add(above)
            waiting.append(above)
    return directories


def _section_of(above: dict[str, str], name: str) -> str:
    while name in above:
        name = above[name]
    return name
