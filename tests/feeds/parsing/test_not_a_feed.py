"""What came instead of a feed is said in words."""

from __future__ import annotations

import pytest

from crawler.reading.errors import ReadingError
from crawler.reading.feeds import looks_like_html, parse_feed

HTML = b"<!DOCTYPE html>\n<html><head><title>\n Log &amp; in </title></head><body>x</body></html>"
RDF_IN_COMMENT = b"<html><!-- <rdf:RDF xmlns='x'></rdf:RDF> --><body>licence</body></html>"
FEED = b"<rss><channel><title>T</title></channel></rss>"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "an empty body"),
        (b" \n", "an empty body"),
        (HTML, 'an HTML page titled "Log & in"'),
        (RDF_IN_COMMENT, "an HTML page"),
        (b"<HTML><BODY>old", "an HTML page"),
        (b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>', "a sitemap"),
        (b"<sitemapindex/>", "an index of sitemaps"),
        (b"<opml version='1.0'/>", "an OPML list"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "an SVG image"),
        (b"%PDF-1.7 ...", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"PK\x03\x04...", "a ZIP archive"),
        (b"\x00\x01\x02\x03", "binary data"),
        (b"<note>x</note>", "an XML document <note>"),
        (b"Not found", "text that is neither XML nor JSON"),
        (
            b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><x/></rdf:RDF>",
            "an XML document <rdf>",
        ),
    ],
)
def test_it_names_what_came_instead(body: bytes, detail: str) -> None:
    with pytest.raises(ReadingError) as raised:
        parse_feed(body, url="https://example.org/", content_type="application/rss+xml")
    assert (raised.value.kind, raised.value.detail) == ("not-a-feed", detail)


@pytest.mark.parametrize(
    ("body", "content_type", "answer"),
    [
        (HTML, "application/rss+xml", True),
        (b"<p>a fragment</p>", "text/html; charset=utf-8", True),
        (FEED, "text/html", False),
        (b"<!-- x -->" + FEED, "text/html", False),
        (b"<br/>Warning" + FEED, "text/html", False),
        (b'{"items": []}', "application/json", False),
        (b"plain", "text/plain", False),
        (b"<urlset/>", "text/html", False),
    ],
)
def test_it_tells_html_by_its_bytes_before_its_header(body: bytes, content_type: str, answer: bool) -> None:
    assert looks_like_html(body, content_type) is answer
