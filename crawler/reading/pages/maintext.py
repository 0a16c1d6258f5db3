"""The main text of a page: trafilatura without its slow second opinions, and what to fall back on.

Where little is left of a page, trafilatura falls back on whole elements and takes with them what stands
around the text: offers to subscribe, related articles. So it reads the page without these first.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from typing import cast

import trafilatura
from lxml import etree, html
from trafilatura.xpaths import OVERALL_DISCARD_XPATH

from crawler.reading.limits import LIMITS
from crawler.reading.pages.tree import UNREAD
from crawler.text.characters import storable

_LARGE = 60_000  # elements and attributes: for more, trafilatura takes seconds
_SHORT = 80  # characters: below this, the next way is tried too
_MUCH = 500  # characters outside of links: no furniture holds so many, whatever it is called
_NOT_CONTENT = (
    "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "button", "select",
    "svg", "iframe", "object",
)  # fmt: skip
_NO_WORDS = UNREAD | {"a", "noscript"}
_BLOCKS = ("article", "main", "section", "div", "td")
_LINES = {
    "p", "div", "li", "br", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "pre", "blockquote", "section",
    "article", "dt", "dd", "table", "ul", "ol", "figcaption",
}  # fmt: skip

_FURNITURE = (
    *OVERALL_DISCARD_XPATH,
    etree.XPath(
        r"""
        .//*[self::div or self::section or self::aside or self::ul or self::p][not(.//h1)][
        re:test(concat(@class, ' ', @id),
            '(^|[\s_-])(subscribe|sign-?up|recommended|recommendations?|similar|follow-us)([\s_-]|$)', 'i')]
        """,
        namespaces={"re": "http://exslt.org/regular-expressions"},
    ),
)

# It warns of every page that it finds too short; the caller knows that from the empty answer.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


def main_text(root: html.HtmlElement, description: str = "") -> str:
    """Plain text, a line for each paragraph: trafilatura's, the largest block's, or the description."""
    text = ""
    for way in _ways(root):
        text = way.strip() or text
        if len(text) >= _SHORT:
            break
    return storable(text or description)[: LIMITS.text]


def _ways(root: html.HtmlElement) -> Iterator[str]:
    """What may be the text, the likeliest first."""
    if sum(1 + len(e.attrib) for e in root.iter()) <= _LARGE:
        bare = _without_furniture(root)
        yield _extracted(bare)
        if bare is not root:
            yield _largest_block(bare)
            yield _extracted(root)
    yield _largest_block(root)


def _without_furniture(root: html.HtmlElement) -> html.HtmlElement:
    """A copy without what is named as furniture and holds little but links; the tree itself without any."""
    if not any(element.attrib for element in root.iter()):  # names are values of attributes
        return root
    bare, found = copy.deepcopy(root), False
    for expression in _FURNITURE:
        named = cast("list[html.HtmlElement]", expression(bare))
        counts = _outside_links(bare) if named else {}
        for element in named:
            if element.getroottree().getroot() is bare and counts.get(element, 0) < _MUCH:
                element.drop_tree()
                found = True
    return bare if found else root


def _outside_links(root: html.HtmlElement) -> dict[etree._Element, int]:
    """Characters of text that people read and that stand in no link, for each element that may hold any."""
    counts: dict[etree._Element, int] = {}
    sums = [0]
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            counts[element] = sums.pop()
            sums[-1] += counts[element] + _characters(element.tail)
        elif element.tag in _NO_WORDS:
            sums.append(0)
            walk.skip_subtree()
        else:
            sums.append(_characters(element.text))
    return counts


def _characters(text: str | None) -> int:
    return len(text) - sum(text.count(space) for space in " \t\r\n") if text else 0


def _extracted(root: html.HtmlElement) -> str:
    """trafilatura's text, "" when it finds none."""
    try:
        return trafilatura.extract(root, fast=True, include_comments=False, include_tables=True) or ""
    except Exception:  # nothing says what it raises on pages that were made to break it
        return ""


def _largest_block(root: html.HtmlElement) -> str:
    """The text of the page without navigation, of its innermost container that holds most of it."""
    body = root.find("body")
    if body is None:
        return ""
    body = copy.deepcopy(body)
    for element in list(body.iter(*_NOT_CONTENT)):
        element.drop_tree()
    best, whole = body, len(body.text_content())
    while True:
        inner = next(
            (e for e in best if e.tag in _BLOCKS and 2 * len(e.text_content()) > whole),
            None,
        )
        if inner is None:
            return _lines(best)
        best = inner


def _lines(element: html.HtmlElement) -> str:
    """Text with a line for each block."""
    pieces: list[str] = []
    for event, e in etree.iterwalk(element, events=("start", "end")):
        if e.tag in _LINES:
            pieces.append("\n")
        pieces.append((e.text if event == "start" else e.tail if e is not element else "") or "")
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)
