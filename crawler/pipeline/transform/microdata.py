"""Microdata (HTML standard, section 5) as triples, by the W3C note "Microdata to RDF"."""

from __future__ import annotations

import re
from calendar import monthrange
from typing import cast
from urllib.parse import quote, urljoin

from lxml import etree, html

from crawler.pipeline.prefixes import expanded
from crawler.pipeline.terms import Term, safe
from crawler.pipeline.transform.graph import Graph, iri, literal, resolved
from crawler.reading.language_tags import language_tag

MAX_ITEMS = 2_000
MAX_PROPERTIES = 20_000
DEEPEST = 30

_TYPE = expanded("rdf:type")
_ADDRESSES = {
    "a": "href", "area": "href", "link": "href", "audio": "src", "embed": "src", "iframe": "src",
    "img": "src", "source": "src", "track": "src", "video": "src", "object": "data",
}  # fmt: skip
_XSD = "http://www.w3.org/2001/XMLSchema#"
_YEAR, _MONTH, _DAY = r"(?!0+(?!\d))\d{4,}", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_HOUR = r"(?:[01]\d|2[0-3])"
_ZONE = rf"(?:Z|[+-]{_HOUR}:?[0-5]\d)?"
_CLOCK = rf"{_HOUR}:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?{_ZONE}"
_TIMES = [
    (re.compile(pattern, re.ASCII), _XSD + name)
    for pattern, name in (
        (_YEAR, "gYear"),
        (f"{_YEAR}-{_MONTH}", "gYearMonth"),
        (f"{_YEAR}-{_MONTH}-{_DAY}{_ZONE}", "date"),
        (_CLOCK, "time"),
        (f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}", "dateTime"),
        (
            r"P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?",
            "duration",
        ),
    )
]
_DATE = re.compile(r"\d*(\d{4})-(\d{2})-(\d{2})")
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[Ee][+-]?\d+)?", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NO_ADDRESSES = ("javascript:", "data:", "blob:")
_HCARD = "http://microformats.org/profile/hcard"
_ADDITIONAL_TYPE = "http://schema.org/additionalType"
_LANGUAGE = etree.XPath(
    "string(ancestor-or-self::*[@lang or @*[name()='xml:lang']][1]/@*[name()='lang' or name()='xml:lang'])"
)

_SCOPED = etree.XPath("//*[@itemscope]")
_NAMED = etree.XPath("//*[@id]")
_PROPERTIES = etree.XPath("//*[@itemprop]")
_OWNER = etree.XPath("ancestor::*[@itemscope][1]")


def add(root: html.HtmlElement, graph: Graph, base: str) -> None:
    """Add the items of a page whose relative addresses start from `base`."""
    scoped = cast(list[html.HtmlElement], _SCOPED(root))
    if scoped:
        reader = _Reader(root, graph, base)
        for item in scoped[:MAX_ITEMS]:
            if item.get("itemprop") is None:
                reader.item(item, 0, "")


