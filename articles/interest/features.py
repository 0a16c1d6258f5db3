"""Features of an article: its keywords, categories, feed and author as named numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from sys import intern

from crawler.text.bylines import plain_byline

MAX_KEYWORDS = 20
MAX_NAME_LENGTH = 120
KEYWORDS_TOGETHER = 2.0
"""Length of the vector of an article's keywords. Feed, category and author count 1 each; keywords come in
parts, and each recurs seldom, so that together they are given more."""

Keyword = tuple[str, float]


def features_of_article(
    *,
    feed: str = "",
    categories: Iterable[str] = (),
    author: str = "",
    keywords: Sequence[Keyword] = (),
) -> dict[str, float]:
    """Return the features of an article by name, without those of empty fields.

    Several categories share the length 1. The weights of keywords are scaled to `KEYWORDS_TOGETHER`; terms
    that differ only in case are merged.
    """
    features: dict[str, float] = {}
    features.update(_scaled(_keyword_weights(keywords), "keyword", KEYWORDS_TOGETHER))
    features.update(_scaled(dict.fromkeys(filter(None, map(plain, categories)), 1.0), "category", 1.0))
    if feed:
        features[f"feed:{feed[:MAX_NAME_LENGTH]}"] = 1.0
    if name := author_name(author):
        features[f"author:{name}"] = 1.0
    return features


@lru_cache(100_000)
def plain(text: str) -> str:
    """Normalise a name: case-folded, without superfluous blanks, at most MAX_NAME_LENGTH characters."""
    return " ".join(text.split()).casefold()[:MAX_NAME_LENGTH]


def author_name(author: str) -> str:
    """Normalise an author's name: "By Ada Lovelace" and "ada@example.org (Ada Lovelace)" become the same."""
    return plain(plain_byline(author)).removeprefix("by ")


def _keyword_weights(keywords: Sequence[Keyword]) -> dict[str, float]:
    heaviest: dict[str, float] = {}
    for term, weight in keywords:
        name = plain(term)
        if name and math.isfinite(weight) and weight > heaviest.get(name, 0.0):
            heaviest[name] = weight
    heaviest_first = sorted(heaviest.items(), key=lambda item: (-item[1], item[0]))
    return dict(heaviest_first[:MAX_KEYWORDS])


def _scaled(values: Mapping[str, float], kind: str, length: float) -> dict[str, float]:
    """Scale the values to one Euclidean length, under their full names. Names are interned, as articles share
    them.
    """
    whole = math.hypot(*values.values())
    if not whole or not math.isfinite(whole):
        return {}
    return {intern(f"{kind}:{name}"): value * length / whole for name, value in values.items()}
