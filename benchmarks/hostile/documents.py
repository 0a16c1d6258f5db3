"""Feeds, pages, sitemaps and robots.txt with a place for a stranger's words wherever such words can stand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Literal

Shape = Literal["feed", "page", "app", "sitemap", "robots", "hub"]
Form = Literal["plain", "json"]

MEDIA_TYPES: dict[Shape, str] = {
    "feed": "application/rss+xml",
    "page": "text/html; charset=utf-8",
    "app": "text/html; charset=utf-8",
    "sitemap": "application/xml",
    "robots": "text/plain; charset=utf-8",
    "hub": "text/plain; charset=utf-8",
}
_SENTENCE = "The river rose again in the night, and the people of the town went to the upper streets. "
TEXT = _SENTENCE * 6
"""Enough prose for an article."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a document is filled with.

    `words` stand in titles, texts, names and identities: a `str` is escaped as the format wants it, `bytes`
    go in as they are. `link` stands in the place of addresses (None: the document's own). `attribute` is put
    into the start tag of the root element and of one within. `form` is `json` for JSON Feed.
    """

    words: str | bytes = "Plain words"
    link: str | None = None
    attribute: bytes = b""
    form: Form = "plain"

    def markup(self) -> bytes:
        """The words as XML and HTML have them."""
        return self.words if isinstance(self.words, bytes) else escape(self.words).encode()

    def string(self) -> bytes:
        """The words as JSON has them, quotes included."""
        if isinstance(self.words, bytes):
            return b'"' + self.words + b'"'
        return json.dumps(self.words, ensure_ascii=False).encode()

    def address(self, usual: str) -> bytes:
        """The address as XML and HTML have it."""
        return escape(usual if self.link is None else self.link).encode()


def hub_links(origin: str, path: str) -> bytes:
    """What lets a feed name the hub at `/hub` of its host."""
    return (
        f'<atom:link rel="hub" href="{origin}/hub"/><atom:link rel="self" href="{origin}{path}"/>'
    ).encode()


def feed(origin: str, path: str, content: Content, links: tuple[str, ...] = (), extra: bytes = b"") -> bytes:
    """A feed of two entries (or of one for each of `links`), the first of which has the content."""
    places = links or tuple(f"{path}/{number}" for number in range(2))
    if content.form == "json":
        return _json_feed(origin, places, content)
    root = b'<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    root += (
        b'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"'
    )
    plain = Content(f"Entry of {path}")
    items = b"".join(
        _item(origin, place, content if number == 0 else plain) for number, place in enumerate(places)
    )
    words = content.markup()
    return (
        b"<?xml version='1.0' encoding='utf-8'?>" + root + _attribute(content) + b"><channel>"
        b"<title>" + words + b"</title><link>" + content.address(f"{origin}/") + b"</link>"
        b"<description>" + words + b"</description>" + _hub(content) + extra + items + b"</channel></rss>"
    )  # fmt: skip


def _hub(content: Content) -> bytes:
    """A hub at the address that a poison puts everywhere."""
    if content.link is None:
        return b""
    link = content.address("")
    return b'<atom:link rel="hub" href="' + link + b'"/><atom:link rel="self" href="' + link + b'"/>'


def _item(origin: str, place: str, content: Content) -> bytes:
    words, link = content.markup(), content.address(origin + place)
    return (
        b"<item" + _attribute(content) + b'><guid isPermaLink="false">' + words + place.encode() + b"</guid>"
        b"<title>" + words + b"</title><link>" + link + b"</link><dc:creator>" + words + b"</dc:creator>"
        b"<category>" + words + b"</category>"
        b'<enclosure url="' + link + b'" type="' + words + b'" length="1"/>'
        b"<description>" + words + b"</description><content:encoded><![CDATA[<p title=\"" + words + b'">'
        + words + b'</p><a href="' + link + b'">' + words + b"</a>]]></content:encoded></item>"
    )  # fmt: skip


def _json_feed(origin: str, places: tuple[str, ...], content: Content) -> bytes:
    words = content.string()
    items = []
    for number, place in enumerate(places):
        said = words if number == 0 else b'"Entry"'
        items.append(
            b'{"id": "' + place.encode() + b'", "url": ' + json.dumps(origin + place).encode()
            + b', "title": ' + said + b', "content_text": ' + said + b', "tags": [' + said
            + b'], "authors": [{"name": ' + said + b"}]}"
        )  # fmt: skip
    version = b'{"version": "https://jsonfeed.org/version/1.1", "title": '
    return version + words + b', "items": [' + b", ".join(items) + b"]}"


def page(origin: str, path: str, content: Content, links: tuple[str, ...] = ()) -> bytes:
    """An article with metadata, JSON-LD and microdata, and links."""
    words, link, string = content.markup(), content.address(origin + path), content.string()
    anchors = b"".join(f'<p><a href="{origin}{to}">to {to}</a></p>'.encode() for to in links)
    data = (
        b'{"@context": "https://schema.org", "@type": "NewsArticle", "@id": ' + string
        + b', "headline": ' + string + b', "author": {"@type": "Person", "name": ' + string + b"}}"
    )  # fmt: skip
    base = b'<base href="' + link + b'">' if content.link is not None else b""
    return (
        b"<!doctype html><html lang='en'" + _attribute(content) + b"><head><title>" + words + b"</title>"
        + base + b'<meta name="author" content="' + words + b'"><meta property="og:title" content="'
        + words + b'">'
        b'<link rel="canonical" href="' + link + b'"><script type="application/ld+json">' + data
        + b"</script></head><body><article itemscope itemtype='https://schema.org/Article " + words + b"'"
        + _attribute(content) + b'><h1 itemprop="headline ' + words + b'">' + words + b"</h1><p>"
        + TEXT.encode() + b'</p><p class="' + words + b'">' + words + b'</p><a href="' + link + b'">' + words
        + b'</a><img src="' + link + b'" alt="' + words + b'"></article>' + anchors + b"</body></html>"
    )  # fmt: skip


def sitemap(origin: str, path: str, content: Content, links: tuple[str, ...] = ()) -> bytes:
    """A sitemap that names the links, and first what the content says."""
    said = [
        (content.address(origin + path), content.markup()),
        *((f"{origin}{to}".encode(), b"") for to in links),
    ]
    rows = b"".join(
        b"<url><loc>" + address + b"</loc><lastmod>" + stamp + b"</lastmod></url>" for address, stamp in said
    )
    opening = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"' + _attribute(content) + b">"
    return b"<?xml version='1.0' encoding='utf-8'?>" + opening + rows + b"</urlset>"


def robots(origin: str, path: str, content: Content, links: tuple[str, ...] = ()) -> bytes:
    """Rules that forbid nothing that is asked for, with the words in every kind of line."""
    words = content.words if isinstance(content.words, bytes) else content.words.encode()
    address = f"{origin}/sitemap.xml" if content.link is None else content.link
    return (
        b"# " + words + b"\nUser-agent: " + words + b"\nDisallow: /\n\nUser-agent: *\nDisallow: /never/"
        + words + b"\nCrawl-delay: " + words + b"\nSitemap: " + address.encode() + b"\nSitemap:"
        + address.encode() + b"\n" + words + b": " + words + b"\n" + content.attribute + b"\n"
    )  # fmt: skip


def hub(origin: str, path: str, content: Content, links: tuple[str, ...] = ()) -> bytes:
    """What a hub says when it takes a request: nobody reads it."""
    return content.words if isinstance(content.words, bytes) else content.words.encode()


BUILDERS: dict[Shape, Callable[[str, str, Content, tuple[str, ...]], bytes]] = {
    "feed": feed, "page": page, "app": page, "sitemap": sitemap, "robots": robots, "hub": hub,
}  # fmt: skip


def media_type(shape: Shape, content: Content) -> str:
    """What a server calls such a document."""
    return "application/feed+json" if shape == "feed" and content.form == "json" else MEDIA_TYPES[shape]


def _attribute(content: Content) -> bytes:
    return b" " + content.attribute if content.attribute else b""
