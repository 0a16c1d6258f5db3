"""RSS 0.9x to 2.0, RSS 1.0 and Atom 0.3 and 1.0 read with libxml2: the fast path for well-formed documents.

No entity is expanded in text, nothing is loaded from anywhere, and libxml2's own limits stay on.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from crawler.reading.census import ElementCounter
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.bases import BASE, Bases
from crawler.reading.feeds.packed import from_base64
from crawler.reading.feeds.raw import Markup, RawEntry, RawFeed, RawLink
from crawler.reading.feeds.repair import NAMESPACES
from crawler.reading.feeds.titles import Kind
from crawler.reading.limits import Limits

_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_RESOURCE_LIMIT = 114  # XML_ERR_RESOURCE_LIMIT of libxml2
_DEPTH = 256  # of libxml2, too
_MANY_ATTRIBUTES = re.compile(rb"<[^<>=\s]+(?:\s+[^<>=\s\"']+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')){1000}")
_PREFIXES = {re.sub(r"^https?://|[/#]+$", "", uri.lower()): prefix for prefix, uri in NAMESPACES.items()} | {
    "search.yahoo.com/mrss": "media",
    "purl.org/atom/ns": "atom",
    "purl.org/dc/elements/1.0": "dc",
    "purl.org/rss/1.0": "",
    "my.netscape.com/rdf/simple/0.9": "",
    "channel.netscape.com/rdf/simple/0.9": "",
}
_RSS_VERSIONS = {"0.90", "0.91", "0.92", "0.93", "0.94", "1.0", "2.0"}
_ENTITY_VALUE = 20
_KINDS: dict[str, Kind] = {
    "text": "text",
    "text/plain": "text",
    "html": "html",
    "text/html": "html",
    "xhtml": "html",
}
_PAGES = {"", "text", "html", "xhtml", "text/html", "application/xhtml+xml", "text/plain"}

Fields = dict[str, list[etree._Element]]


def parse_xml(data: bytes, url: str, limits: Limits) -> etree._Element:
    """The tree of a well-formed UTF-8 document. Raises etree.XMLSyntaxError, ReadingError."""
    if data.count(b"=") > 10 * limits.feed_attributes and _MANY_ATTRIBUTES.search(data):
        raise ReadingError("too-large", f"an element with more than {limits.feed_attributes} attributes")
    try:
        if data.count(b"<") > limits.feed_elements:
            etree.fromstring(
                data,
                _parser(target=ElementCounter(limits.feed_elements, limits.feed_attributes)),
                base_url=url,
            )
        return etree.fromstring(data, _parser(), base_url=url)
    except etree.XMLSyntaxError as error:
        if getattr(error, "code", 0) != _RESOURCE_LIMIT:
            raise
        if "depth" in str(error):
            raise ReadingError("too-deep", f"nested more than {_DEPTH} levels deep") from error
        raise ReadingError("too-large", str(error).split(", ")[0]) from error


def read_xml(root: etree._Element, url: str, limits: Limits) -> RawFeed | None:
    """The fields of the tree of a feed at `url`, None when its root is none."""
    reader = _Reader(root, url, limits)
    kind = reader.format()
    return reader.feed(kind) if kind else None


def _parser(**options: Any) -> etree.XMLParser:
    """libxml2 as strict and as closed as it can be."""
    return etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=False, recover=False, remove_comments=True, remove_pis=True, **options,
    )  # fmt: skip


class _Reader:
    """One document: how its tags are named, and what xml:base and entities it has."""

    def __init__(self, root: etree._Element, url: str, limits: Limits) -> None:
        self._root = root
        self._url = url
        self._limits = limits
        self._own = str(root.tag).rpartition("}")[0].lstrip("{")
        self._keys: dict[str, str] = {}
        self._language = _short(root.get(_LANG))
        # Without any xml:base, which is most feeds, nobody needs to look for one.
        self._based = next(root.iterfind(f".//*[@{BASE}]"), None) is not None or BASE in root.attrib
        self._bases = Bases(url)

    def format(self) -> str:
        """`rss2.0`, `atom1.0` and so on, "" for other documents."""
        name = str(self._root.tag).rpartition("}")[2].lower()
        if name == "feed":
            return "atom0.3" if "purl.org/atom/ns" in self._own else "atom1.0"
        if name == "entry" and _prefix(self._own) == "atom":
            return "atom0.3" if "purl.org/atom/ns" in self._own else "atom1.0"
        if name == "rdf" and (self._channel() is not None or self._has_items()):
            netscape = any("netscape.com" in str(e.tag) for e in self._root)
            return "rss0.90" if netscape else "rss1.0"
        if name in ("rss", "channel"):
            version = (self._root.get("version") or "").strip()
            return "rss" + (version if version in _RSS_VERSIONS else "2.0")
        return ""

    def feed(self, kind: str) -> RawFeed:
        """Everything the feed says of itself, and its entries."""
        channel = self._channel()
        if channel is None:
            channel = self._root
        fields = self._fields(channel)
        if self._key(str(channel.tag)) == "entry":  # one that stands alone may name the feed it is from
            fields = self._fields(fields["source"][0]) if "source" in fields else {}
        title, title_kind = self._title(fields, "title")
        return RawFeed(
            format=kind,
            title=title,
            title_kind=title_kind,
            description=self._first(fields, "description", "subtitle", "tagline", "itunes:summary"),
            author=self._people(fields, "author") if kind.startswith("atom") else "",
            language=self._lang(channel) or self._first(fields, "language", "dc:language"),
            base=self._base(channel),
            ttl=self._first(fields, "ttl"),
            update_period=self._first(fields, "sy:updateperiod"),
            update_frequency=self._first(fields, "sy:updatefrequency"),
            links=list(self._links(fields)),
            skip_hours=self._listed(fields, "skiphours"),
            skip_days=self._listed(fields, "skipdays"),
            entries=[self._entry(e) for e in self._items()],
        )

    def _channel(self) -> etree._Element | None:
        """The channel element; Atom's feed is its own."""
        if str(self._root.tag).rpartition("}")[2].lower() in ("feed", "channel"):
            return self._root
        return next((e for e in self._root if str(e.tag).rpartition("}")[2].lower() == "channel"), None)

    def _has_items(self) -> bool:
        """True for RDF with items of RSS, which some write without a channel."""
        return any(self._key(str(e.tag)) == "item" and _prefix(_space(e)) == "" for e in self._root)

    def _items(self) -> Iterator[etree._Element]:
        """Items and entries in document order, wherever they are (RSS 1.0 has them outside the channel)."""
        taken = 0
        for element in self._root.iter("{*}item", "{*}entry", "{*}Item", "{*}Entry"):
            parent = element.getparent()
            nested = parent is not None and self._key(str(parent.tag)) in ("item", "entry")
            if nested or self._key(str(element.tag)) not in ("item", "entry"):
                continue
            yield element
            taken += 1
            if taken == 10 * self._limits.entries:
                return

    def _entry(self, item: etree._Element) -> RawEntry:
        """One item's fields."""
        fields = self._fields(item)
        guid = self._named(fields, "guid", "id")
        identity = self._text(guid) if guid is not None else ""
        about = next((v for k, v in item.attrib.items() if str(k).endswith("}about")), "")
        declared = "" if guid is None else (guid.get("isPermaLink") or "").strip().lower()
        title, title_kind = self._title(fields, "title", "dc:title")
        return RawEntry(
            identity=identity or str(about).strip(),
            permalink=declared != "false",
            path=guid in fields.get("guid", ()) and (declared == "true" or _is_path(identity)),
            links=[*self._links(fields), *self._media(fields), *self._elsewhere(fields)],
            title=title,
            title_kind=title_kind,
            author=self._people(fields, "author", "dc:creator", "dc:author", "itunes:author"),
            published=self._first(fields, "pubdate", "published", "issued", "dcterms:issued"),
            updated=self._first(fields, "updated", "modified", "dcterms:modified", "dc:date"),
            summary=self._markup(fields, "description", "summary", "itunes:summary", "media:description"),
            content=self._markup(fields, "content:encoded", "content", "xhtml:body", "xhtml:div"),
            language=self._lang(item) or self._first(fields, "dc:language"),
            categories=self._categories(fields),
            base=self._base(item),
        )

    def _key(self, tag: str) -> str:
        """`title` for the format's own elements (and Atom's), `dc:creator` for others, "" for the unknown."""
        key = self._keys.get(tag)
        if key is None:
            space, _, name = tag.rpartition("}")
            space = space.lstrip("{")
            prefix = "" if space in ("", self._own) else _prefix(space)
            prefix = "" if prefix == "atom" else prefix
            key = self._keys[tag] = "" if prefix is None else f"{prefix}:{name.lower()}".lstrip(":")
        return key

    def _fields(self, parent: etree._Element) -> Fields:
        """Children by key; those of media:group count as the entry's own."""
        fields: Fields = {}
        for child in parent:
            if not isinstance(child.tag, str):
                continue
            key = self._key(child.tag)
            if key == "media:group":
                for inner in child:
                    if isinstance(inner.tag, str):
                        fields.setdefault(self._key(inner.tag), []).append(inner)
            elif key:
                fields.setdefault(key, []).append(child)
        return fields

    def _named(self, fields: Fields, *keys: str) -> etree._Element | None:
        """The first element under these keys that has text."""
        for key in keys:
            for element in fields.get(key, ()):
                if self._text(element):
                    return element
        return None

    def _first(self, fields: Fields, *keys: str) -> str:
        """The first text under these keys."""
        for key in keys:
            for element in fields.get(key, ()):
                if text := self._text(element):
                    return text
        return ""

    def _title(self, fields: Fields, *keys: str) -> tuple[str, Kind]:
        """The first text under these keys, and what its feed calls it."""
        element = self._named(fields, *keys)
        if element is None:
            return "", ""
        kind = _KINDS.get((element.get("type") or "").strip().lower(), "")
        return self._text(element), "html" if len(element) else kind

    def _text(self, element: etree._Element) -> str:
        """Text of an element, with markup inside it written out."""
        if len(element) == 0:
            return (element.text or "").strip()
        pieces = [element.text or ""]
        for child in element:
            if isinstance(child, etree._Entity):
                pieces += [self._entity(child), child.tail or ""]
            else:
                pieces.append(etree.tostring(_without_namespaces(child), encoding="unicode", method="html"))
        return "".join(pieces).strip()

    def _entity(self, reference: etree._Entity) -> str:
        """An entity of HTML, or one of the document's own when it is short and names no other."""
        text = html.unescape(reference.text or "")
        if not text.startswith("&") or text == "&":
            return text
        dtd = self._root.getroottree().docinfo.internalDTD
        own: Any = dtd.entities() if dtd is not None else ()  # type: ignore[attr-defined]
        value = next((str(e.content) for e in own if e.name == reference.name and e.content), "")
        return value if len(value) <= _ENTITY_VALUE and "&" not in value else ""

    def _markup(self, fields: Fields, *keys: str) -> Markup:
        """The first of these fields as HTML."""
        for key in keys:
            for element in fields.get(key, ()):
                if value := self._markup_text(element):
                    kind = (element.get("type") or "").lower()
                    literal = kind in ("text", "text/plain") or key in ("itunes:summary", "media:description")
                    return Markup(value, literal, self._base(element))
        return Markup()

    def _markup_text(self, element: etree._Element) -> str:
        """HTML of a description or Atom content; "" for content in other media types."""
        kind = (element.get("type") or "").strip().lower()
        packed = "base64" in ((element.get("mode") or "").lower(), (element.get("encoding") or "").lower())
        if packed or kind.startswith("text/"):
            text = self._text(element)
            unpacked = from_base64(text, certain=packed)
            return text if unpacked is None else unpacked
        if "/" in kind and not kind.startswith("text/") and not kind.endswith("xml"):
            return ""
        if kind == "xhtml" and len(element) == 1 and str(element[0].tag).endswith("}div"):
            element = element[0]
        return self._text(element)

    def _links(self, fields: Fields) -> Iterator[RawLink]:
        """Links and enclosures. RSS writes the address as text, Atom as an attribute."""
        for e in fields.get("link", ()):
            href = e.get("href") or self._text(e)
            if href:
                yield RawLink(
                    str(href),
                    (e.get("rel") or "alternate").lower(),
                    e.get("type") or "",
                    e.get("length") or "",
                )
        for e in fields.get("enclosure", ()):
            if address := e.get("url") or e.get("href"):
                yield RawLink(str(address), "enclosure", e.get("type") or "", e.get("length") or "")

    def _media(self, fields: Fields) -> Iterator[RawLink]:
        """Media RSS content, which serves as an enclosure."""
        for e in fields.get("media:content", ()):
            if address := e.get("url"):
                yield RawLink(str(address), "enclosure", e.get("type") or "", e.get("fileSize") or "")

    def _elsewhere(self, fields: Fields) -> Iterator[RawLink]:
        """Atom content that stands elsewhere: a page to read, or a file."""
        for e in fields.get("content", ())[:1]:
            if address := e.get("src"):
                kind = (e.get("type") or "").strip().lower()
                yield RawLink(str(address), "alternate" if kind in _PAGES else "enclosure", kind)

    def _people(self, fields: Fields, *keys: str) -> str:
        """Names of the persons under the first of these keys that has any, joined by commas."""
        for key in keys:
            names = []
            for element in fields.get(key, ()):
                inner = self._fields(element) if len(element) else {}
                names.append(self._first(inner, "name", "email") if inner else self._text(element))
            if any(names):
                return ", ".join(dict.fromkeys(n for n in names if n))
        return ""

    def _categories(self, fields: Fields) -> list[str]:
        """Categories of any format."""
        elements = [*fields.get("category", ()), *fields.get("dc:subject", ())]
        return [str(e.get("label") or e.get("term") or self._text(e)) for e in elements[:200]]

    def _listed(self, fields: Fields, key: str) -> list[str]:
        """Texts of the elements in a list (skipHours, skipDays)."""
        return [
            self._text(e)
            for outer in fields.get(key, ())[:1]
            for e in islice(outer, 24)
            if isinstance(e.tag, str)
        ]

    def _base(self, element: etree._Element) -> str:
        """The base that xml:base gives an element, "" when the document has none anywhere."""
        return self._bases.of(element) if self._based else ""

    def _lang(self, element: etree._Element) -> str:
        """The xml:lang that an element carries or, for the channel, its root does."""
        return _short(element.get(_LANG)) or self._language


def _space(element: etree._Element) -> str:
    """The namespace of an element."""
    return str(element.tag).rpartition("}")[0].lstrip("{")


def _is_path(identity: str) -> bool:
    """True for a guid that reads as a relative address: no name of another kind, no number, no words."""
    return (
        "/" in identity and ":" not in identity.partition("/")[0] and not any(c.isspace() for c in identity)
    )


def _short(text: str | None) -> str:
    """A language's name, cut: nothing that long is one."""
    return (text or "")[:100]


def _prefix(space: str) -> str | None:
    """Our prefix for a namespace name, whose spelling varies in the field."""
    return _PREFIXES.get(re.sub(r"^https?://|[/#]+$", "", space.lower()))


def _without_namespaces(element: etree._Element) -> etree._Element:
    """Markup inside a field with plain tag names, so that it can be written as HTML."""
    for e in element.iter("{*}*"):
        if isinstance(e.tag, str) and "}" in e.tag:
            e.tag = e.tag.rpartition("}")[2]
    return element
