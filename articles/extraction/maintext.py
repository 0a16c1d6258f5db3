"""The main text of a page: trafilatura without its slow second opinions, and what to fall back on."""

from __future__ import annotations

import copy
import logging

import trafilatura
from lxml import etree, html

from articles.extraction.tree import readable

MAX_TEXT = 1_000_000
_LARGE = 60_000  # elements and attributes: for more, trafilatura takes seconds
_SHORT = 80  # characters: below this, the fallback is asked too
_NOT_CONTENT = (
    "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "button", "select",
    "svg", "iframe", "object",
)  # fmt: skip
_BLOCKS = ("article", "main", "section", "div", "td")
_LINES = {
    "p", "div", "li", "br", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "pre", "blockquote", "section",
    "article", "dt", "dd", "table", "ul", "ol", "figcaption",
}  # fmt: skip


# It warns of every page that it finds too short; the caller knows that from the empty answer.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


def main_text(root: html.HtmlElement, description: str = "") -> str:
    """Plain text, a line for each paragraph: trafilatura's, the largest block's, or the description."""
    text = ""
    if sum(1 + len(e.attrib) for e in root.iter()) <= _LARGE:
        text = _extracted(root).strip()
    if len(text) < _SHORT:
        text = _largest_block(root) or text
    return readable(text or description)[:MAX_TEXT]


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
