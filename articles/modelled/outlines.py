"""The outline of a page, from which a model tells its list of articles: elements and a few words. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from lxml import etree, html

from crawler.text.characters import one_line, storable

MAX_OUTLINE = 16_000
MAX_WORDS = 60
MAX_LEVELS = 30
SHOWN_ALIKE = 3
"""Of neighbours that look alike, a list's articles say, so many are shown."""
_UNSAID = {"script", "style", "svg", "noscript", "template", "head", "iframe"}


def outline(markup: str) -> str:
    """Return the outline of a page's HTML, a line to an element, at most MAX_OUTLINE characters."""
    try:
        root = html.document_fromstring(storable(markup))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return ""
    body = root.find("body")
    lines, size = [], 0
    for line in _lines(root if body is None else body, 0):
        size += len(line) + 1
        if size > MAX_OUTLINE:
            break
        lines.append(line)
    return "\n".join(lines)


def _lines(element: html.HtmlElement, level: int) -> Iterator[str]:
    yield "  " * level + _named(element)
    if level >= MAX_LEVELS:
        return
    children = [child for child in element if isinstance(child.tag, str) and child.tag not in _UNSAID]
    for _, group in groupby(children, key=lambda child: (child.tag, child.get("class"))):
        alike = list(group)
        for child in alike[:SHOWN_ALIKE]:
            yield from _lines(child, level + 1)
        if len(alike) > SHOWN_ALIKE:
            yield "  " * (level + 1) + f"({len(alike) - SHOWN_ALIKE} more like these)"


def _named(element: html.HtmlElement) -> str:
    """Return an element as a selector writes it, with its first words and where it leads."""
    classes = "".join(f".{name}" for name in (element.get("class") or "").split()[:4])
    name = f"{element.tag}{'#' + element.get('id') if element.get('id') else ''}{classes}"[:120]
    words = one_line(element.text or "", MAX_WORDS)
    facts = [f'"{words}"'] if words else []
    facts += [
        f"{attribute}={one_line(element.get(attribute), MAX_WORDS)}"
        for attribute in ("href", "datetime", "src")
        if element.get(attribute)
    ]
    return " ".join([name, *facts])
