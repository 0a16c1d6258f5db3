"""Keywords of a text: term frequency against the document frequency of its language. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

VERSION = "1"
MAX_KEYWORDS = 12
MAX_TERMS = 400
"""Terms of an article that are counted and weighed: its most frequent."""
_IN_TITLE = 3.0
_FEW_DOCUMENTS = 20
"""Articles until which counts weigh less than the assumption that every word is rare."""


def frequencies(title: Iterable[str], text: Iterable[str]) -> dict[str, float]:
    """Count terms, those of the title threefold. Returns the MAX_TERMS most frequent."""
    counts: Counter[str] = Counter(text)
    for term in title:
        counts[term] += _IN_TITLE  # type: ignore[assignment]  # a Counter of floats
    # A page of a hundred thousand words would otherwise write as many counts.
    return dict(counts.most_common(MAX_TERMS))


def keywords(
    frequency: Mapping[str, float], documents: Mapping[str, int], total: int
) -> list[tuple[str, float]]:
    """Return the heaviest terms with weights whose squares add up to 1; ties go by name.

    `documents` holds the number of articles with each term, of `total` articles of the language.
    """
    weights = {
        # Logarithm: the tenth mention of a word says less than the first.
        term: (1 + math.log(max(count, 1.0)))
        * math.log((total + _FEW_DOCUMENTS) / (documents.get(term, 0) + 1))
        for term, count in frequency.items()
    }
    best = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_KEYWORDS]
    length = math.sqrt(sum(weight**2 for _, weight in best))
    return [(term, round(weight / length, 4)) for term, weight in best if weight > 0] if length else []
