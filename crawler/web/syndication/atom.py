"""Atom 1.0 (RFC 4287) with pages by RFC 5005."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from lxml import etree

from crawler.web.syndication.item import Channel, Item, ItemSource, legal, point, web_url

CONTENT_TYPE = "application/atom+xml; charset=utf-8"

_ATOM = "http://www.w3.org/2005/Atom"
_GEORSS = "http://www.georss.org/georss"
_MEDIA = "http://search.yahoo.com/mrss/"
_THREAD = "http://purl.org/syndication/thread/1.0"
_NAMESPACES = {None: _ATOM, "georss": _GEORSS, "media": _MEDIA, "thr": _THREAD}
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def write_atom(channel: Channel, items: Sequence[Item]) -> bytes:
    """Write the document in UTF-8; equal channels and items give equal bytes."""
    root = etree.Element(f"{{{_ATOM}}}feed", nsmap=_NAMESPACES)  # type: ignore[arg-type]
    _text(root, "id", channel.id)
    _text(root, "title", channel.title)
    _text(root, "subtitle", channel.description)
    _text(root, "updated", _rfc3339(channel.updated))
    _text(_child(root, "author"), "name", "Freshet")
    _text(root, "generator", "Freshet")
    _link(root, "alternate", channel.home_url, "text/html")
    for relation, url in channel.links:
        _link(root, relation, url, "application/atom+xml")
    if channel.hub_url:
        _link(root, "hub", channel.hub_url)
    for item in items:
        _entry(root, item)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _entry(feed: etree._Element, item: Item) -> None:
    out = _child(feed, "entry")
    if item.language:
        out.set(_LANG, item.language)
    _text(out, "id", item.id)
    _text(out, "title", item.title)
    _text(out, "updated", _rfc3339(item.updated))
    _text(out, "published", _rfc3339(item.published))
    _text(_child(out, "author"), "name", item.author or item.source.title)
    if item.url:
        _link(out, "alternate", item.url)
    for media in item.attachments:
        link = _link(out, "enclosure", media.url, media.type)
        if media.length:
            link.set("length", str(media.length))
        if media.title:
            link.set("title", legal(media.title))
    schemes = {term.label or term.term: term for term in item.details.terms}
    for category in item.categories:
        element, term = _child(out, "category"), schemes.get(category)
        element.set("term", legal(term.term if term else category))
        if term and term.scheme:
            element.set("scheme", legal(term.scheme))
        if term and term.label:
            element.set("label", legal(term.label))
    _details(out, item)
    # RFC 4287 wants content if there is no link to it.
    _html(out, "summary" if item.content or item.url else "content", item.summary)
    _html(out, "content", item.content)
    _source(out, item.source, item.updated)


def _details(out: etree._Element, item: Item) -> None:
    """Write what the feed of the item says beside its text."""
    details = item.details
    for name in details.contributors:
        _text(_child(out, "contributor"), "name", name)
    for relation, urls in (("via", details.via), ("related", details.related)):
        for url in urls:
            _link(out, relation, url)
    if details.comments:
        link = _link(out, "replies", details.comments, "text/html")
        if details.comment_count is not None:
            link.set(f"{{{_THREAD}}}count", str(details.comment_count))
    if details.rights:
        _text(out, "rights", details.rights)
    if item.image:
        etree.SubElement(out, f"{{{_MEDIA}}}thumbnail", url=legal(item.image))
    if place := point(details):
        etree.SubElement(out, f"{{{_GEORSS}}}point").text = place


def _source(entry: etree._Element, source: ItemSource, updated: datetime) -> None:
    out = _child(entry, "source")
    _text(out, "id", source.feed_url)
    _text(out, "title", source.title)
    _text(out, "updated", _rfc3339(updated))
    _link(out, "self", source.feed_url)
    if web_url(source.site_url):
        _link(out, "alternate", source.site_url)


def _child(parent: etree._Element, name: str) -> etree._Element:
    return etree.SubElement(parent, f"{{{_ATOM}}}{name}")


def _text(parent: etree._Element, name: str, text: str) -> None:
    _child(parent, name).text = legal(text)


def _html(entry: etree._Element, name: str, markup: str) -> None:
    if markup:
        out = _child(entry, name)
        out.set("type", "html")
        out.text = legal(markup)


def _link(parent: etree._Element, relation: str, url: str, kind: str = "") -> etree._Element:
    link = _child(parent, "link")
    link.set("rel", relation)
    if kind:
        link.set("type", kind)
    link.set("href", legal(url))
    return link


def _rfc3339(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
