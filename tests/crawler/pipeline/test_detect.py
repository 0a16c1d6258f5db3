"""What documents are: the cases of the WHATWG MIME standard, and the tricky documents of the web."""

from __future__ import annotations

import gzip

import pytest

from crawler.reading import detect as types
from crawler.reading.detect import detect
from crawler.reading.errors import ReadingError
from crawler.reading.inflate import without_gzip
from crawler.reading.mime import is_html, known_binary, mostly_binary, parse_mime_type

RSS = b'<?xml version="1.0"?><rss version="2.0"><channel><title>T</title></channel></rss>'
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title></feed>'
RDF = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description rdf:about="http://a.example/"/></rdf:RDF>'
)
RSS_1 = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
    b'<channel rdf:about="http://a.example/"/></rdf:RDF>'
)
PAGE = b"<!DOCTYPE html><html><head><title>404</title></head><body>Not here</body></html>"
CHINESE = (
    "<?xml version='1.0' encoding='gbk'?><rss version='2.0'><channel><title>\u4e2d</title></channel></rss>"
)
XHTML = b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head/><body/></html>'


@pytest.mark.parametrize(
    ("text", "essence", "parameters"),
    [
        ("text/html", "text/html", {}),
        ("  TEXT/HTML;charset=UTF-8  ", "text/html", {"charset": "UTF-8"}),
        ('text/html;charset="shift_jis"iso-2022-jp', "text/html", {"charset": "shift_jis"}),
        ("text/html;charset=gbk;charset=windows-1255", "text/html", {"charset": "gbk"}),
        ("text/html;;;;charset=gbk", "text/html", {"charset": "gbk"}),
        ("text/html; charset = gbk", "text/html", {}),
        ("text/html;charset= gbk", "text/html", {"charset": " gbk"}),
        ("text/html;charset=gbk ;x=y", "text/html", {"charset": "gbk", "x": "y"}),
        ('text/html;charset="\\g\\b\\k"', "text/html", {"charset": "gbk"}),
        ('text/html;charset="gbk', "text/html", {"charset": "gbk"}),
        ('text/html;charset="";charset=gbk', "text/html", {"charset": ""}),
        ("text/html;charset=;charset=gbk", "text/html", {"charset": "gbk"}),
        ("text/html;test;charset=gbk", "text/html", {"charset": "gbk"}),
        ("text/html;b\N{LATIN SMALL LETTER U WITH DIAERESIS}=x;c=y", "text/html", {"c": "y"}),
        ("x/x;x=\u0100;y=z", "x/x", {"y": "z"}),
        ("application/vnd.api+json", "application/vnd.api+json", {}),
    ],
)
def test_mime_types_are_parsed_as_the_standard_says(
    text: str, essence: str, parameters: dict[str, str]
) -> None:
    found = parse_mime_type(text)
    assert found is not None
    assert (found.essence, found.parameters) == (essence, parameters)


@pytest.mark.parametrize(
    "text", ["", "text", "/", "text/", "/html", "te xt/html", "text/ht(ml", "text//html", "é/x"]
)
def test_what_is_no_mime_type_is_none(text: str) -> None:
    assert parse_mime_type(text) is None


@pytest.mark.parametrize(
    ("lead", "answer"),
    [
        (b"<!DocType HTML>", True),
        (b"<script >", True),
        (b"<a\n", False),
        (b"<br>", True),
        (b"<!-- words", True),
        (b"<?xml version='1.0'?>", False),
        (b"<?XML", False),
        (b"plain words", False),
    ],
)
def test_first_tags_of_html_are_those_of_the_standard(lead: bytes, answer: bool) -> None:
    assert is_html(lead) is answer


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"%PDF-1.4", "application/pdf"),
        (b"%!PS-Adobe-3.0", "application/postscript"),
        (b"BM\x46\x00\x00\x00\x00\x00\x00\x00\x36", "image/bmp"),
        (b"GIF89a..", "image/gif"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"RIFF....WAVEfmt ", "audio/wave"),
        (b"FORM....AIFF", "audio/aiff"),
        (b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
        (b"\x1f\x8b\x08\x00", "application/x-gzip"),
        (b"PK\x03\x04", "application/zip"),
        (b"Rar!\x1a\x07\x01\x00", "application/x-rar-compressed"),
    ],
)
def test_first_bytes_tell_what_the_standard_says(body: bytes, kind: str) -> None:
    known = known_binary(body)
    assert known is not None
    assert known[0] == kind


