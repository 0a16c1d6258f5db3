"""RSS 2.0 (rssboard.org/rss-specification) with content:encoded, dc:creator and pages by RFC 5005.

Pictures are given as media:thumbnail, episodes in the words of iTunes and Podcasting 2.0, places by GeoRSS.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime

from lxml import etree

from crawler.reading.documents import FileLink
from crawler.web.syndication.item import Channel, Item, legal, point

CONTENT_TYPE = "application/rss+xml; charset=utf-8"

_ATOM = "http://www.w3.org/2005/Atom"
_CONTENT = "http://purl.org/rss/1.0/modules/content/"
_DC = "http://purl.org/dc/elements/1.1/"
_GEORSS = "http://www.georss.org/georss"
_ITUNES = "http://www.itunes.com/dtds/podcast-1.0.dtd"
_MEDIA = "http://search.yahoo.com/mrss/"
_PODCAST = "https://podcastindex.org/namespace/1.0"
_SLASH = "http://purl.org/rss/1.0/modules/slash/"
_NAMESPACES = {
    "atom": _ATOM, "content": _CONTENT, "dc": _DC, "georss": _GEORSS, "itunes": _ITUNES, "media": _MEDIA,
    "podcast": _PODCAST, "slash": _SLASH,
}  # fmt: skip


def write_rss(channel: Channel, items: Sequence[Item]) -> bytes:
    """Write the document in UTF-8; equal channels and items give equal bytes."""
    root = etree.Element("rss", version="2.0", nsmap=_NAMESPACES)
    out = etree.SubElement(root, "channel")
    _text(out, "title", channel.title)
    _text(out, "link", channel.home_url)
    _text(out, "description", channel.description)
    for relation, url in channel.links:
        kind = "application/rss+xml"
        etree.SubElement(out, f"{{{_ATOM}}}link", rel=relation, href=url, type=kind)
    if channel.hub_url:
        etree.SubElement(out, f"{{{_ATOM}}}link", rel="hub", href=channel.hub_url)
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
    schemes = {term.label or term.term: term.scheme for term in item.details.terms}
    for category in item.categories:
        element = etree.SubElement(out, "category")
        element.text = legal(category)
        if schemes.get(category):
            element.set("domain", legal(schemes[category]))
    _text(out, "description", item.summary)
    if item.content:
        _text(out, f"{{{_CONTENT}}}encoded", item.content)
    for media in item.attachments:
        length = str(media.length)
        etree.SubElement(out, "enclosure", url=legal(media.url), length=length, type=media.type)
    _details(out, item)
    etree.SubElement(out, "source", url=legal(item.source.feed_url)).text = legal(item.source.title)


def _details(out: etree._Element, item: Item) -> None:
    """Write what the feed of the item says beside its text."""
    details = item.details
    if item.image:
        etree.SubElement(out, f"{{{_MEDIA}}}thumbnail", url=legal(item.image))
    texts = {
        f"{{{_ITUNES}}}duration": str(details.duration or ""),
        f"{{{_ITUNES}}}episode": details.episode,
        f"{{{_ITUNES}}}season": details.season,
        f"{{{_ITUNES}}}episodeType": details.episode_type,
        f"{{{_ITUNES}}}explicit": "" if details.explicit is None else str(details.explicit).lower(),
        "comments": details.comments,
        f"{{{_SLASH}}}comments": "" if details.comment_count is None else str(details.comment_count),
        f"{{{_DC}}}rights": details.rights,
        f"{{{_GEORSS}}}point": point(details),
    }
    for name, text in texts.items():
        if text:
            _text(out, name, text)
    for name in details.contributors:
        _text(out, f"{{{_DC}}}contributor", name)
    for relation, urls in (("via", details.via), ("related", details.related)):
        for url in urls:
            etree.SubElement(out, f"{{{_ATOM}}}link", rel=relation, href=legal(url))
    for transcript in details.transcripts:
        _file(out, "transcript", transcript)
    if details.chapters:
        _file(out, "chapters", details.chapters)


def _file(out: etree._Element, name: str, file: FileLink) -> None:
    element = etree.SubElement(out, f"{{{_PODCAST}}}{name}", url=legal(file.url))
    if file.type:
        element.set("type", legal(file.type))
    if file.language:
        element.set("language", legal(file.language))


def _text(parent: etree._Element, name: str, text: str) -> None:
    etree.SubElement(parent, name).text = legal(text)


def _rfc822(at: datetime) -> str:
    return format_datetime(at.astimezone(UTC), usegmt=True)
