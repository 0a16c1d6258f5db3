"""Language tags of feeds and pages in the form of BCP 47 that readers expect: `en`, `pt-BR`, `zh-Hant-TW`."""

from __future__ import annotations

import re

_TAG = re.compile(r"([a-z]{2,3})((?:[-_][a-z0-9]{2,8})*)", re.IGNORECASE)
_NOTHING = {"und", "mul", "mis", "zxx"}
_LONGEST = 20


def language_tag(text: str) -> str:
    """Normalise a tag. Returns "" for invalid ones (names of languages, x-default, C)."""
    match = _TAG.fullmatch(text.strip().split(".")[0][:35])
    if not match or match[1].lower() in _NOTHING:
        return ""
    subtags = re.split(r"[-_]", match[2])[1:]
    tag = "-".join([match[1].lower(), *map(_spelled, subtags)])
    return tag if len(tag) <= _LONGEST else match[1].lower()


def _spelled(subtag: str) -> str:
    """Spell regions in upper case, scripts with a capital, others in lower case (RFC 5646, 2.1.1)."""
    if len(subtag) == 2:
        return subtag.upper()
    return subtag.title() if len(subtag) == 4 and subtag.isalpha() else subtag.lower()
