"""Places of quotes in texts, and their marks in HTML: pure functions for highlights.

A highlight is kept as the W3C Web Annotation model has it: by its words with some words around them
(TextQuoteSelector), and by its place in the plain text (TextPositionSelector). The place is a hint: the words
decide, so that a highlight holds when the text is read anew. Source: https://www.w3.org/TR/annotation-model/
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from html import escape
from itertools import islice, pairwise

from lxml import etree, html

AROUND = 32
"""Characters before and after a quote that are kept."""
NEARLY = 0.8
"""Share of a quote's characters that a changed text must still have, in order, to be the place of it."""
MAX_COMPARED = 4_000
"""Characters of a quote that are compared letter by letter, which takes the square of it."""
MAX_TRIED = 20
ALONE = 12
"""Characters from which a quote is found by itself; a shorter one needs some of what was around it."""
MIN_AGREEING = 3
"""Characters around a short quote, of those that are known, that must still be there."""
# The browser's selection has no text of these, and positions are counted there as here.
_SILENT = {"script", "style", "template", "noscript", "svg", "iframe", "object", "video", "audio"}
_BLOCKS = ("p", "li", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "td", "figcaption", "dd")
_SPACE = re.compile(r"\s+")
_CLUSTER = re.compile("[^\u0300-\u036f][\u0300-\u036f]+|.", re.DOTALL)
_CONTINUES = re.compile("[\u0300-\u036f\u200d\ufe0f]")
_ALIKE = {
    **dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff"), ""),
    **dict.fromkeys(map(ord, "“”„«»"), '"'), **dict.fromkeys(map(ord, "‘’‚"), "'"),
    **dict.fromkeys(map(ord, "–‑"), "-"), **dict.fromkeys(map(ord, "•◦▪"), " "), ord("…"): "...",
}  # fmt: skip
"""Signs that people, browsers and editors put in each other's place, and those that nobody sees."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands in a text: `start` and `end` in characters, with what is around it."""

    start: int
    end: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark to set: its key, its place, and the class that colours it."""

    key: int
    start: int
    end: int
    style: str
    note: str = ""
    about: str = ""
    """A line below the note."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text of a tree: the element, whether it is its tail, and where it begins in the plain text."""

    element: html.HtmlElement
    is_tail: bool
    text: str
    start: int


def plain_text(body: str) -> str:
    """Return the text of an article's HTML as highlights count it: its texts one after the other."""
    root = _tree(body)
    return "" if root is None else "".join(piece.text for piece in _pieces(root))


def find(text: str, quote: str, *, before: str = "", after: str = "", near: int = 0) -> Place | None:
    """Return the place of a quote in a text, None where it is not.

    Of several the one with the most of what was around it, and the nearest to `near` among those; a short
    quote that has nothing of it any more is not found. Signs of `_ALIKE` count as equal. A quote whose words
    changed a little is found where NEARLY all of its characters still stand between what was around it.
    """
    pattern = _pattern(quote)
    if pattern is None:
        return None
    # Folding a text costs more than a search: only quotes that are not found as they stand need it.
    spots = [match.span() for match in pattern.finditer(text)] or _alike(text, quote)
    if spots:
        start, end = min(
            spots,
            key=lambda spot: (
                # Last resort are places that cut a letter from its accent, or an emoji in two.
                _cuts(text, *spot), -_agreement(text, spot[0], spot[1], before, after), abs(spot[0] - near)
            ),
        )  # fmt: skip
        context_length = len(_SPACE.sub("", before + after))
        # Short words stand in many places; without their surroundings they would mark anything.
        if len(quote) < ALONE and _agreement(text, start, end, before, after) < min(
            MIN_AGREEING, context_length
        ):
            return None
    elif (spot := _nearly(text, quote, before, after)) is not None:
        start, end = spot
    else:
        return None
    return Place(start, end, text[max(start - AROUND, 0) : start], text[end : end + AROUND])


