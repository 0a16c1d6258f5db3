# ruff: noqa: E501 (documents stand as they come)
"""Whatever bytes come, parsers end with a result that can be stored or with an error of their own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.reading.errors import ReadingError
from crawler.reading.feeds import feed_links, parse_feed
from crawler.reading.limits import LIMITS
from crawler.reading.pages import extract_page
from crawler.reading.pages.tree import whole_tree
from crawler.reading.sitemap import read_sitemap
from crawler.text.records import Record

URL = "https://example.org/a/b"
LONGEST = {
    "identity": 4_000, "title": 1_000, "author": 300, "language": 20, "type": 100, "stamp": 40, "format": 20,
    "categories": 200, "description": 1_000, "url": 12_000, "site_url": 12_000, "self_url": 12_000,
    "hub": 12_000, "canonical_url": 12_000, "summary": 5_000_000, "content": 5_000_000, "text": 5_000_000,
}  # fmt: skip
INDEXED = {"title", "language", "categories", "format"}

NASTY = [
    "\0", "&#0;", "&#1;", "&#x81;", "\x01", "\x7f", "\x85", "\x9f", "\ud800", "\\ud800", "\\u0000", "\ufffe", "\U0001f600" * 900,
    "<![CDATA[", "]]>", "<!--", "-->", "<", ">", '"', "'", "&", "&lt;b>", "&amp;#1;", "xml:base='http://[::1'", "xml:lang='\x02'",
    "<link>http://[::1</link>", "<guid>", "</guid>", "<title>", "</title>", "<base href='//['>", "<math><mi>", "<noscript><img srcset=x>",
    "<iframe/>", "é" * 3_000, "2026년 3월", "30 Φεβρουαρίου 2026", "\n", "\u2028", "<content src='javascript:x' type='a/b\x01'/>",
]  # fmt: skip
RSS = """<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>T</title><link>https://e.org/</link>
<language>en</language><item><guid>1</guid><title>A</title><link>/1</link><dc:creator>N</dc:creator><category>c</category>
<pubDate>Sat, 06 Mar 2021 14:05:09 GMT</pubDate><description>&lt;p>x&lt;/p></description>
<enclosure url="/a.mp3" type="audio/mpeg" length="9"/></item><item><link>/1</link><title>B</title></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>T</title><link rel="self" href="/f"/><entry><id>1</id>
<title type="html">A</title><link href="/1"/><updated>2021-03-06T14:05:09Z</updated><author><name>N</name></author>
<category term="c"/><content type="html">&lt;p>x&lt;/p></content></entry></feed>"""
JSON = """{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [{"id": "1", "url": "/1", "title": "A",
"content_html": "<p>x</p>", "tags": ["c"], "authors": [{"name": "N"}], "date_published": "2021-03-06T14:05:09Z"}]}"""
PAGE = """<!doctype html><html lang="en"><head><title>A</title><meta name="author" content="N"><link rel=canonical href="/c">
<link rel=alternate type="application/rss+xml" title="F" href="/f"><script type="application/ld+json">{"@type": "Article",
"author": "M", "datePublished": "2021-03-06"}</script></head><body><h1>A</h1><article><p>words of the page</p></article></body></html>"""
SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/1</loc>
<lastmod>2021-03-06</lastmod></url><url><loc>https://example.org/2</loc></url></urlset>"""


@st.composite
def mutated(draw: st.DrawFn, *samples: str) -> bytes:
    """A document with nasty pieces put in, parts cut out, in some encoding, perhaps with damaged bytes."""
    text = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(NASTY)) + text[at + draw(st.sampled_from([0, 0, 1, 9, 60])) :]
    codec = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    body = bytearray(text.encode(codec, "surrogatepass" if codec.startswith("utf") else "replace"))
    for _ in range(draw(st.integers(0, 3))):
        if body:
            body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
    return bytes(body)


def check(value: object, name: str = "") -> None:
    """Fail unless every text in a record can be stored, and is no longer than it may be."""
    if isinstance(value, Record):
        for field in value.__struct_fields__:
            check(getattr(value, field), field)
    elif isinstance(value, tuple | list):
        for one in value:
            check(one, name)
    elif isinstance(value, str):
        encoded = value.encode("utf-8")
        bad = [c for c in value if (c < " " and c not in "\t\r\n") or "\x7f" <= c <= "\x9f"]
        assert not bad, (name, bad)
        assert len(value) <= LONGEST.get(name, 1_000), name
        assert name not in INDEXED or len(encoded) <= 2_600, name


@settings(max_examples=150, deadline=None)
@given(st.one_of(mutated(RSS, ATOM, JSON), st.binary(max_size=300), mutated("<rss><channel>", "{", "<feed>")))
def test_feeds_give_what_can_be_stored_or_their_own_error(body: bytes) -> None:
    try:
        check(parse_feed(body, url=URL, content_type="text/xml"))
    except ReadingError as error:
        check(error.detail, "detail")


@settings(max_examples=150, deadline=None)
@given(st.one_of(mutated(PAGE), st.binary(max_size=300)), st.sampled_from(["text/html", "text/plain", ""]))
def test_pages_give_what_can_be_stored_or_their_own_error(body: bytes, content_type: str) -> None:
    check(feed_links(body, url=URL, content_type=content_type))
    try:
        check(extract_page(body, url=URL, content_type=content_type))
    except ReadingError as error:
        check(error.detail, "detail")


@settings(max_examples=150, deadline=None)
@given(st.one_of(mutated(SITEMAP), st.binary(max_size=300)))
def test_sitemaps_give_what_can_be_stored_or_their_own_error(body: bytes) -> None:
    try:
        listed, more, _ = read_sitemap(body, URL, 10)
    except ReadingError as error:
        check(error.detail, "detail")
        return
    check(listed)
    assert len(listed) <= 10 and more >= 0


@pytest.mark.parametrize("element", [b"<url/>", b"<a/>"])
def test_a_sitemap_of_nothing_but_elements_is_refused(element: bytes) -> None:
    with pytest.raises(ReadingError) as raised:
        read_sitemap(b"<urlset>" + element * (LIMITS.sitemap_elements + 1) + b"</urlset>", URL, 10)
    assert raised.value.kind == "too-large"


def test_entities_in_sitemaps_are_not_expanded_without_end() -> None:
    entities = b"".join(b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, 10))
    body = (
        b'<!DOCTYPE urlset [<!ENTITY l0 "lol">'
        + entities
        + b"]><urlset><url><loc>https://example.org/&l9;</loc></url></urlset>"
    )
    try:
        listed, _, _ = read_sitemap(body, URL, 10)
    except ReadingError:
        return
    assert all(len(one.url) < 100 for one in listed)


def test_a_page_with_half_a_surrogate_in_its_text_has_a_tree() -> None:
    assert whole_tree("<p>\ud800</p>") is not None
