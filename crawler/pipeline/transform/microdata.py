"""Microdata (HTML standard, section 5) as triples; types and names of schema.org in one spelling."""

from __future__ import annotations

from typing import cast

from lxml import etree, html

from crawler.pipeline.prefixes import expanded
from crawler.pipeline.terms import Term
from crawler.pipeline.transform.graph import Graph, iri, literal, resolved

MAX_ITEMS = 2_000
MAX_PROPERTIES = 20_000
DEEPEST = 30

_TYPE = expanded("rdf:type")
_ADDRESSES = {
    "a": "href", "area": "href", "link": "href", "audio": "src", "embed": "src", "iframe": "src",
    "img": "src", "source": "src", "track": "src", "video": "src", "object": "data",
}  # fmt: skip


_SCOPED = etree.XPath("//*[@itemscope]")
_PROPERTIES = etree.XPath("//*[@itemprop]")
_OWNER = etree.XPath("ancestor::*[@itemscope][1]")


def add(root: html.HtmlElement, graph: Graph) -> None:
    """Add the items of a prepared page: addresses in href and src are absolute already."""
    scoped = cast(list[html.HtmlElement], _SCOPED(root))
    if scoped:
        reader = _Reader(root, graph)
        for item in scoped[:MAX_ITEMS]:
            if item.get("itemprop") is None:
                reader.item(item, 0)


class _Reader:
    """A reader of the items of one page, each of them once."""

    def __init__(self, root: html.HtmlElement, graph: Graph) -> None:
        self._root, self._graph = root, graph
        self._looked_at = 0
        self._done: dict[html.HtmlElement, Term] = {}
        self._owned: dict[html.HtmlElement, list[html.HtmlElement]] = {}
        self._free: list[html.HtmlElement] = []
        self._held: dict[str, list[tuple[int, html.HtmlElement]]] | None = None
        for element in cast(list[html.HtmlElement], _PROPERTIES(root)):
            owner = cast(list[html.HtmlElement], _OWNER(element))
            if owner:
                self._owned.setdefault(owner[0], []).append(element)
            else:
                self._free.append(element)

    def item(self, element: html.HtmlElement, depth: int) -> Term:
        """Return the item's node; its triples are added when it is met first."""
        if element in self._done:
            return self._done[element]
        graph = self._graph
        identity = resolved(graph.url, (element.get("itemid") or "").strip()) if element.get("itemid") else ""
        node = self._done[element] = iri(identity) if identity else graph.blank()
        types = [_schema(name) for name in (element.get("itemtype") or "").split() if "://" in name]
        for name in types:
            graph.add(node, _TYPE, iri(name))
        if depth < DEEPEST and len(self._done) <= MAX_ITEMS:
            prefix = _vocabulary(types)
            for owned in (*self._owned.get(element, ()), *self._referred(element)):
                if self._looked_at >= MAX_PROPERTIES:
                    break  # items may name the same properties by reference, each of them all
                self._looked_at += 1
                self._property(owned, node, prefix, depth)
        return node

    def _referred(self, element: html.HtmlElement) -> list[html.HtmlElement]:
        """Return properties elsewhere that the item names by the id of what holds them."""
        names = dict.fromkeys((element.get("itemref") or "").split()[:100])
        if not names or self._looked_at >= MAX_PROPERTIES:
            return []
        if self._held is None:
            self._held = self._by_id()
        elements = {place: element for name in names for place, element in self._held.get(name, ())}
        return [element for _, element in sorted(elements.items())]

    def _by_id(self) -> dict[str, list[tuple[int, html.HtmlElement]]]:
        """Return properties of no item with their places, by the ids that they and what holds them have."""
        by_id: dict[str, list[tuple[int, html.HtmlElement]]] = {}
        for place, element in enumerate(self._free):
            ids = {above.get("id") for above in (element, *element.iterancestors())}
            for name in ids - {None}:
                by_id.setdefault(str(name), []).append((place, element))
        return by_id

    def _property(self, element: html.HtmlElement, node: Term, prefix: str, depth: int) -> None:
        scoped = element.get("itemscope") is not None
        value = self.item(element, depth + 1) if scoped else self._value(element)
        if value is None:
            return
        for name in element.get("itemprop").split():
            self._graph.add(node, iri(_schema(name) if "://" in name else prefix + name), value)

    def _value(self, element: html.HtmlElement) -> Term | None:
        name = _ADDRESSES.get(element.tag)
        if name:
            address = (
                resolved(self._graph.url, (element.get(name) or "").strip()) if element.get(name) else ""
            )
            return iri(address) if address else None
        if element.tag == "meta":
            text = element.get("content") or ""
        elif element.tag == "time" and element.get("datetime"):
            text = element.get("datetime")
        elif element.get("content"):  # not in the standard, but what sites mean
            text = element.get("content")
        elif element.tag in {"data", "meter"} and element.get("value"):
            text = element.get("value")
        else:
            text = " ".join("".join(element.itertext()).split())
        return literal(text) if text else None


def _vocabulary(types: list[str]) -> str:
    """Return the namespace of property names: that of the first type."""
    if not types:
        return "http://schema.org/"
    before, sign, _ = types[0].rpartition("#" if "#" in types[0] else "/")
    return before + sign


def _schema(name: str) -> str:
    return name.replace("https://schema.org/", "http://schema.org/", 1)
