"""OPML files of other feed readers with the filters in them. Knows no Django, as `feeds.adding.opml` does.

The same guards hold: no document type, no entities, at most 20 MB, at most 64 levels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import msgspec
from lxml import etree

from articles.moving.values import ForeignFilter, MovedFeed, MovingError, moved_feed, site_key, text
from crawler.reading.limits import LIMITS
from crawler.reading.references import mended
from crawler.text.characters import one_line
from crawler.text.marking import gettext_noop

MAX_BYTES = 20 * 1024 * 1024
MAX_DEPTH = 64
NO_RULES = gettext_noop(
    "Feeds made of web pages or JSON by rules: add the OPML file among the feeds to bring them."
)
NO_ADDRESS = gettext_noop("Feeds whose address is none of the web:")
NO_LISTS = gettext_noop("Lists of feeds that stand at another address; add their feeds instead:")
NO_TT_RSS = gettext_noop("Filters of Tiny Tiny RSS.")
MAX_NAMED = 100
"""Outlines that are named as left out."""
_CHUNK = 64 * 1024
_FILTERS = {"filtersactionread": "read", "filtersactionstar": "star"}
"""FreshRSS's attributes with a search in each line: entries that it finds are marked so as they come."""
_BY_RULES = ("xpath", "json+")
"""Parts of the types of FreshRSS's feeds that are made by rules. All other types are names for feeds."""


class Outlines(msgspec.Struct, frozen=True):
    """The feeds of an OPML file, FreshRSS's filters, and the feeds by the keys of their sites.

    A site with several feeds has "": nothing tells whose its articles are.
    """

    feeds: tuple[MovedFeed, ...] = ()
    filters: tuple[ForeignFilter, ...] = ()
    sites: dict[str, str] = {}
    left_out: tuple[str, ...] = ()


def read_outlines(data: bytes) -> Outlines:
    """Read an OPML file. A folder within others is named "a/b". Raises MovingError."""
    feeds: dict[str, MovedFeed] = {}
    filters: list[ForeignFilter] = []
    sites: dict[str, str] = {}
    left_out: dict[str, None] = {}
    for attributes, folder in _outlines(_root(data)):
        rules = _filter(attributes)
        feed = moved_feed(_address(attributes), _name(attributes), folder or _category(attributes))
        if feed is None:
            if rules:
                filters.append(ForeignFilter("freshrss", rules, folder=one_line(folder, LIMITS.name)))
            if len(left_out) < MAX_NAMED:
                left_out |= dict.fromkeys(_left_out(attributes))
            continue
        if any(part in attributes.get("type", "").lower() for part in _BY_RULES):
            left_out[NO_RULES] = None
            continue
        feeds[feed.url] = joined(feeds.get(feed.url), feed)
        if rules:
            filters.append(ForeignFilter("freshrss", rules, feed.url))
        if site := site_key(attributes.get("htmlurl")):
            note_site(sites, site, feed.url)
    return Outlines(tuple(feeds.values()), tuple(filters), sites, tuple(left_out))


def joined(before: MovedFeed | None, feed: MovedFeed) -> MovedFeed:
    """Return a feed that stands in several places, with the first folder and the first title that it has."""
    if before is None:
        return feed
    return MovedFeed(feed.url, before.title or feed.title, before.folder or feed.folder)


def note_site(sites: dict[str, str], site: str, url: str) -> None:
    """Note the feed of a site, or that it has several."""
    sites[site] = url if sites.get(site, url) == url else ""


def _left_out(attributes: Mapping[str, str]) -> Iterator[str]:
    """Yield what of an outline that is no feed of the web does not come."""
    name = _name(attributes)
    if address := _address(attributes):
        yield NO_ADDRESS
        yield one_line(f"{name}: {address}", LIMITS.name)
    if address := _list_address(attributes):
        yield NO_LISTS
        yield one_line(f"{name}: {address}", LIMITS.name)
    if "filter-type" in attributes:
        yield NO_TT_RSS


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
    """Return the address of a feed, without the scheme that tells browsers to open a reader."""
    address = attributes.get("xmlurl", "")
    if not address and attributes.get("type", "").lower() in ("rss", "atom"):
        address = attributes.get("url", "")
    if not address.lower().startswith("feed:"):
        return address
    rest = address[len("feed:") :]
    return f"http:{rest}" if rest.startswith("//") else rest


def _list_address(attributes: Mapping[str, str]) -> str:
    """Return the address of another list that an outline stands for, as in OPML 2.0 or of FreshRSS."""
    is_list = attributes.get("type", "").lower() == "include"
    return attributes.get("opmlurl") or (text(attributes.get("url")) if is_list else "")


def _filter(attributes: Mapping[str, str]) -> str:
    """Return FreshRSS's filters of a feed or folder as JSON, "" if it has none."""
    rules = {
        action: [line.strip() for line in attributes.get(name, "").splitlines() if line.strip()]
        for name, action in _FILTERS.items()
    }
    return json.dumps(rules, ensure_ascii=False) if any(rules.values()) else ""
