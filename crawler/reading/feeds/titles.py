"""Titles and names as one line of plain text, whatever they were escaped as.

Nothing in a feed says reliably whether a title is text or HTML. So only what works as markup is taken for
it: `<b>bold</b>` loses its tags, "The <b> element" and "std::vector<int>" keep theirs.
"""

from __future__ import annotations

import html
import re
from typing import Literal

from crawler.reading.feeds.markup import BLOCK, INLINE, REFERENCE, shown
from crawler.text.characters import storable

Kind = Literal["", "text", "html"]
"""What the feed calls it: "" for RSS, which says nothing, and for what is declared by default."""

_MAX_LINE_CHARACTERS = 8_000
_TAG = re.compile(rf"<(/?)({INLINE}|{BLOCK})((?:\s[^<>]*)?)/?>", re.IGNORECASE)
_BLOCKS = frozenset(BLOCK.split("|"))
# These need no end, so that one of them alone may be markup.
_VOID = {"br", "hr", "img", "wbr"}
_OPEN_ENDED = {"p", "li", "dt", "dd", "td", "th", "tr", "option"}


def plain_line(text: str, kind: Kind = "") -> str:
    """Convert a title to one line of plain text, without working markup and with references undone.

    Titles declared as text keep everything that looks like a tag. Titles declared as HTML keep tags that
    appear only after their references are undone.
    """
    text = text[:_MAX_LINE_CHARACTERS]
    if kind != "text" and "<" in text:
        text = _unmarked(shown(text))
    # Twice at most, or "&amp;amp;lt;" in a title about HTML would vanish.
    for _ in range(2):
        if "&" not in text or not REFERENCE.search(text):
            break
        text = html.unescape(text)
        # RSS does not say what its titles are (simplepie 637).
        if kind == "" and "<" in text:
            text = _unmarked(text)
    return " ".join(storable(text).split())


def _unmarked(text: str) -> str:
    """Return the text without the tags that do something; a space stands for those that break a line."""
    tags = list(_TAG.finditer(text))
    working = _paired(tags) | {n for n, tag in enumerate(tags) if _works_alone(text, tag)}
    pieces, position = [], 0
    for number, tag in enumerate(tags):
        if number in working:
            pieces += [text[position : tag.start()], " " if tag[2].lower() in _BLOCKS else ""]
            position = tag.end()
    return "".join([*pieces, text[position:]])


def _paired(tags: list[re.Match[str]]) -> set[int]:
    """Return the indexes of the tags that open or close something in pairs."""
    open_tags: dict[str, list[int]] = {}
    paired: set[int] = set()
    for number, tag in enumerate(tags):
        waiting = open_tags.setdefault(tag[2].lower(), [])
        if not tag[1]:
            waiting.append(number)
        elif waiting:
            paired |= {waiting.pop(), number}
    return paired


def _works_alone(text: str, tag: re.Match[str]) -> bool:
    """Return whether a tag without its counterpart works as markup and is no part of a sentence.

    `<br>` and tags with attributes; ends and beginnings of blocks around a title that was cut; those that
    need no end, unless they stand between spaces as words do.
    """
    name = tag[2].lower()
    if tag[3].strip() or name in ("br", "wbr"):
        return True
    before, behind = text[tag.start() - 1 : tag.start()] or " ", text[tag.end() : tag.end() + 1] or " "
    if tag[1]:
        return tag.end() >= len(text.rstrip())
    if name in _BLOCKS and tag.start() <= len(text) - len(text.lstrip()):
        return True
    word = before.isspace() and (behind.isspace() or behind in ".,;:!?)")
    return name in _VOID | _OPEN_ENDED and not word
