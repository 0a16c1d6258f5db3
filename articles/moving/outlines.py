"""OPML files of other feed readers with the filters in them. Knows no Django, as `feeds.adding.opml` does.

The same guards hold: no document type, no entities, at most 20 MB, at most 64 levels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import msgspec
from lxml import etree

from articles.moving.values import ForeignFilter, MovedFeed, MovingError, moved_feed, web_url
from crawler.reading.limits import LIMITS
from crawler.reading.references import mended
from crawler.text.characters import one_line
from crawler.text.marking import gettext_noop

MAX_BYTES = 20 * 1024 * 1024
MAX_DEPTH = 64
NO_RULES = gettext_noop(
    "Feeds made of web pages or JSON by rules: add the OPML file among the feeds to bring them."
)
_CHUNK = 64 * 1024
_FILTERS = {"filtersactionread": "read", "filtersactionstar": "star"}
"""FreshRSS's attributes with a search in each line: entries that it finds are marked so as they come."""
_PLAIN = ("", "rss", "rss1", "rss2", "atom", "atom1", "rdf", "feed")


class Outlines(msgspec.Struct, frozen=True):
    """The feeds of an OPML file, FreshRSS's filters, and the feeds by the addresses of their sites."""

    feeds: tuple[MovedFeed, ...] = ()
    filters: tuple[ForeignFilter, ...] = ()
    sites: dict[str, str] = {}
    left_out: tuple[str, ...] = ()


def read_outlines(data: bytes) -> Outlines:
    """Read an OPML file. A folder within others is named "a/b". Raises MovingError."""
    feeds: list[MovedFeed] = []
    filters: list[ForeignFilter] = []
    sites: dict[str, str] = {}
    left_out: dict[str, None] = {}
    for attributes, folder in _outlines(_root(data)):
        rules = _filter(attributes)
        feed = moved_feed(_address(attributes), _name(attributes), folder or _category(attributes))
        if feed is None:
            if rules:
                filters.append(ForeignFilter("freshrss", rules, folder=one_line(folder, LIMITS.name)))
            continue
        if attributes.get("type", "").lower() not in _PLAIN:
            left_out[NO_RULES] = None
            continue
        feeds.append(feed)
        if rules:
            filters.append(ForeignFilter("freshrss", rules, feed.url))
        if site := web_url(attributes.get("htmlurl")):
            sites[site] = feed.url
    return Outlines(tuple(feeds), tuple(filters), sites, tuple(left_out))


def parsed(data: bytes, *, mend: bool = False) -> etree._Element:
    """Return the outermost element of an XML file. Raises MovingError for one that is not safe or not XML.

    With `mend` a stray `&` is taken for text, in CDATA sections as well.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    plain = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    try:
        for piece in mended(_pieces(plain)) if mend else _pieces(plain):
            parser.feed(piece)
        root: etree._Element = parser.close()
    except (etree.LxmlError, LookupError, ValueError):
        raise MovingError("not-xml", gettext_noop("The file is not well-formed XML.")) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise MovingError(
            "not-xml", gettext_noop("The file declares a document type, which it does not need.")
        )
    return root


def local_name(name: object) -> str:
    """Return a name without its namespace, in small letters."""
    return str(name).rpartition("}")[2].lower()


def _root(data: bytes) -> etree._Element:
    if len(data) > MAX_BYTES:
        raise MovingError("too-large", gettext_noop("The list of feeds is larger than 20 MB."))
    if b"<!doctype" in data.replace(b"\0", b"").lower():
        raise MovingError(
            "not-xml", gettext_noop("The file declares a document type, which it does not need.")
        )
    return parsed(data, mend=True)


def _pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _CHUNK):
        yield data[start : start + _CHUNK]


def _outlines(root: etree._Element) -> Iterator[tuple[Mapping[str, str], str]]:
    """Yield the attributes of each outline in document order, and the folder that it is in or that it is."""
    body = next((child for child in root if local_name(child.tag) == "body"), None)
    stack: list[tuple[etree._Element, tuple[str, ...]]] = [] if body is None else [(body, ())]
    while stack:
        element, path = stack.pop()
        inside = path
        if element is not body:
            attributes = {local_name(name): str(value).strip() for name, value in element.attrib.items()}
            name = _name(attributes)
            if not _address(attributes):
                inside = (*path, name) if name else path
            yield attributes, "/".join(inside)
        if len(inside) <= MAX_DEPTH:
            stack += [(child, inside) for child in reversed(element) if local_name(child.tag) == "outline"]


def _name(attributes: Mapping[str, str]) -> str:
    return attributes.get("text") or attributes.get("title") or ""


def _category(attributes: Mapping[str, str]) -> str:
    """Return the first path of the attribute `category`, "/a/b,/c"."""
    return attributes.get("category", "").split(",", maxsplit=1)[0].strip("/ ")


def _address(attributes: Mapping[str, str]) -> str:
    if address := attributes.get("xmlurl"):
        return address
    return attributes.get("url", "") if attributes.get("type", "").lower() in ("rss", "atom") else ""


def _filter(attributes: Mapping[str, str]) -> str:
    """Return FreshRSS's filters of a feed or folder as JSON, "" if it has none."""
    rules = {
        action: [line.strip() for line in attributes.get(name, "").splitlines() if line.strip()]
        for name, action in _FILTERS.items()
    }
    return json.dumps(rules, ensure_ascii=False) if any(rules.values()) else ""
