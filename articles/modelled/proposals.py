"""Labels for an article and rules for a page that a model proposes, as they stand in its answer. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

from crawler.text.characters import one_line

MAX_OWN, MAX_NEW = 5, 2
MAX_NEW_WORDS, MAX_NEW_CHARACTERS = 3, 40
_AROUND = re.compile(r"^[\s\-*•#\"'“”„‘’»«]*(?:[0-9]{1,2}[.)]\s+[\"'“”„‘’»«]*)?|[\s\"'“”„‘’»«.,;]*$")


def proposed_labels(
    answer_text: str, own_labels: Sequence[str], existing_labels: Collection[str]
) -> list[str]:
    """Return up to MAX_OWN labels of a person's own and MAX_NEW new ones, without those already given."""
    own_by_name = {label.casefold(): label for label in own_labels}
    without = {label.casefold() for label in existing_labels}
    chosen: list[str] = []
    new: list[str] = []
    for line in re.split(r"[\n,;]", answer_text):
        label = " ".join(_AROUND.sub("", line).split())
        if not label or label.casefold() in without:
            continue
        without.add(label.casefold())
        if label.casefold() in own_by_name:
            chosen.append(own_by_name[label.casefold()])
        elif len(label) <= MAX_NEW_CHARACTERS and len(label.split()) <= MAX_NEW_WORDS and ":" not in label:
            new.append(label)
    return chosen[:MAX_OWN] + new[:MAX_NEW]


PARTS = ("entry", "title", "link", "date", "image", "summary")
MAX_RULE = 300


def proposed_rules(answer_text: str) -> dict[str, str]:
    """Return the rules in an answer by the part they choose, {} where it names no list."""
    start, end = answer_text.find("{"), answer_text.rfind("}")
    try:
        data = json.loads(answer_text[start : end + 1])
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    rules = {
        part: one_line(data[part], MAX_RULE)
        for part in PARTS
        if isinstance(data.get(part), str) and data[part].strip()
    }
    return rules if "entry" in rules else {}
