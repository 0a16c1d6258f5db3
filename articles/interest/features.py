"""What an article is to the model: its keywords, categories, feed and author as named numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from sys import intern

MOST_KEYWORDS = 20
LONGEST_NAME = 120
KEYWORDS_TOGETHER = 2.0
"""Length of the vector of an article's keywords. Feed, category and author count 1 each; keywords come in
parts, and each recurs seldom, so that together they are given more."""

Keyword = tuple[str, float]

_MAILBOX = re.compile(r"\S+@\S+\s*\((.+)\)")


def features_of_article(
    *,
    feed: str = "",
    categories: Iterable[str] = (),
    author: str = "",
    keywords: Sequence[Keyword] = (),
) -> dict[str, float]:
    """Named values of one article; what is empty is left out.

    Several categories share the length 1. The weights of keywords are scaled to `KEYWORDS_TOGETHER`; terms
    that differ in case alone are one.
    """
    found: dict[str, float] = {}
    found.update(_scaled(_keyword_weights(keywords), "keyword", KEYWORDS_TOGETHER))
    found.update(_scaled(dict.fromkeys(filter(None, map(plain, categories)), 1.0), "category", 1.0))
    if feed:
        found[f"feed:{feed[:LONGEST_NAME]}"] = 1.0
    if name := author_name(author):
        found[f"author:{name}"] = 1.0
    return found


@lru_cache(100_000)
def plain(text: str) -> str:
    """A name without case and superfluous blanks."""
    return " ".join(text.split()).casefold()[:LONGEST_NAME]


def author_name(author: str) -> str:
    """An author's name in one spelling: "By Ada Lovelace" and "ada@example.org (Ada Lovelace)" are one."""
    mailbox = _MAILBOX.fullmatch(author.strip())
    return plain(mailbox[1] if mailbox else author).removeprefix("by ")


def _keyword_weights(keywords: Sequence[Keyword]) -> dict[str, float]:
    heaviest: dict[str, float] = {}
    for term, weight in keywords:
        name = plain(term)
        if name and math.isfinite(weight) and weight > heaviest.get(name, 0.0):
            heaviest[name] = weight
    kept = sorted(heaviest.items(), key=lambda item: (-item[1], item[0]))
    return dict(kept[:MOST_KEYWORDS])


def _scaled(values: Mapping[str, float], kind: str, length: float) -> dict[str, float]:
    """The values under their full names, scaled to one length (Euclidean). Articles share their names."""
    whole = math.hypot(*values.values())
    if not whole or not math.isfinite(whole):
        return {}
    return {intern(f"{kind}:{name}"): value * length / whole for name, value in values.items()}