def with_marks(body: str, marks: Sequence[Marked]) -> str:
    """Return HTML with a `mark` element around the text of each place; overlapping ones share their text.

    The first piece of each mark has the id `hKEY`; its note stands in an `aside` after the block around it.
    The HTML must be sanitised already.
    """
    root = _tree(body) if marks else None
    if root is None:
        return body
    by_start = sorted(marks, key=lambda mark: (mark.start, -mark.end))
    marked_keys: set[int] = set()
    # As a list: marks change the tree while it is walked.
    for piece in list(_pieces(root)):
        end = piece.start + len(piece.text)
        inside = [mark for mark in by_start if mark.start < end and mark.end > piece.start]
        if inside and piece.text.strip():
            _mark_piece(piece, inside, marked_keys)
    _set_notes(root, by_start)
    inner = escape(root.text or "", quote=False)
    return inner + "".join(html.tostring(child, encoding="unicode") for child in root)


def _set_notes(root: html.HtmlElement, marks: Sequence[Marked]) -> None:
    notes = {f"h{mark.key}": mark for mark in marks if mark.note}
    last: dict[html.HtmlElement, html.HtmlElement] = {}
    for element in [each for each in root.iter("mark") if each.get("id") in notes]:
        mark, block = notes[element.get("id")], element
        while block.getparent() is not root:
            block = block.getparent()
        aside = html.Element("aside", {"class": f"margin {mark.style}"})
        for text, style in ((mark.note, None), (mark.about, "quiet")):
            line = etree.SubElement(aside, "p")
            line.text = text
            if style:
                line.set("class", style)
        before = last.get(block, block)
        aside.tail, before.tail = before.tail, None
        root.insert(root.index(before) + 1, aside)
        last[block] = aside


def sentences(body: str) -> list[str]:
    """Return the sentences of an article's HTML, for people who mark without a pointer."""
    root = _tree(body)
    blocks = [] if root is None else list(root.iter(*_BLOCKS))
    inner = [block for block in blocks if not any(block.iterdescendants(*_BLOCKS))]
    texts = [block.text_content() for block in inner] or [plain_text(body)]
    return [sentence for text in texts for sentence in _sentences(" ".join(text.split()))]


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?…。！？])\s+", text) if part.strip()]


def _tree(body: str) -> html.HtmlElement | None:
    try:
        return html.fragment_fromstring(body, create_parent="div")
    except (etree.LxmlError, ValueError):
        return None


def _pieces(root: html.HtmlElement) -> Iterator[_Piece]:
    """Yield the texts of a tree in reading order, without those that no browser shows."""
    at = 0
    # A comment's tail is text of the page, too.
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        is_element = isinstance(element.tag, str)
        if event == "start" and is_element and element.tag not in _SILENT and element.text:
            yield _Piece(element, False, element.text, at)
            at += len(element.text)
        elif event != "start" and element is not root and element.tail:
            yield _Piece(element, True, element.tail, at)
            at += len(element.tail)


def _pattern(quote: str) -> re.Pattern[str] | None:
    """Return the expression for a quote in which every space may be another, or none between blocks."""
    words = quote.split()
    # Between blocks a selection has a line break where the text has nothing.
    return re.compile(r"\s*".join(map(re.escape, words))) if words else None


def _alike(text: str, quote: str) -> list[tuple[int, int]]:
    """Return the places of a quote that is spelt with other signs: quotation marks, soft hyphens, accents."""
    folded, starts, ends = _folded(text)
    # Past the cache of one text, which the quote would push out.
    pattern = _pattern(_folded.__wrapped__(quote)[0])
    spots = [] if pattern is None else [match.span() for match in pattern.finditer(folded)]
    return [(starts[start], ends[end - 1]) for start, end in spots]


