"""RSS 2.0 (rssboard.org/rss-specification) with content:encoded, dc:creator and pages by RFC 5005."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime

from lxml import etree

from crawler.web.syndication.item import Channel, Item, legal

CONTENT_TYPE = "application/rss+xml; charset=utf-8"

_ATOM = "http://www.w3.org/2005/Atom"
_CONTENT = "http://purl.org/rss/1.0/modules/content/"
_DC = "http://purl.org/dc/elements/1.1/"
_NAMESPACES = {"atom": _ATOM, "content": _CONTENT, "dc": _DC}


def write_rss(channel: Channel, items: Sequence[Item]) -> bytes:
    """The document in UTF-8; the same channel and items always give the same bytes."""
    root = etree.Element("rss", version="2.0", nsmap=_NAMESPACES)
    out = etree.SubElement(root, "channel")
    _text(out, "title", channel.title)
    _text(out, "link", channel.home_url)
    _text(out, "description", channel.description)
    for relation, url in channel.links:
        kind = "application/rss+xml"
        etree.SubElement(out, f"{{{_ATOM}}}link", rel=relation, href=url, type=kind)
    _text(out, "lastBuildDate", _rfc822(channel.updated))
    _text(out, "generator", "Freshet")
    for item in items:
        _item(out, item)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _item(channel: etree._Element, item: Item) -> None:
    out = etree.SubElement(channel, "item")
    _text(out, "title", item.title)
    if item.url:
        _text(out, "link", item.url)
    etree.SubElement(out, "guid", isPermaLink="false").text = item.id
    _text(out, "pubDate", _rfc822(item.published))
    if item.author:
        _text(out, f"{{{_DC}}}creator", item.author)
    if item.language:
        _text(out, f"{{{_DC}}}language", item.language)
    for category in item.categories:
        _text(out, "category", category)
    _text(out, "description", item.summary)
    if item.content:
        _text(out, f"{{{_CONTENT}}}encoded", item.content)
    # Many readers expect at most one; the first is the feed's main one.
    for media in item.attachments[:1]:
        length = str(media.length)
        etree.SubElement(out, "enclosure", url=legal(media.url), length=length, type=media.type)
    etree.SubElement(out, "source", url=legal(item.source.feed_url)).text = legal(item.source.title)


def _text(parent: etree._Element, name: str, text: str) -> None:
    etree.SubElement(parent, name).text = legal(text)


def _rfc822(at: datetime) -> str:
    return format_datetime(at.astimezone(UTC), usegmt=True)
