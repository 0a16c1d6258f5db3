"""Labels that a model proposes for an article, as they stand in its answer. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

MAX_OWN, MAX_NEW = 5, 2
MAX_NEW_WORDS, MAX_NEW_CHARACTERS = 3, 40
_AROUND = re.compile(r"^[\s\-*•#\"'“”„‘’»«]*(?:[0-9]{1,2}[.)]\s+[\"'“”„‘’»«]*)?|[\s\"'“”„‘’»«.,;]*$")


def proposed_labels(answer: str, own: Sequence[str], given: Collection[str]) -> list[str]:
    """Return up to MAX_OWN labels of a person's own and MAX_NEW new ones, without those already given."""
    known = {label.casefold(): label for label in own}
    without = {label.casefold() for label in given}
    chosen: list[str] = []
    new: list[str] = []
    for line in re.split(r"[\n,;]", answer):
        label = " ".join(_AROUND.sub("", line).split())
        if not label or label.casefold() in without:
            continue
        without.add(label.casefold())
        if label.casefold() in known:
            chosen.append(known[label.casefold()])
        elif len(label) <= MAX_NEW_CHARACTERS and len(label.split()) <= MAX_NEW_WORDS and ":" not in label:
            new.append(label)
    return chosen[:MAX_OWN] + new[:MAX_NEW]
