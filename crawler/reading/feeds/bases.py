"""The addresses that relative ones in a feed refer to (xml:base)."""

from __future__ import annotations

from urllib.parse import urljoin

from lxml import etree

from crawler.reading.limits import LIMITS

BASE = "{http://www.w3.org/XML/1998/namespace}base"


class Bases:
    """The base of each element of a document at `url`, worked out once.

    One that is longer than an address may be counts as missing, and each is kept once however many elements
    it holds for: a base of 400,000 characters times 4,000 entries is more than there is.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._known: dict[etree._Element, str] = {}

    def of(self, element: etree._Element) -> str:
        """Return an element's base, from its own and its ancestors' xml:base."""
        path = []
        node: etree._Element | None = element
        while node is not None and node not in self._known:
            path.append(node)
            node = node.getparent()
        base = self._url if node is None else self._known[node]
        for ancestor in reversed(path):
            base = self._known[ancestor] = _joined(base, ancestor.get(BASE))
        return base


def _joined(base: str, reference: str | None) -> str:
    """Return the base of an element inside one with `base`; `base` itself without a reference."""
    if reference is None or len(reference) > LIMITS.address:
        return base
    try:
        joined = urljoin(base, reference.strip())
    except ValueError:
        return base
    # A base such as urn: or a relative one would turn every link of the entry into something that nobody can
    # open.
    web = joined[:8].lower().startswith(("http://", "https://"))
    return joined if web and len(joined) <= LIMITS.address else base
