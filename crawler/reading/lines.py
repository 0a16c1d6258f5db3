"""A page's text as lines, each marked as content or not, and which of them count. Pure.

A terminal reads lines from HTML: what stands in navigation, headers, footers and buttons is boilerplate, what
an ignore rule's selector matches is ignored; both are kept with their mark, so that a change of them stays
on record. Whether a line counts is decided where the rules are: lines that most pages of a site share, digits
left aside, are its template; lines that a person's expression matches are left out.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from cssselect import SelectorError
from lxml import etree, html
from lxml.cssselect import CSSSelector

from crawler.reading.inflate import inflated
from crawler.reading.limits import LIMITS
from crawler.text.patterns import PatternAllowance, compiled
from crawler.text.reasons import Reason

CONTENT, BOILERPLATE, IGNORED = " ", "~", "-"
"""The marks of lines."""

MAX_SELECTED = 20_000
"""Elements of a page on which selectors are tried: siblings cost the square of their number."""

MIN_PAGES, SHARE_OF_PAGES = 5, 0.6
"""A line is template when so many pages have it, and such a share of them."""

_SKIPPED = {"script", "style", "template", "noscript", "svg", "iframe", "object", "head", "canvas", "math"}
_APART = {"nav", "header", "footer", "aside", "button", "select", "option", "dialog"}
_ROLES = {"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar"}
_NAMES = {
    "nav", "navbar", "navigation", "menu", "sidebar", "footer", "header", "breadcrumb", "breadcrumbs",
    "copyright", "masthead", "toolbar", "page-footer", "page-header", "site-footer", "site-header",
}  # fmt: skip
_WHOLE = {"html", "body", "main", "article"}
_BLOCKS = {
    "p", "div", "li", "br", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "pre", "blockquote", "section", "hr",
    "article", "dt", "dd", "table", "ul", "ol", "dl", "figcaption", "figure", "main", "form", "fieldset",
    "address", "summary", "details", "caption", "title", "center", "body",
} | _APART  # fmt: skip
_CELLS = {"td", "th"}
_PREFORMATTED = {"pre", "textarea", "listing", "xmp", "plaintext"}
"""Elements whose line ends are shown as such."""
_NOT = re.compile(r":not\(", re.IGNORECASE)
_SIGNS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\\.|[][(),]")
_VALUES = {"meta": "content", "link": "href", "img": "src"}
"""The attributes that a chosen element without text stands for."""
# Soft hyphens and zero-width spaces come and go with a site's software; each would be an edit.
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
"""Characters without width. Joiners stay between letters that may need them, and in emoji."""
_VARYING = re.compile(r"\S*\d\S*")


class SelectorFault(ValueError):
    """An error about an invalid CSS selector, with the reason."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of a page that do not count: template shapes and expressions; and the smallest change.

    `least` is the number of characters that must have come or gone. With `whole`, boilerplate counts, too.
    The time of the expressions is bounded over all pages that are judged by one object.
    """

    template: Collection[int] = field(default_factory=frozenset)
    patterns: tuple[str, ...] = ()
    least: int = 0
    whole: bool = False
    _allowance: PatternAllowance = field(default_factory=PatternAllowance, compare=False, repr=False)

    def counting(self, lines: Sequence[str]) -> list[str]:
        """Return the text of the lines that count, or of all lines not ignored if none counts."""
        unmatched = [line for line in lines if line[0] != IGNORED and not self._matched(line[1:])]
        if self.whole:
            return [line[1:] for line in unmatched]
        counted = [
            line[1:] for line in unmatched if line[0] == CONTENT and shape(line[1:]) not in self.template
        ]
        # A page of nothing but template lines would otherwise never change.
        return counted or [line[1:] for line in unmatched]

    def _matched(self, text: str) -> bool:
        return self._allowance.any_found(map(compiled, self.patterns), text)


def usable_selector(selector: str) -> CSSSelector:
    """Compile the selector. Raises SelectorFault."""
    if len(selector) > 500:
        raise SelectorFault(Reason("a selector is longer than {0} characters", 500))
    try:
        return CSSSelector(flat_negations(selector), translator="html")
    except (SelectorError, etree.XPathError, ValueError) as error:
        raise SelectorFault(Reason("{0} is no CSS selector: {1}", repr(selector[:100]), error)) from error


def flat_negations(selector: str) -> str:
    """Return a selector with `:not(a):not(b)` for `:not(a, b)`, which cssselect does not know."""
    pieces: list[str] = []
    while (opened := _NOT.search(selector)) is not None:
        arguments, remainder = _arguments(selector[opened.end() :])
        if remainder is None:
            break
        pieces.append(selector[: opened.start()])
        pieces += [f":not({flat_negations(argument)})" for argument in arguments]
        selector = remainder
    return "".join([*pieces, selector])


def _arguments(text: str) -> tuple[list[str], str | None]:
    """Return what stands before each comma and the closing bracket, and the rest; None for it without one."""
    arguments, begin, depth = [], 0, 0
    for sign in _SIGNS.finditer(text):
        depth += (sign[0] in "([") - (sign[0] in ")]")
        if depth < 0 or (sign[0] == "," and not depth):
            arguments.append(text[begin : sign.start()].strip())
            begin = sign.end()
        if depth < 0:
            return arguments, text[begin:]
    return [], None


def read_lines(root: html.HtmlElement, selectors: Iterable[str] = ()) -> list[str]:
    """Return the marked lines of a page, its title first, without selectors too slow for its size.

    Text beyond LIMITS.text characters is cut, so that it can be `unpacked`.
    """
    ignored = _selected(root, selectors)
    titles = ((title.text or "")[: LIMITS.title] for title in root.iter("title"))
    lines = [line for title in titles for line in _line(CONTENT, title)][:1]
    size = 0
    for mark, text in _blocks(_pieces(root, ignored)):
        new_lines = _line(mark, text[: LIMITS.text - size])
        lines += new_lines
        size += sum(map(len, new_lines))
        if size >= LIMITS.text:
            break
    return lines


def element_lines(
    root: html.HtmlElement, elements: Sequence[html.HtmlElement], selectors: Iterable[str] = ()
) -> list[str]:
    """Return the marked lines of some elements of a page, each once. All but what is ignored is content."""
    ignored = _selected(root, selectors)
    chosen = set(elements)
    lines: list[str] = []
    size = 0
    for element in elements:
        # An element within another chosen one would be read twice.
        if any(above in chosen for above in element.iterancestors()):
            continue
        for mark, text in _blocks(_chosen_pieces(element, ignored)):
            new_lines = _line(IGNORED if mark == IGNORED else CONTENT, text[: LIMITS.text - size])
            lines += new_lines
            size += sum(map(len, new_lines))
            if size >= LIMITS.text:
                return lines
    return lines


def markup_lines(elements: Sequence[html.HtmlElement]) -> list[str]:
    """Return a content line for each element with its attributes, sorted by name, and for each text."""
    lines: list[str] = []
    size = 0
    for top in elements:
        for element in top.iter():
            if not isinstance(element.tag, str):
                continue
            # Frameworks write attributes in another order with each build.
            words = [element.tag, *(f'{name}="{value}"' for name, value in sorted(element.items()))]
            texts = [f"<{' '.join(words)}>", element.text or ""]
            texts.append((element.tail or "") if element is not top else "")
            new_lines = [line for text in texts for line in _line(CONTENT, text[: LIMITS.text - size])]
            lines += new_lines
            size += sum(map(len, new_lines))
            if size >= LIMITS.text:
                return lines
    return lines


def plain_lines(text: str) -> list[str]:
    """Return the lines of a page that is plain text."""
    return [line for part in text[: LIMITS.text].split("\n") for line in _line(CONTENT, part)]


def packed(lines: Sequence[str]) -> bytes:
    """Compress marked lines with zlib."""
    return zlib.compress("\n".join(lines).encode("utf-8", "replace"), 6)


def unpacked(content: bytes) -> list[str]:
    """Decompress lines, at most as much as `read_lines` gives. Raises ValueError for damaged ones."""
    text = inflated(content, 8 * LIMITS.text).decode() if content else ""
    return text.split("\n") if text else []


def normalized(lines: Sequence[str]) -> list[str]:
    """Return marked lines of a stored copy as they are read now: copies of old hold invisible characters."""
    return [piece for line in lines for piece in ([line] if line.isascii() else _line(line[:1], line[1:]))]


def shape(line: str) -> int:
    """Return 63 bits that are equal for lines which differ only in words with digits (dates, counters)."""
    masked = _VARYING.sub("0", line).casefold().encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(masked, digest_size=8).digest()) >> 1


def template_of(pages: Iterable[Sequence[str]]) -> frozenset[int]:
    """Return the shapes of lines that most of these pages have."""
    counts: Counter[int] = Counter()
    number = 0
    for lines in pages:
        number += 1
        counts.update({shape(line[1:]) for line in lines})
    min_pages = max(MIN_PAGES, SHARE_OF_PAGES * number)
    return frozenset(shape_of_line for shape_of_line, count in counts.items() if count >= min_pages)


def _selected(root: html.HtmlElement, selectors: Iterable[str]) -> set[html.HtmlElement]:
    chosen = list(selectors)
    if not chosen or sum(1 for _ in root.iter()) > MAX_SELECTED:
        return set()
    selected: set[html.HtmlElement] = set()
    for selector in chosen:
        selected.update(cast(list[html.HtmlElement], usable_selector(selector)(root)))
    return selected


def _chosen_pieces(element: etree._Element, ignored: set[html.HtmlElement]) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a chosen element. One that is not shown is read all the same: it was asked for."""
    tag = element.tag if isinstance(element.tag, str) else ""
    if tag in _VALUES:
        yield element.get(_VALUES[tag], ""), IGNORED if element in ignored else CONTENT
    elif tag != "title" and (tag not in _SKIPPED or _is_shadow(element)):
        yield from _pieces(element, ignored)
    else:
        yield from _split("".join(map(str, element.itertext())), IGNORED if element in ignored else CONTENT)


