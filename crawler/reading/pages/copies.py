"""A copy of a page to look at and to click in, without scripts, frames and addresses. Pure."""

from __future__ import annotations

from lxml import html

from crawler.reading.errors import ReadingError
from crawler.reading.limits import LIMITS
from crawler.reading.pages.tree import media_type, text_of, whole_tree

MAX_CHARACTERS = 3_000_000
# What would load or run something in the browser of the person who chooses.
_DROPPED = (
    "script", "noscript", "template", "iframe", "frame", "frameset", "object", "embed", "applet", "base",
    "link", "meta", "audio", "video", "source", "track", "portal", "fencedframe",
)  # fmt: skip
_KEPT = frozenset({
    "class", "id", "style", "title", "alt", "width", "height", "colspan", "rowspan", "dir", "lang", "type",
    "role", "value", "placeholder", "viewbox", "d", "fill", "stroke", "span", "start", "open", "hidden",
})  # fmt: skip


def page_copy(body: bytes, content_type: str) -> str:
    """Return the copy as HTML. Raises ReadingError: unsupported-type for what is no page, too-large."""
    if media_type(body, content_type) != "text/html":
        raise ReadingError("unsupported-type", "this is text, and has no parts to choose")
    root = whole_tree(text_of(body, content_type), LIMITS.link_elements)
    if root is None:
        raise ReadingError("malformed", "the page is empty")
    for element in list(root.iter()):
        if not isinstance(element.tag, str) or element.tag.lower().rpartition(":")[2] in _DROPPED:
            _remove(element)
            continue
        for name in element.attrib:
            if name.lower() not in _KEPT:
                del element.attrib[name]
    copy: str = html.tostring(root, encoding="unicode", method="html")
    if len(copy) > MAX_CHARACTERS:
        raise ReadingError("too-large", f"its copy has more than {MAX_CHARACTERS} characters")
    return copy


def _remove(element: html.HtmlElement) -> None:
    """Remove an element with what is in it, but not the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    tail, before = element.tail or "", element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    # lxml removes the text behind an element with it.
    parent.remove(element)
