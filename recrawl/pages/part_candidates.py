"""The parts of a page that people watch, found with selectors that speak: price, stock, text, list. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from cssselect import SelectorError
from lxml import etree, html
from lxml.cssselect import CSSSelector

from crawler.fetching.browser.jobs import BOX
from crawler.reading.pages.tree import read_text
from crawler.text.numbers import money_in
from crawler.text.records import Record
from recrawl.comparing.values import availability_in

PRICE, STOCK, NAME, DESCRIPTION, LIST, WHOLE = "price", "stock", "name", "description", "list", "all"
MAX_ELEMENTS, MAX_TEXT, MAX_PRICE_TEXT, MAX_STOCK_TEXT, MIN_DESCRIPTION = 8_000, 160, 40, 120, 60
MIN_ROWS = 3
_APART = frozenset({"nav", "header", "footer", "aside", "select", "option", "button"})
_SKIPPED = frozenset(
    {"script", "style", "template", "noscript", "svg", "head", "iframe", "s", "del", "strike"}
)
_SPEAKING = re.compile(r"[A-Za-z][A-Za-z]+(?:[-_]{1,2}[A-Za-z]+)*\Z")
_PRICE_NAME = re.compile(r"(?:^|[-_])(?:price|preis|prix|precio|prezzo|cost|amount)", re.IGNORECASE)
_OLD_NAME = re.compile(r"old|was|before|regular|list-?price|strike|uvp|rrp", re.IGNORECASE)
_STOCK_NAME = re.compile(r"stock|avail|lager|verf|delivery|liefer", re.IGNORECASE)


class PartCandidate(Record, frozen=True):
    """A part that may be watched: its kind, its selector (empty for the whole page), and its text.

    `box` is where a browser shows it: left, top, width and height in pixels, empty if unknown.
    """

    kind: str
    selector: str
    text: str
    words: int
    box: tuple[int, ...] = ()


class PageParts(Record, frozen=True):
    """The title of a page and its parts, the likeliest first."""

    title: str
    parts: tuple[PartCandidate, ...]


@dataclass(frozen=True, slots=True)
class _Element:
    node: html.HtmlElement
    text: str
    names: str


def page_parts(root: html.HtmlElement) -> PageParts:
    """Return the parts of a page that people watch, at most one of each kind."""
    elements = [_element(node) for node in _visible(root)]
    chosen = {
        PRICE: _best_price(elements),
        STOCK: _best_stock(elements),
        DESCRIPTION: _best_description(elements),
        LIST: _best_list(elements),
        NAME: next((element for element in elements if element.node.tag == "h1" and element.text), None),
    }
    parts = [_candidate(root, kind, element) for kind, element in chosen.items() if element is not None]
    whole = " ".join(element.text for element in elements if element.node.getparent() is root) or read_text(
        root
    )
    parts.append(PartCandidate(WHOLE, "", "", len(whole.split())))
    title = root.findtext(".//title") or ""
    return PageParts(" ".join(title.split())[:200], tuple(parts))


def speaking_selector(root: html.HtmlElement, node: html.HtmlElement) -> str:
    """Return a selector that matches an element alone: by its name if it has one, else by its place."""
    own_selectors = _own_selectors(node)
    for selector in own_selectors:
        if _is_only(root, selector, node):
            return selector
    for above in node.iterancestors():
        for outer in _own_selectors(above):
            for inner in [*own_selectors, str(node.tag)]:
                if _is_only(root, f"{outer} {inner}", node):
                    return f"{outer} {inner}"
    return _path(node)


def _own_selectors(node: html.HtmlElement) -> list[str]:
    tag, selectors = str(node.tag), []
    if (name := node.get("itemprop", "")) and _SPEAKING.match(name):
        selectors.append(f"[itemprop={name}]")
    if _SPEAKING.match(node.get("id", "")):
        selectors.append(f"#{node.get('id')}")
    classes = [name for name in node.get("class", "").split()[:8] if _SPEAKING.match(name)]
    selectors += [f".{name}" for name in classes] + [f"{tag}.{name}" for name in classes]
    return [*selectors, tag] if tag in {"h1", "main", "article", "table"} else selectors


def _is_only(root: html.HtmlElement, selector: str, node: html.HtmlElement) -> bool:
    try:
        matches = cast(list[Any], CSSSelector(selector, translator="html")(root))
    except (SelectorError, etree.XPathError):
        return False
    return len(matches) == 1 and matches[0] is node


def _path(node: html.HtmlElement) -> str:
    steps = []
    for here in [node, *node.iterancestors()]:
        if here.tag in {"body", "html"}:
            break
        parent = here.getparent()
        same = [child for child in (parent if parent is not None else ()) if child.tag == here.tag]
        steps.append(f"{here.tag}:nth-of-type({same.index(here) + 1})" if len(same) > 1 else str(here.tag))
    return " > ".join(reversed(steps)) or "body"


def _visible(root: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Yield the elements of a page's content in order, without menus, scripts and what is struck out."""
    waiting, count = [root], 0
    while waiting and count < MAX_ELEMENTS:
        node = waiting.pop()
        if not isinstance(node.tag, str) or node.tag in _SKIPPED or node.tag in _APART:
            continue
        count += 1
        yield node
        waiting.extend(reversed(list(node)))


def _element(node: html.HtmlElement) -> _Element:
    names = " ".join((node.get("itemprop", ""), node.get("id", ""), node.get("class", "")))
    return _Element(node, " ".join(read_text(node).split()) if len(node) < 200 else "", names)


def _best_price(elements: list[_Element]) -> _Element | None:
    priced = [
        element
        for element in elements
        if 0 < len(element.text) <= MAX_PRICE_TEXT and money_in(element.text) is not None
    ]
    return min(priced, key=_price_rank, default=None)


def _price_rank(element: _Element) -> tuple[bool, bool, bool, int]:
    names = element.names.split()
    return (
        any(_OLD_NAME.search(name) for name in names),
        element.node.get("itemprop") != "price",
        not any(_PRICE_NAME.search(name) for name in names),
        len(element.text),
    )


def _best_stock(elements: list[_Element]) -> _Element | None:
    stocked = [
        element
        for element in elements
        if 0 < len(element.text) <= MAX_STOCK_TEXT and availability_in(element.text) is not None
    ]
    return min(
        stocked, key=lambda element: (not _STOCK_NAME.search(element.names), len(element.text)), default=None
    )


def _best_description(elements: list[_Element]) -> _Element | None:
    texts = [
        element
        for element in elements
        if (element.node.tag == "p" or "description" in element.names.lower())
        and len(element.text) >= MIN_DESCRIPTION
    ]
    return max(
        texts, key=lambda element: ("description" in element.names.lower(), len(element.text)), default=None
    )


def _best_list(elements: list[_Element]) -> _Element | None:
    lists = [
        element
        for element in elements
        if element.node.tag in {"ul", "ol", "tbody", "table", "dl"} and len(element.node) >= MIN_ROWS
    ]
    return max(lists, key=lambda element: len(element.node), default=None)


def _candidate(root: html.HtmlElement, kind: str, element: _Element) -> PartCandidate:
    numbers = element.node.get(BOX, "").split(",")
    box = tuple(int(number) for number in numbers) if len(numbers) == 4 else ()
    rows = (" ".join(read_text(row).split()) for row in element.node) if kind == LIST else [element.text]
    text = ", ".join(filter(None, rows))
    selector = speaking_selector(root, element.node)
    return PartCandidate(kind, selector, text[:MAX_TEXT], len(text.split()), box)