def _split(text: str, mark: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a preformatted text as pieces, with newlines between them."""
    for number, part in enumerate(text.split("\n")):
        if number:
            yield "\n", mark
        yield part, mark


def _is_shadow(element: etree._Element) -> bool:
    """Return whether a template is a shadow root, which browsers show as a part of the page."""
    return element.tag == "template" and element.get("shadowrootmode") is not None


def _pieces(root: html.HtmlElement, ignored: set[html.HtmlElement]) -> Iterator[tuple[str, str]]:
    """Yield pieces of text with their marks, a newline where a line ends."""
    skipped = apart = left_out = preformatted = 0
    mark = CONTENT
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        step = 1 if event == "start" else -1
        if step < 0 and tag in _CELLS:
            yield " ", mark
        if tag in _BLOCKS:
            yield "\n", mark
        skipped += step * (tag in _SKIPPED and not _is_shadow(element))
        preformatted += step * (tag in _PREFORMATTED)
        apart += step * _is_apart(element, tag)
        left_out += step * (element in ignored)
        mark = IGNORED if left_out else BOILERPLATE if apart else CONTENT
        tail = (
            element.tail if element is not root else ""
        )  # what stands behind a chosen element is no part of it
        text = element.text if step > 0 else tail
        if text and not skipped and tag != "title":
            yield from _split(text, mark) if preformatted else [(text, mark)]


def _blocks(pieces: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the mark and the text of each run of pieces without a newline or another mark."""
    texts: list[str] = []
    mark = CONTENT
    for text, now in pieces:
        if now != mark or text == "\n":
            yield mark, "".join(texts)
            texts, mark = [], now
        if text != "\n":
            texts.append(text)
    yield mark, "".join(texts)


def _is_apart(element: html.HtmlElement, tag: str) -> bool:
    if tag in _APART:
        return True
    if tag in _WHOLE:
        return False
    if element.get("role", "") in _ROLES or element.get("hidden") is not None:
        return True
    names = f"{element.get('class', '')} {element.get('id', '')}"[:300].lower().split()
    return any(name in _NAMES for name in names)


def _line(mark: str, text: str) -> list[str]:
    words = one_line_of(text)
    return [mark + words] if words else []


def one_line_of(text: str) -> str:
    """Return a text with single spaces, whatever their kind, and without characters that have no width."""
    words = " ".join(text.split())
    return words if words.isascii() else " ".join(_INVISIBLE.sub("", words).split())
