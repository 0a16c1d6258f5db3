"""A reader of the loose HTML of bookmark files, whose titles and notes may hold unescaped markup. Pure.

These files are no documents: elements are not closed, an open <script> stands in a description, folders are
nested by the hundred. HTML parsers, lxml's too, repair that by moving or dropping text, so only the tags that
carry meaning here are taken as tags, and all others are text. Time is linear in the length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from articles.saved.formats.values import unescaped

_TAG = re.compile(
    r"<(/?)(a|dl|dt|dd|h[1-6]|ul|ol|li|p|hr|br|title|head|body|html|meta|link|post"
    r"|b|i|u|em|strong|font|span|img|small)"
    r"(?=[\s/>])|<!--|<!",
    re.IGNORECASE,
)
_GAP = re.compile(r"[\s/]*")
_NAME = re.compile(r"([^\s=>\"'/]+)(\s*=\s*)?")
_BARE = re.compile(r"[^\s>]*")
_UNQUOTED_NEXT = re.compile(r"\s+[A-Za-z_]{2,20}=$")
"""The next attribute's name inside a value: the quotation mark before it is missing."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag: its name in lower case, whether it closes, and its attributes by name in lower case."""

    name: str
    closes: bool
    line: int
    attributes: Mapping[str, str]


def pieces(text: str) -> Iterator[Tag | str]:
    """Yield the tags and the decoded texts between them, in order."""
    position, line, counted = 0, 1, 0
    while True:
        match = _TAG.search(text, position)
        if match is None:
            break
        if match.start() > position:
            yield unescaped(text[position : match.start()])
        if match[2] is None:
            position = _after_declaration(text, match)
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        attributes, position = _attributes(text, match.end())
        yield Tag(match[2].lower(), bool(match[1]), line, attributes)
    if position < len(text):
        yield unescaped(text[position:])


def _after_declaration(text: str, match: re.Match[str]) -> int:
    """Return where a comment or declaration ends. One without end is its first characters alone."""
    closing = "-->" if match[0] == "<!--" else ">"
    end = text.find(closing, match.end(), match.end() + 5000)
    return match.end() if end < 0 else end + len(closing)


def _attributes(text: str, position: int) -> tuple[dict[str, str], int]:
    """Read attributes up to the tag's end. Also returns the position behind it."""
    attributes: dict[str, str] = {}
    while True:
        gap = _GAP.match(text, position)
        position = gap.end() if gap else position
        if position >= len(text) or text[position] == ">":
            return attributes, position + 1
        match = _NAME.match(text, position)
        if match is None:
            position += 1
            continue
        position = match.end()
        value = ""
        if match[2]:
            value, position = _value(text, position)
        attributes.setdefault(match[1].lower(), unescaped(value).strip())


def _value(text: str, position: int) -> tuple[str, int]:
    quote = text[position : position + 1]
    if quote and quote in "\"'":
        end = text.find(quote, position + 1, position + 1_000_000)
        if end >= 0:
            overrun = _UNQUOTED_NEXT.search(text, max(position + 1, end - 40), end)
            return text[position + 1 : overrun.start() if overrun else end], end + 1
        position += 1
    match = _BARE.match(text, position)
    return (match[0], match.end()) if match else ("", position)