@pytest.mark.parametrize(
    ("body", "binary"),
    [
        (b"\xef\xbb\xbf\x00", False),
        (b"\xfe\xff\x00\x00", False),
        (b"plain words", False),
        (b"words and a \x01", True),
        (b"an escape \x1b is text", False),
        (b"BMW and RIFF, the ftyp of words", False),
    ],
)
def test_control_characters_make_short_data_of_no_known_format(body: bytes, binary: bool) -> None:
    assert known_binary(body) is None
    assert mostly_binary(body) is binary


@pytest.mark.parametrize(
    ("body", "header", "url", "kind"),
    [
        (PAGE, "application/rss+xml", "http://a.example/feed.rss", types.HTML),
        (RSS, "text/html; charset=utf-8", "http://a.example/", types.RSS_2),
        (RDF, "text/xml", "http://a.example/foaf", types.RDF_XML),
        (RSS_1, "text/xml", "", types.RSS_1),
        (b"\xef\xbb\xbf" + RSS, "", "", types.RSS_2),
        (ATOM.decode().encode("utf-16"), "application/xml", "", types.ATOM),
        ("<rss version='0.91'/>".encode("utf-16-le"), "", "", types.RSS_0),
        (b"<!-- a comment --><?pi?>\n<!-- and one more -->" + ATOM, "text/plain", "", types.ATOM),
        (b"<!-- old -->" + PAGE, "", "", types.HTML),
        (gzip.compress(RSS), "application/gzip", "", types.RSS_2),
        (gzip.compress(b"\x00\x01\x02"), "", "", types.BINARY),
        (gzip.compress(gzip.compress(RSS)), "", "", types.BINARY),
        (XHTML, "application/xhtml+xml", "", types.XHTML),
        (XHTML, "text/html", "", types.HTML),
        (b"<h4>A menu</h4><ul></ul>", "", "", types.HTML),
        (b"<opml version='2.0'><body/></opml>", "text/xml", "", types.OPML),
        (b"<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>", "text/xml", "", types.WSDL),
        (b"<w:description xmlns:w='http://www.w3.org/ns/wsdl'/>", "application/xml", "", types.WSDL),
        (b"<definitions xmlns='http://example.org/'/>", "text/xml", "", types.XML),
        (b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>", "", "", types.SITEMAP),
        (b"<data><point/></data>", "text/xml", "", types.XML),
        (b"<widget>x</widget>", "text/html", "", types.HTML),
        (b'{"version": "https://jsonfeed.org/version/1.1"}', "application/json", "", types.JSON_FEED),
        (b'[{"@context": "https://schema.org"}]', "text/plain", "", types.JSON_LD),
        (b'{"a": 1}', "application/problem+json", "", types.JSON),
        (b"@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n", "text/plain", "", types.TURTLE),
        (b"# words\nPREFIX x: <http://x.example/>\n", "", "", types.TURTLE),
        (b"# one\n<http://a.example/> <http://b.example/> \"c\"@en .\n", "", "", types.N_TRIPLES),
        (b"_:a <http://b.example/> <http://c.example/> <http://g.example/> .\n", "", "", types.N_QUADS),
        (b"<http://a.example/> a <http://b.example/> .\n", "text/turtle", "", types.TURTLE),
        (b"Warning: mysql_connect() failed\n" + RSS, "text/html", "", types.RSS_2),
        (b"just words", "text/html", "", types.HTML),
        (b"just words", "", "http://a.example/page.html", types.HTML),
        (b"just words", "application/rss+xml", "http://a.example/feed.rss", types.TEXT),
        (b"%PDF-1.7 ...", "text/html", "http://a.example/x.html", types.BINARY),
        (b" \r\n\t ", "text/html", "", types.EMPTY),
        (b"", "", "", types.EMPTY),
        (CHINESE.encode("gbk"), "", "", types.RSS_2),
    ],
)  # fmt: skip
def test_tricky_documents(body: bytes, header: str, url: str, kind: str) -> None:
    verdict = detect(body, header, url)
    assert verdict.type == kind
    assert verdict.reason


def test_verdicts_tell_why() -> None:
    assert detect(PAGE, "application/rss+xml").reason == "the first tag is HTML's"
    assert detect(RSS_1).reason == "the root element is <RDF> and holds RSS 1.0"
    assert detect(gzip.compress(ATOM)).reason == "inside gzip: the root element is <feed>"
    assert detect(b"GIF89a").media == "image/gif"
    assert detect(b"words", "", "http://a.example/x.TTL").reason == "its name ends with .ttl"


def test_unpacking_is_bounded() -> None:
    bomb = gzip.compress(b"0" * 1_000_000)
    assert without_gzip(b"plain", 10) == b"plain"
    with pytest.raises(ReadingError, match="more than 1000 bytes inside gzip"):
        without_gzip(bomb, 1000)
    with pytest.raises(ReadingError, match="damaged gzip"):
        without_gzip(b"\x1f\x8bnonsense", 1000)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (RSS.replace(b"T<", b"T\x01<"), types.RSS_2),
        (ATOM.replace(b"T<", b"\x00T\x1f<"), types.ATOM),
        (PAGE.replace(b"404", b"4\x000\x004"), types.HTML),
        (b"\x00\x00" + PAGE, types.HTML),
        (b"\x01" + RSS, types.RSS_2),
        (b"\xef\xbb\xbf\x02" + RDF, types.RDF_XML),
        (b'{"version": "https://jsonfeed.org/version/1.1", "title": "a\x01b", "items": []}', types.JSON_FEED),
        (b"Words upon words, and one \x01 among them that means nothing at all.", types.TEXT),
        (bytes(range(32)) * 40, types.BINARY),
        (b"\x00\x01\x02\x03", types.BINARY),
        (b"{\x00\x01\x02\x03\x04\x05}", types.BINARY),
        (b"%PDF-1.7 <html>", types.BINARY),
    ],
)
def test_one_control_character_makes_no_document_binary(body: bytes, kind: str) -> None:
    assert detect(body).type == kind


TRIPLE = b'<http://a.example/> <http://b.example/> "c" .\n'


@pytest.mark.parametrize(
    ("body", "header", "kind"),
    [
        (TRIPLE, "", types.N_TRIPLES),
        (TRIPLE, "application/n-quads", types.N_QUADS),
        (TRIPLE, "text/turtle; charset=utf-8", types.TURTLE),
        (TRIPLE, "text/html", types.N_TRIPLES),
        (TRIPLE + TRIPLE.replace(b" .", b" <http://g.example/> ."), "", types.N_QUADS),
        (TRIPLE + TRIPLE.replace(b" .", b" _:g ."), "application/n-triples", types.N_QUADS),
        (TRIPLE + b"@prefix x: <http://x.example/> .\nx:a x:b x:c .", "", types.TURTLE),
        (TRIPLE + b"PREFIX x: <http://x.example/>\nx:a x:b x:c .", "text/plain", types.TURTLE),
        (TRIPLE + b"<relative> a <http://x.example/> .", "text/turtle", types.TURTLE),
    ],
)
def test_a_first_line_that_is_a_triple_does_not_decide_alone(body: bytes, header: str, kind: str) -> None:
    assert detect(body, header).type == kind