@lru_cache(maxsize=1)  # one text is asked for with many quotes
def _folded(text: str) -> tuple[str, array[int], array[int]]:
    """Return a text with one spelling of each sign, and where its characters begin and end in it."""
    signs: list[str] = []
    starts, ends = array("I"), array("I")
    for cluster in _CLUSTER.finditer(text):
        for sign in unicodedata.normalize("NFC", cluster[0]).translate(_ALIKE):
            signs.append(sign)
            starts.append(cluster.start())
            ends.append(cluster.end())
    return "".join(signs), starts, ends


def _cuts(text: str, start: int, end: int) -> bool:
    """Return whether a place begins or ends within what people see as one sign."""
    is_joined = start > 0 and text[start - 1] == "\u200d"
    return is_joined or any(_CONTINUES.match(text, edge) for edge in (start, end))


def _agreement(text: str, start: int, end: int, before: str, after: str) -> int:
    """Return how many characters around a place are those that were around the quote."""
    text_side, quote_side = _SPACE.sub("", text[max(start - 2 * AROUND, 0) : start]), _SPACE.sub("", before)
    count = 0
    while count < min(len(text_side), len(quote_side)) and text_side[-1 - count] == quote_side[-1 - count]:
        count += 1
    text_side, quote_side = _SPACE.sub("", text[end : end + 2 * AROUND]), _SPACE.sub("", after)
    following = 0
    while following < min(len(text_side), len(quote_side)) and text_side[following] == quote_side[following]:
        following += 1
    return count + following


def _nearly(text: str, quote: str, before: str, after: str) -> tuple[int, int] | None:
    """Return the place between what was around a quote, if its words are nearly those.

    A quote at an end of the text has something on one side only, all of which must be there.
    """
    is_inside = bool(before.strip() and after.strip())
    part = AROUND // 2 if is_inside else AROUND
    head, tail = _pattern(before[-part:]), _pattern(after[:part])
    if (head is None and tail is None) or len(quote) > MAX_COMPARED:
        return None
    begins = [0] if head is None else [match.end() for match in islice(head.finditer(text), MAX_TRIED)]
    for begin in begins:
        # Bounded: a quote that is gone would be compared with the whole rest of the text.
        search_end = begin + 2 * len(quote) + AROUND
        last = tail.search(text, begin, search_end) if tail else None
        if last is None and (tail or len(text) > search_end):
            continue
        end = last.start() if last else len(text)
        inner = text[begin:end]
        start, end = begin + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())
        # autojunk leaves frequent letters out of texts of more than 200 characters.
        matcher = SequenceMatcher(None, text[start:end], quote, autojunk=False)
        same = sum(block.size for block in matcher.get_matching_blocks())
        if start < end and same >= NEARLY * max(len(quote), end - start):
            return start, end
    return None


def _mark_piece(piece: _Piece, marks: Sequence[Marked], marked_keys: set[int]) -> None:
    """Put `mark` elements around the marked parts of a text."""
    bounds = sorted({0, len(piece.text)} | {
        min(max(edge - piece.start, 0), len(piece.text)) for mark in marks for edge in (mark.start, mark.end)
    })  # fmt: skip
    before: str = ""
    elements: list[html.HtmlElement] = []
    for start, end in pairwise(bounds):
        part = piece.text[start:end]
        here = [
            mark for mark in marks
            if mark.start - piece.start <= start and mark.end - piece.start >= end
        ]  # fmt: skip
        if not here or not part.strip():
            if elements:
                elements[-1].tail = (elements[-1].tail or "") + part
            else:
                before += part
            continue
        top = here[-1]
        element = html.Element("mark")
        element.set("class", top.style)
        element.set("data-highlight", str(top.key))
        if top.key not in marked_keys:
            element.set("id", f"h{top.key}")
            marked_keys.add(top.key)
        element.text = part
        elements.append(element)
    if not elements:
        return
    if piece.is_tail:
        parent = piece.element.getparent()
        piece.element.tail = before
        index = parent.index(piece.element) + 1
    else:
        parent, index = piece.element, 0
        parent.text = before
    for offset, element in enumerate(elements):
        tail = element.tail
        parent.insert(index + offset, element)
        element.tail = tail
