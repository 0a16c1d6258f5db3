"""Pages and entries that another program kept, as HTML that may be shown."""

from __future__ import annotations

from lxml import etree

from crawler.reading.feeds.markup import Sanitiser, plain_text
from crawler.reading.limits import LIMITS
from crawler.reading.pages.structure import paragraphs


def clean_copy(markup: str, url: str) -> tuple[str, str]:
    """Return a kept page as sanitised HTML with absolute addresses, and its text.

    A copy that is too long becomes paragraphs of its text, cut; one that cannot be read is empty.
    """
    if not markup or len(markup) > LIMITS.bytes:
        return "", ""
    try:
        content = Sanitiser(pages=True).clean(markup, url)
    except (etree.LxmlError, ValueError):  # of names and addresses that no tree writes
        return "", ""
    text = plain_text(content)[: LIMITS.text]
    return (content if len(content) <= LIMITS.markup else paragraphs(text)[: LIMITS.markup]), text


def clean_entry(markup: str, url: str) -> tuple[str, str]:
    """Return the content of a kept entry, sanitised as that of feeds is, and its text.

    Relative addresses are joined with `url`. One that is too long comes back as its text, cut, and one that
    cannot be read is empty.
    """
    if not markup or len(markup) > LIMITS.markup:
        return "", ""
    try:
        content = Sanitiser().clean(markup, url)
        text = plain_text(content)[: LIMITS.text]
    except (etree.LxmlError, ValueError, RecursionError):  # of names and addresses that no tree writes
        return "", ""
    return (content if len(content) <= 5 * LIMITS.markup else paragraphs(text)[: LIMITS.markup]), text