class _Reader:
    """A reader of the items of one page, each of them once."""

    def __init__(self, root: html.HtmlElement, graph: Graph, base: str) -> None:
        self._root, self._graph, self._base = root, graph, base
        self._looked_at = 0
        self._done: dict[html.HtmlElement, Term] = {}
        self._owned: dict[html.HtmlElement, list[html.HtmlElement]] = {}
        self._held: dict[str, list[tuple[int, html.HtmlElement]]] | None = None
        for element in cast(list[html.HtmlElement], _PROPERTIES(root)):
            owner = cast(list[html.HtmlElement], _OWNER(element))
            if owner:
                self._owned.setdefault(owner[0], []).append(element)

    def item(self, element: html.HtmlElement, depth: int, inherited: str) -> Term:
        """Return the item's node; its triples are added when it is met first.

        `inherited` is the type of the item that this one belongs to, for items without a type of their own.
        """
        if element in self._done:
            return self._done[element]
        graph = self._graph
        identity = self._absolute(element.get("itemid") or "") if element.get("itemid") else ""
        node = self._done[element] = iri(identity) if identity else graph.blank()
        types = [_schema(name) for name in (element.get("itemtype") or "").split() if _SCHEME.match(name)]
        for name in types:
            graph.add(node, _TYPE, iri(name))
        if depth < DEEPEST and len(self._done) <= MAX_ITEMS:
            kind = types[0] if types else inherited
            for owned in (*self._owned.get(element, ()), *self._referred(element)):
                if self._looked_at >= MAX_PROPERTIES:
                    break  # items may name the same properties by reference, each of them all
                self._looked_at += 1
                self._property(owned, node, kind, depth)
        return node

    def _referred(self, element: html.HtmlElement) -> list[html.HtmlElement]:
        """Return properties elsewhere that the item names by the id of what holds them."""
        names = dict.fromkeys((element.get("itemref") or "").split()[:100])
        if not names or self._looked_at >= MAX_PROPERTIES:
            return []
        if self._held is None:
            self._held = self._by_id()
        elements = {place: holder for name in names for place, holder in self._held.get(name, ())}
        return [holder for _, holder in sorted(elements.items()) if holder is not element]

    def _by_id(self) -> dict[str, list[tuple[int, html.HtmlElement]]]:
        """Return properties and their places by the ids that they, and what holds them in their item, have.

        Of elements with the same id the first counts.
        """
        first: dict[str, html.HtmlElement] = {}
        for element in cast(list[html.HtmlElement], _NAMED(self._root)):
            first.setdefault(element.get("id"), element)
        by_id: dict[str, list[tuple[int, html.HtmlElement]]] = {}
        for place, element in enumerate(cast(list[html.HtmlElement], _PROPERTIES(self._root))):
            for above in (element, *element.iterancestors()):
                if above is not element and above.get("itemscope") is not None:
                    break
                name = above.get("id")
                if name is not None and first[name] is above:
                    by_id.setdefault(name, []).append((place, element))
        return by_id

    def _property(self, element: html.HtmlElement, node: Term, kind: str, depth: int) -> None:
        scoped = element.get("itemscope") is not None
        value = self.item(element, depth + 1, kind) if scoped else self._value(element)
        if value is None:
            return
        for name in element.get("itemprop").split():
            predicate = self._predicate(name, kind)
            self._graph.add(node, iri(predicate), value)
            if predicate == _ADDITIONAL_TYPE:
                self._graph.add(node, _TYPE, value)

    def _predicate(self, name: str, kind: str) -> str:
        """Return the address of a property: in the vocabulary of the item's type, or within the page."""
        if _SCHEME.match(name):
            return _schema(name)
        if not kind:
            return f"{self._graph.url.partition('#')[0]}#{quote(name)}"
        return _vocabulary(kind) + quote(name)

    def _value(self, element: html.HtmlElement) -> Term | None:
        """Return the value of a property without an item. Returns None for an empty or unsafe one."""
        name = _ADDRESSES.get(element.tag)
        if name:
            address = self._absolute(element.get(name) or "") if element.get(name) is not None else ""
            return iri(address) if address else None
        if element.tag == "meta":
            return self._text(element, element.get("content") or "")
        if element.tag == "time":
            return self._time(element)
        if element.tag in {"data", "meter"} and element.get("value") is not None:
            return self._number(element, element.get("value"))
        if element.get("content"):  # not in the standard, but what sites mean
            return self._text(element, element.get("content"))
        return self._text(element, "".join(element.itertext()))

    def _text(self, element: html.HtmlElement, text: str) -> Term | None:
        if not text:
            return None
        return literal(text, language=language_tag(str(_LANGUAGE(element))))

    def _time(self, element: html.HtmlElement) -> Term | None:
        text = element.get("datetime")
        text = "".join(element.itertext()) if text is None else text
        for pattern, datatype in _TIMES:
            if pattern.fullmatch(text.strip()) and _is_in_its_month(text.strip()):
                return literal(text.strip(), datatype)
        return self._text(element, text)

    def _number(self, element: html.HtmlElement, text: str) -> Term | None:
        if _INTEGER.fullmatch(text):
            return literal(text, _XSD + "integer")
        return literal(text, _XSD + "double") if _NUMBER.fullmatch(text) else self._text(element, text)

    def _absolute(self, reference: str) -> str:
        """Return an absolute address of any scheme that is no program. Returns an empty text for others."""
        reference = reference.strip()
        address = resolved(self._base, reference)
        if address or not reference or reference.lower().startswith(_NO_ADDRESSES):
            return address
        try:
            joined = urljoin(self._base, reference)
        except ValueError:
            return ""
        return safe(joined) if _SCHEME.match(joined) else ""


def _is_in_its_month(text: str) -> bool:
    """Return whether the day of a date is one that its month has; true for texts without a day."""
    match = _DATE.match(text)
    return match is None or int(match[3]) <= monthrange(2000 + int(match[1]) % 400, int(match[2]))[1]


def _vocabulary(kind: str) -> str:
    """Return the namespace of property names: that of the item's type."""
    if kind.startswith(_HCARD):
        return f"{_HCARD}#"
    before, sign, _ = kind.rpartition("#" if "#" in kind else "/")
    return before + sign


def _schema(name: str) -> str:
    return name.replace("https://schema.org/", "http://schema.org/", 1)
