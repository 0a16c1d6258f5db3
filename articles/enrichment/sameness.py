"""When two articles are one story: the same address, or the same text; never the title alone. Pure.

Better two stories for one than one for two: each rule asks for a second sign before it believes the first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from articles.enrichment.fingerprints import LEAST_SHINGLES, jaccard

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
    """What is compared of articles before their texts; `own` are the words that the feed itself has."""

    feed: int
    title: frozenset[str]
    numbers: tuple[str, ...]
    own: frozenset[str] = frozenset()
    address: object = None


def numbers(title: str) -> tuple[str, ...]:
    """The numbers of a title in their order: what tells issues, versions and parts of a series apart."""
    return tuple(_NUMBER.findall(title))


def same_text(one: frozenset[int], other: frozenset[int], least: float) -> float:
    """The likeness of two texts, given as shingles, where it is at least so much; else 0."""
    if min(len(one), len(other)) < LEAST_SHINGLES:
        return 0.0
    found = jaccard(one, other)
    return found if found >= least else 0.0


def least_likeness(one: StoryCandidate, other: StoryCandidate) -> float | None:
    """How like their texts must be for one story, by their titles; None where nothing would do.

    That is where the titles have hardly a word in common, or count differently: issues of a series.
    """
    akin = _overlap(one.title, other.title)
    if told_apart(one, other) or akin < AKIN:
        return None
    return SAME_TEXT_AND_TITLE if akin >= _ALIKE_TITLES else SAME_TEXT


def told_apart(one: StoryCandidate, other: StoryCandidate) -> bool:
    """Whether their titles count differently: issues of a series, versions of a program."""
    return bool(one.numbers and other.numbers and one.numbers != other.numbers)


def same_address(one: StoryCandidate, other: StoryCandidate) -> bool:
    """Whether two entries with one address are one story: comments on a page have its address, too.

    Either their titles are alike, or what the feeds themselves say of them is.
    """
    if (
        one.address is None
        or one.address != other.address
        or one.feed == other.feed
        or told_apart(one, other)
    ):
        return False
    titles = len(one.title & other.title) / max(len(one.title | other.title), 1)
    return titles >= _ALIKE_TITLES or _overlap(one.own, other.own) >= _CONTAINED


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set in the larger."""
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0
