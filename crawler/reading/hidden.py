"""Text that pages and feeds have and do not show. Pure.

Hidden paragraphs hold words for search engines, tracking, and requests to the assistants of those who read.
Once styles are taken out, as a reader does, they would stand among the others.
"""

from __future__ import annotations

import re

from lxml import html

# Off the screen counts, too: the usual way to hide text from people and not from crawlers.
_STYLE = re.compile(
    r"display:none|visibility:hidden|font-size:0(?:\.0*)?(?:px|pt|r?em|%)?(?:;|!|$)|text-indent:-\d{3,}"
    r"|(?:left|top):-\d{3,}(?:px|r?em)"
)
_MAY_HIDE = re.compile(
    r"hidden|display\s*:\s*none|font-size\s*:\s*0|(?:indent|left|top)\s*:\s*-\d", re.IGNORECASE
)
# Lazy pictures are hidden until a script shows them.
_SKIPPED = {"html", "body", "img", "picture", "source", "input"}
MOST = 0.5
"""An element with a larger share of all text is shown by a rule that is not read here, such as a script's."""


def may_hide(markup: str) -> bool:
    """Return whether markup has anything by which an element may be hidden; quick, and true too often."""
    return bool(_MAY_HIDE.search(markup))


def is_hidden(element: html.HtmlElement) -> bool:
    """Return whether an element's own attributes hide it.

    Opacity does not count: whole pages fade in from none. `hidden="until-found"` is found, so it is read.
    """
    if element.tag in _SKIPPED:
        return False
    hidden = element.get("hidden")
    if hidden is not None and hidden.strip().lower() != "until-found":
        return True
    style = element.get("style")
    return bool(style and _STYLE.search("".join(style[:1_000].lower().split())))


def drop_hidden(root: html.HtmlElement) -> None:
    """Empty the hidden elements of a tree; those that hold most of its text stay.

    Nothing is moved: a text with references such as &#1; cannot be put anywhere else in a tree.
    """
    hidden_elements = [
        element for element in root.iter() if isinstance(element.tag, str) and is_hidden(element)
    ]
    if not hidden_elements:
        return
    whole = _length(root)
    for element in hidden_elements:
        if element is not root and _length(element) <= MOST * whole:
            element.clear(keep_tail=True)
            element.tag = "span"


def _length(element: html.HtmlElement) -> int:
    return sum(len(text.strip()) for text in element.itertext())
