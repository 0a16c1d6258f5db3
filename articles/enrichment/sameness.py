"""Rules for two articles being one story: the same address, or the same text; never the title alone. Pure.

Splitting one story in two is better than merging two: each rule needs a second sign besides the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from articles.enrichment.fingerprints import MIN_SHINGLES, jaccard

VERSION = "1"
SAME_TEXT, SAME_TEXT_AND_TITLE = 0.7, 0.5
"""The Jaccard index of shingles from which two texts are one: with akin titles, and with like ones."""
AKIN = 0.34
"""The share of the shorter title's words in the other: lists under other headings have one text, too."""
WINDOW_DAYS = 14
_ALIKE_TITLES = 0.75
_CONTAINED = 0.5
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class StoryCandidate:
    """The features of an article that are compared before its text; `own` are the words of its entry in the
    feed.
    """

    feed: int
    title: frozenset[str]
    numbers: tuple[str, ...]
    own: frozenset[str] = frozenset()
    address: object = None


def numbers(title: str) -> tuple[str, ...]:
    """Return the numbers of a title in order. They distinguish issues, versions and parts of a series."""
    return tuple(_NUMBER.findall(title))


def same_text(first: frozenset[int], second: frozenset[int], threshold: float) -> float:
    """Return the Jaccard index of two texts' shingles, 0 where it is below `threshold`."""
    if min(len(first), len(second)) < MIN_SHINGLES:
        return 0.0
    likeness = jaccard(first, second)
    return likeness if likeness >= threshold else 0.0


def min_likeness(first: StoryCandidate, second: StoryCandidate) -> float | None:
    """Return the text similarity that two articles with these titles need to be one story.

    Returns None if the titles share hardly a word, or number different issues of a series.
    """
    akin = _overlap(first.title, second.title)
    if told_apart(first, second) or akin < AKIN:
        return None
    return SAME_TEXT_AND_TITLE if akin >= _ALIKE_TITLES else SAME_TEXT


def told_apart(first: StoryCandidate, second: StoryCandidate) -> bool:
    """Return whether both titles have numbers and these differ, as in issues of a series or versions of a
    program.
    """
    return bool(first.numbers and second.numbers and first.numbers != second.numbers)


def same_address(first: StoryCandidate, second: StoryCandidate) -> bool:
    """Return whether two entries of different feeds with one address are one story.

    Comments on a page have its address, too, so either the titles or the entries' own words must be alike.
    """
    if (
        first.address is None
        or first.address != second.address
        or first.feed == second.feed
        or told_apart(first, second)
    ):
        return False
    titles = len(first.title & second.title) / max(len(first.title | second.title), 1)
    return titles >= _ALIKE_TITLES or _overlap(first.own, second.own) >= _CONTAINED


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of the smaller set that is in the larger."""
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0
