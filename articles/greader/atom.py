"""Streams as Atom, as Google Reader served them under /reader/atom/ and older readers use them.

An entry has the item's id. Its read and starred states are categories with Google Reader's scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from lxml import etree

from articles.greader.names import READ
from crawler.web.syndication.item import legal

CONTENT_TYPE = "application/atom+xml; charset=utf-8"
SCHEME = "http://www.google.com/reader/"

_ATOM = "http://www.w3.org/2005/Atom"
_GOOGLE = "http://www.google.com/schemas/reader/atom/"


def write_stream(
    stream_id: str, title: str, items: Sequence[dict[str, Any]], continuation: str, now: datetime
) -> bytes:
    """Write the document in UTF-8 from the result of `items_of`."""
    nsmap: Any = {None: _ATOM, "gr": _GOOGLE}
    root = etree.Element(f"{{{_ATOM}}}feed", nsmap=nsmap)
    _text(root, "id", f"tag:google.com,2005:reader/{stream_id}")
    _text(root, "title", title)
    _text(root, "updated", _rfc3339(now.timestamp()))
    if continuation:
        etree.SubElement(root, f"{{{_GOOGLE}}}continuation").text = continuation
    for item in items:
        _entry(root, item)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _entry(root: etree._Element, item: dict[str, Any]) -> None:
    entry = _child(root, "entry")
    _text(entry, "id", item["id"])
    _text(entry, "title", item["title"])
    _text(entry, "published", _rfc3339(item["published"]))
    _text(entry, "updated", _rfc3339(item["updated"]))
    _text(_child(entry, "author"), "name", item.get("author", item["origin"]["title"]))
    for link in item.get("alternate", ()):
        _link(entry, "alternate", link)
    for media in item.get("enclosure", ()):
        _link(entry, "enclosure", media)
    for name in item["categories"]:
        category = _child(entry, "category")
        category.set("term", legal(name))
        if name.startswith("user/"):
            category.set("scheme", SCHEME)
            category.set("label", legal(name.rpartition("/")[2]))
    if READ not in item["categories"]:
        fresh_category = _child(entry, "category")
        fresh_category.set("term", "user/-/state/com.google/fresh")
        fresh_category.set("scheme", SCHEME)
        fresh_category.set("label", "fresh")
    content = _child(entry, "content")
    content.set("type", "html")
    content.text = legal(item["summary"]["content"])
    source = _child(entry, "source")
    _text(source, "id", f"tag:google.com,2005:reader/{item['origin']['streamId']}")
    _text(source, "title", item["origin"]["title"])


def _child(parent: etree._Element, name: str) -> etree._Element:
    return etree.SubElement(parent, f"{{{_ATOM}}}{name}")


def _text(parent: etree._Element, name: str, text: str) -> None:
    _child(parent, name).text = legal(text)


def _link(entry: etree._Element, relation: str, attributes: dict[str, Any]) -> None:
    link = _child(entry, "link")
    link.set("rel", relation)
    for name, value in attributes.items():
        link.set(name, legal(str(value)))


def _rfc3339(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")
