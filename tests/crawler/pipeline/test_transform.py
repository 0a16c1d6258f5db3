"""Graphs of documents: what is in them, how they are bounded, what cannot harm."""

from __future__ import annotations

import hashlib
import html
import json
import re
import time

import pyoxigraph
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.pipeline.terms import Kind, Term, read_triples, safe
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import Graph, SourceDocument, Transformed, iri, literal
from crawler.reading import detect as types
from crawler.reading.detect import detect
from crawler.reading.errors import ReadingError

URL = "http://site.example/dir/page"
DCT, SCHEMA, SIOC = "http://purl.org/dc/terms/", "http://schema.org/", "http://rdfs.org/sioc/ns#"
FOAF, RDFS = "http://xmlns.com/foaf/0.1/", "http://www.w3.org/2000/01/rdf-schema#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def graph(body: str | bytes, kind: str = "", **options: bool) -> Transformed:
    raw = body.encode() if isinstance(body, str) else body
    return transform(
        SourceDocument(URL, kind or detect(raw).type, raw, "text/html; charset=utf-8"), **options
    )


def triples(found: Transformed) -> set[tuple[str, str, str]]:
    """Values without their N-Triples signs."""
    terms, bad = read_triples(found.triples.encode())
    assert bad == 0
    answer = {(s.value, p.value, o.value) for s, p, o in terms}
    parsed = list(pyoxigraph.parse(found.triples.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES))
    assert len(parsed) == found.count == len(answer)
    return answer


def test_a_page_says_what_it_is_shows_and_links_to() -> None:
    found = triples(
        graph(
            """<!DOCTYPE html><html lang="de"><head><title> A  title </title>
            <base href="/base/"><meta name="description" content="About &quot;it&quot;">
            <link rel="canonical" href="http://site.example/canonical">
            <link rel="alternate" type="application/rss+xml" href="/feed"><link rel="Next" href="2">
            <meta property="og:image" content="pic.jpg">
            <meta property="article:published_time" content="2020-01-02">
            </head><body><a href="a?b=1#part" rel="nofollow">To <b>A</b></a><a href="#here">no</a>
            <a href="javascript:x()">no</a><a href="MAILTO:Me@Example.org?subject=x">mail</a>
            <img src="//img.example/i [1].png" alt="An image"><iframe src="inner"></iframe></body></html>"""
        )
    )
    assert {
        (URL, TYPE, FOAF + "Document"),
        (URL, DCT + "title", "A title"),
        (URL, DCT + "language", "de"),
        (URL, DCT + "description", 'About "it"'),
        (URL, SCHEMA + "url", "http://site.example/canonical"),
        (URL, DCT + "isVersionOf", "http://site.example/canonical"),
        (URL, RDFS + "seeAlso", "http://site.example/feed"),
        ("http://site.example/feed", DCT + "format", "application/rss+xml"),
        (URL, "http://www.w3.org/1999/xhtml/vocab#next", "http://site.example/base/2"),
        (URL, SCHEMA + "image", "http://site.example/base/pic.jpg"),
        (URL, SCHEMA + "datePublished", "2020-01-02"),
        (URL, SIOC + "links_to", "http://site.example/base/a?b=1"),
        ("http://site.example/base/a?b=1", RDFS + "label", "To A"),
        (URL, SIOC + "links_to", "http://site.example/base/inner"),
        (URL, FOAF + "depiction", "http://img.example/i%20%5B1%5D.png"),
        ("http://img.example/i%20%5B1%5D.png", RDFS + "label", "An image"),
    } <= found
    assert {o for s, p, o in found if p == FOAF + "mbox"} == {"mailto:me@example.org"}
    assert sum(1 for _, p, _ in found if p == SIOC + "links_to") == 2


def test_mail_addresses_are_hashed_where_asked() -> None:
    found = triples(graph("<p><a href='mailto:a@b.example'>x</a></p>", hash_mail=True))
    assert not [o for _, p, o in found if p == FOAF + "mbox"]
    (hashed,) = [o for _, p, o in found if p == FOAF + "mbox_sha1sum"]
    assert hashed == hashlib.sha1(b"mailto:a@b.example").hexdigest()


def test_jsonld_is_read_with_a_context_of_our_own_and_a_bad_block_costs_no_other() -> None:
    made = graph(
        """<html><head><title>T</title>
        <script type="application/ld+json">{"@context": "https://schema.org", "@type": "NewsArticle",
          "@id": "#it", "headline": "H", "url": "/x y", "author": {"@type": "Person", "name": "N"}}</script>
        <script type="application/ld+json">{"@context": </script>
        <script type="application/ld+json">{"@context": "http://other.example/c", "name": "lost"}</script>
        <script type="application/ld+json"><!-- {"@context": ["http://schema.org/"], "@id": "/two",
          "name": "Two"} --></script>
        </head></html>"""
    )
    found = triples(made)
    it = URL + "#it"
    assert {
        (it, TYPE, SCHEMA + "NewsArticle"),
        (it, SCHEMA + "headline", "H"),
        (it, SCHEMA + "url", "http://site.example/x%20y"),
        ("http://site.example/two", SCHEMA + "name", "Two"),
    } <= found
    (person,) = [o for s, p, o in found if (s, p) == (it, SCHEMA + "author")]
    assert (person, SCHEMA + "name", "N") in found
    assert any("skipped" in note for note in made.notes)
    assert any("http://other.example/c is not fetched" in note for note in made.notes)


def test_jsonld_too_deep_is_a_named_skip() -> None:
    deep = '{"a":' * 50_000 + "1" + "}" * 50_000
    made = graph(f"<title>T</title><script type='application/ld+json'>{deep}</script>")
    assert (URL, DCT + "title", "T") in triples(made)
    assert any("nested deeper than" in note for note in made.notes)
    with pytest.raises(ReadingError, match="too-deep"):
        graph('{"@graph":' + deep + "}", types.JSON_LD)


def test_microdata_with_items_inside_items_and_references() -> None:
    found = triples(
        graph(
            """<div itemscope itemtype="https://schema.org/Recipe" itemid="/soup" itemref="more none">
            <span itemprop="name">Soup</span><time itemprop="datePublished" datetime="2020-01-01">then</time>
            <div itemprop="author" itemscope itemtype="http://schema.org/Person">
            <b itemprop="name">Cook</b></div>
            <img itemprop="image" src="s.png"></div><p id="more"><span itemprop="keywords">hot</span></p>"""
        )
    )
    soup = "http://site.example/soup"
    assert {
        (soup, TYPE, SCHEMA + "Recipe"),
        (soup, SCHEMA + "name", "Soup"),
        (soup, SCHEMA + "datePublished", "2020-01-01"),
        (soup, SCHEMA + "image", "http://site.example/dir/s.png"),
        (soup, SCHEMA + "keywords", "hot"),
    } <= found
    (cook,) = [o for s, p, o in found if (s, p) == (soup, SCHEMA + "author")]
    assert (cook, SCHEMA + "name", "Cook") in found
    assert (soup, SCHEMA + "name", "Cook") not in found


RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:wfw="http://wellformedweb.org/CommentAPI/">
  <channel><title>Feed</title><link>http://site.example/</link><language>en</language>
  <item><title>One</title><link>/one</link><guid isPermaLink="false">id-1</guid>
    <pubDate>Wed, 02 Oct 2002 08:00:00 EST</pubDate><dc:creator>Ann</dc:creator><category>News</category>
    <enclosure url="a.mp3" type="audio/mpeg" length="5"/>
    <content:encoded>&lt;p&gt;x&lt;/p&gt;</content:encoded>
    <wfw:commentRss>/one/comments</wfw:commentRss></item>
  <item><title>Two</title><guid>http://site.example/two</guid><pubDate>some day</pubDate></item>
  <item><title>Three</title></item></channel></rss>"""


def test_rss_items_have_addresses_dates_people_and_files() -> None:
    made = graph(RSS)
    assert made.transformer.startswith("feed.xsl@")
    found = triples(made)
    one = "http://site.example/one"
    assert {
        (URL, TYPE, SIOC + "Forum"),
        (URL, TYPE, SCHEMA + "DataFeed"),
        (URL, DCT + "title", "Feed"),
        (URL, FOAF + "homepage", "http://site.example/"),
        (URL, SIOC + "container_of", one),
        (one, TYPE, SCHEMA + "PodcastEpisode"),
        (one, DCT + "identifier", "id-1"),
        (one, DCT + "created", "2002-10-02T13:00:00Z"),
        (one, SCHEMA + "keywords", "News"),
        (one, SIOC + "attachment", "http://site.example/dir/a.mp3"),
        ("http://site.example/dir/a.mp3", SCHEMA + "contentSize", "5"),
        (one, "http://purl.org/rss/1.0/modules/content/encoded", "<p>x</p>"),
        (one, RDFS + "seeAlso", "http://site.example/one/comments"),
        ("http://site.example/two", DCT + "title", "Two"),
        ("http://site.example/two", DCT + "created", "some day"),
    } <= found
    (three,) = [s for s, p, o in found if (p, o) == (DCT + "title", "Three")]
    assert three.startswith(URL + "#")


def test_atom_with_a_base_and_kinds_of_links() -> None:
    found = triples(
        graph(
            """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://base.example/x/"><title>F</title>
            <link rel="self" href="feed"/><link href="/"/><entry>
            <title>E</title><id>tag:1</id><link href="e"/>
            <link rel="enclosure" href="e.mp4" type="video/mp4" length="9"/><link rel="replies" href="r"/>
            <author><name>Bob</name><uri>http://b.example/</uri></author><published>2020-05-06T07:08:09+02:00</published>
            <category term="T"/></entry></feed>"""
        )
    )
    entry = "http://base.example/x/e"
    assert {
        (URL, RDFS + "seeAlso", "http://base.example/x/feed"),
        (URL, FOAF + "homepage", "http://base.example/"),
        (entry, DCT + "created", "2020-05-06T05:08:09Z"),
        (entry, SIOC + "attachment", "http://base.example/x/e.mp4"),
        (entry, RDFS + "seeAlso", "http://base.example/x/r"),
        (entry, SCHEMA + "keywords", "T"),
    } <= found
    assert "Bob" in {o for _, p, o in found if p == FOAF + "name"}


def test_feeds_that_are_not_well_formed_and_json_feeds_go_by_the_feed_parser() -> None:
    broken = graph(RSS.replace("<title>One</title>", "<title>One & only</title>"))
    assert broken.transformer.startswith("feed-parser@")
    assert ("http://site.example/one", DCT + "title", "One & only") in triples(broken)
    found = triples(
        graph('{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "/j"}]}')
    )
    assert (URL, SIOC + "container_of", "http://site.example/j") in found


def test_rdf_formats_sitemaps_and_outlines() -> None:
    turtle = graph('@prefix f: <http://xmlns.com/foaf/0.1/> .\n<#me> f:knows [ f:name "X"@en ] .')
    assert turtle.count == 2
    quads = graph("<http://a.example/> <http://b.example/> <http://c.example/> <http://g.example/> .\n")
    assert quads.triples == "<http://a.example/> <http://b.example/> <http://c.example/> ."
    places = "<url><loc>/p</loc><lastmod>2020</lastmod></url>"
    sitemap = triples(graph(f"<urlset>{places}</urlset>"))
    assert (URL, SIOC + "links_to", "http://site.example/p") in sitemap
    assert ("http://site.example/p", DCT + "modified", "2020") in sitemap
    outline = '<opml version="2.0"><body><outline text="X" xmlUrl="/f" htmlUrl="/h"/></body></opml>'
    assert (URL, RDFS + "seeAlso", "http://site.example/f") in triples(graph(outline))


def test_entities_are_refused_before_they_expand() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    rdf = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&b;</rdf:RDF>'
    with pytest.raises(ReadingError, match="entities"):
        graph(bomb + rdf, types.RDF_XML)
    with pytest.raises(ReadingError, match="entities"):
        graph((bomb + rdf).encode("utf-16"), types.RDF_XML)


@pytest.mark.parametrize(
    "body", ["<div>" * 200_000, "<a href='x'>" * 200_000, "<b>" * 200_000 + "<p itemscope>"]
)
def test_pages_nested_without_end_are_bounded(body: str) -> None:
    began = time.process_time()
    found = graph("<title>T</title>" + body)
    assert time.process_time() - began < 20
    assert (URL, DCT + "title", "T") in triples(found)


def test_no_document_gives_more_than_the_bounds() -> None:
    many = "".join(
        f"<http://a.example/> <http://b.example/> <http://c.example/{i}> .\n" for i in range(60_000)
    )
    with pytest.raises(ReadingError, match="too-large"):
        graph(many)
    long = graph('<http://a.example/> <http://b.example/> "' + "x\\\\" * 100_000 + '" .\n', types.N_TRIPLES)
    assert len(long.triples) < 70_000
    assert any("was cut" in note for note in long.notes)
    assert len(triples(long)) == 1


def test_the_same_document_gives_the_same_graph() -> None:
    page = """<div itemscope><i itemprop="a">1</i></div><script type="application/ld+json">
    {"@context": "http://schema.org", "author": [{"name": "A"}, {"name": "B"}]}</script>"""
    assert graph(page).triples == graph(page).triples


@given(st.text(max_size=200))
def test_every_text_is_a_page_or_a_named_refusal(text: str) -> None:
    body = f"<html><head><title>{text}</title></head><body><a href='{text}'>{text}</a></body></html>"
    triples(graph(body.encode("utf-8", "replace"), types.HTML))


@example("##")
@example("#a#b[c]#")
@example("%" + "\xe9" * 3_000)
@example("x\xe9" + "\xe9" * 3_000)
@example("xx\xe9" + "\xe9" * 3_000)
@given(st.text(min_size=1, max_size=80))
def test_what_is_safe_is_an_iri(text: str) -> None:
    url = "http://a.example/" + text.encode("utf-8", "replace").decode()
    list(pyoxigraph.parse(f"<{safe(url)}> <p:p> <o:o> .".encode(), format=pyoxigraph.RdfFormat.N_TRIPLES))


HOSTILE = [
    "What is _:b0", 'say "@en _:y', 'say "@en', "_:b0", "a [ b",
    '"^^<x> .', "\\", "x\\", '" .\n_:x <urn:p> "', "<!--",
    " _:a . ", "\u2028 _:b1 .", "\x85_:b2", "\U0001f600" * 1_000, "https://schema.org/ <https://schema.org/>",
    "\ufffe\uffff", "\x0c _:c", "\u202e",
]  # fmt: skip


def kept(text: str) -> str:
    """Titles are read with their white space collapsed."""
    return re.sub(r"[ \t\r\n]+", " ", text).strip()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_literal_is_what_was_said_whatever_it_looks_like(text: str) -> None:
    written = html.escape(text)
    block = json.dumps({"@context": {"@vocab": "http://v.example/"}, "said": [text, {"@id": "_:b0"}]})
    page = (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>T {written} T</title>'
        f'<script type="application/ld+json">{block.replace("<", chr(92) + "u003c")}</script></head>'
        f'<body><div itemscope itemtype="http://v.example/{written} {written}"><b itemprop="said">x</b>'
        f'<meta itemprop="heard" content="{written}"></div></body></html>'
    )
    raw = transform(SourceDocument(URL, types.HTML, page.encode(), "text/html; charset=utf-8"))
    found = triples(raw)
    (title,) = (value for _, name, value in found if name == DCT + "title")
    if text.isprintable():
        assert title == kept(f"T {text} T")
    assert (text if text.isprintable() else title) in {value for _, _, value in found} | {title}
    if text.isprintable():
        assert any(name.endswith("/said") and value == text for _, name, value in found)


@pytest.mark.parametrize("text", HOSTILE)
def test_every_feed_and_list_takes_every_text(text: str) -> None:
    clean = "".join(sign for sign in text if sign.isprintable())
    written = html.escape(clean)
    rss = (
        f"<rss version='2.0'><channel><title>{written}</title><item><title>{written}</title><author>{written}"
        f"</author><guid>{written}</guid><category>{written}</category></item></channel></rss>"
    )
    feed = json.dumps(
        {
            "version": "https://jsonfeed.org/version/1.1", "title": text, "language": text,
            "items": [{"id": text, "title": text, "tags": [text], "authors": [{"name": text}]}],
        }
    )  # fmt: skip
    opml = f"<opml><body><outline text='{written}' xmlUrl='http://f.example/'/></body></opml>"
    for body, kind in ((rss, types.RSS_2), (feed, types.JSON_FEED), (opml, types.OPML)):
        found = triples(transform(SourceDocument(URL, kind, body.encode())))
        assert any(value == kept(clean) for _, _, value in found) or not text.isprintable()


_GOOD = [f"good {number}" for number in range(30)]
_LINES = "".join(f'<{{u}}> <urn:p:p> "{text}" .\n' for text in _GOOD)
_LIST = ", ".join(f'"{text}"' for text in _GOOD)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (types.N_TRIPLES, f'{_LINES}<http://a b/> <urn:p:p> "x" .\n'),
        (types.N_TRIPLES, f'<{{u}}> <urn:p:p> "x"@toolongasubtag .\n{_LINES}nonsense\n'),
        (types.N_QUADS, f'nonsense\n{_LINES}<{{u}}> <urn:p:p> "x" . "y" .\n'),
        (types.TURTLE, f'<{{u}}> <urn:p:p> {_LIST}, <http://[::1> , "x"^^<no iri> .'),
        (types.TURTLE, f'<{{u}}> <urn:p:p> {_LIST}, <<( <{{u}}> <urn:p:p> "x" )>> .'),
        (
            types.RDF_XML,
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:p='urn:p:'>"
            f"<rdf:Description rdf:about='{{u}}'>{''.join(f'<p:p>{text}</p:p>' for text in _GOOD)}"
            "<p:p rdf:resource='http://a b/'/><p:p rdf:datatype='%%'>x</p:p>"
            "</rdf:Description></rdf:RDF>",
        ),
        (types.JSON_LD, f'{{"@id": "{{u}}", "urn:p:p": [{_LIST}, {{"@id": "urn:[x"}}]}}'),
    ],
)
def test_a_bad_term_costs_its_triple_and_is_told(kind: str, body: str) -> None:
    found = transform(SourceDocument(URL, kind, body.replace("{u}", URL).encode()))
    assert triples(found) == {(URL, "urn:p:p", text) for text in _GOOD}
    if kind != types.JSON_LD:  # there an address that is none is left out by the standard itself
        assert "left out" in " ".join(found.notes)


def test_a_document_of_mostly_bad_triples_is_refused() -> None:
    for kind, body in (
        (types.N_TRIPLES, '<urn:s:s> <urn:p:p> "good" .\n<http://a b/> <urn:p:p> "x" .\n'),
        (types.TURTLE, '<urn:s:s> <urn:p:p> "good" , <http://[::1> .'),
    ):
        with pytest.raises(ReadingError, match=r"IRI|code point|authority|host"):
            transform(SourceDocument(URL, kind, body.encode()))


@given(st.text(max_size=60), st.text(max_size=20))
def test_no_text_breaks_the_lines(text: str, name: str) -> None:
    graph = Graph(URL)
    graph.add(iri(URL), iri("urn:p:p"), literal(text))
    graph.add(iri(URL), iri("urn:p:" + name), literal(text))
    graph.add(Term(Kind.BLANK, name), iri("urn:p:p"), Term(Kind.LITERAL, text, lang=name))
    graph.add(Term(Kind.LITERAL, text), iri(name), Term(Kind.LITERAL, text, datatype=name))
    found = graph.done("x")
    terms, bad = read_triples(found.triples.encode())
    assert (len(terms), bad) == (found.count, 0)
    assert any(value.value == text.replace("\x00", "") for _, _, value in terms)


def test_triples_of_an_earlier_version_are_read_line_by_line() -> None:
    lines = b'<urn:s:s> <urn:p:p> "a" .\n<urn:s:s> <urn:p:p> "say \\"@en _:b0 .\n_:b0 <urn:p:p> _:b0 .\n\n'
    terms, bad = read_triples(lines, "d1")
    assert bad == 1
    assert [(s.value, o.value) for s, _, o in terms] == [("urn:s:s", "a"), ("d1b0", "d1b0")]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (types.RSS_2, "<rss version='2.0'><channel><title>a{0}b</title></channel></rss>"),
        (types.ATOM, "<feed xmlns='http://www.w3.org/2005/Atom'><title>a{0}b</title></feed>"),
        (types.HTML, "<!DOCTYPE html><title>a{0}b</title>"),
        (types.XHTML, "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>a{0}b</title></head></html>"),
    ],
)
@pytest.mark.parametrize("sign", ["\x00", "\x01", "\x1f", "\x0b", "&#1;", "&#x1F;"])
def test_a_control_character_in_a_title_costs_itself(kind: str, body: str, sign: str) -> None:
    found = triples(transform(SourceDocument(URL, kind, body.format(sign).encode(), "")))
    titles = {value.replace(" ", "") for _, name, value in found if name == DCT + "title"}
    assert titles & {"ab", "a\ufffdb"}, titles


@pytest.mark.parametrize("sign", ["\x00", "\x01", "\x1f"])
def test_a_control_character_in_a_list_costs_itself(sign: str) -> None:
    for kind, body in (
        (types.OPML, "<opml><body><outline text='a{0}b' xmlUrl='http://f.example/'/></body></opml>"),
        (types.SITEMAP, "<urlset><url><loc>http://f.example/</loc><lastmod>2026{0}</lastmod></url></urlset>"),
    ):
        found = transform(SourceDocument(URL, kind, body.replace("{0}", sign).encode()))
        assert ("http://f.example/" in found.triples, found.notes) == (True, ())


def test_jsonld_follows_its_base() -> None:
    def said(context: object, **more: object) -> set[tuple[str, str, str]]:
        block = {"@context": context, "@id": "x", "http://p.example/": {"@id": "y", "http://q.example/": 1}}
        return triples(transform(SourceDocument(URL, types.JSON_LD, json.dumps(block | more).encode())))

    there, here = "http://other.example/base/", "http://site.example/dir/"
    for context, base in (
        ({"@base": there}, there),
        ([{"@base": "http://wrong.example/"}, {"@base": there}], there),
        (["https://schema.org", {"@base": "../other/"}], "http://site.example/other/"),
        ({"@base": ""}, here),
        ({}, here),
    ):
        found = said(context)
        assert (base + "x", "http://p.example/", base + "y") in found
        assert (base + "y", "http://q.example/", "1") in found
    assert (there + "x", SCHEMA + "url", there + "z") in said(
        ["https://schema.org", {"@base": there}], url="z"
    )
    assert ("urn:x/x", "http://p.example/", "urn:x/y") in said({"@base": "urn:x/"})
    inner = said({}, **{"http://r.example/": {"@context": {"@base": there}, "@id": "in", "urn:v:v": 1}})
    assert (here + "x", "http://r.example/", there + "in") in inner
    assert (here + "x", "http://p.example/", here + "y") in inner


def test_a_first_line_that_is_a_triple_is_read_whole() -> None:
    first = f'<{URL}> <urn:p:p> "a" .\n'
    for body, header, more in (
        (first + f'<{URL}> <urn:p:p> "b" <urn:g:g> .\n', "", "b"),
        (first + '<> <urn:p:p> "b" ; <urn:p:q> <other> .\n', "text/turtle", "b"),
    ):
        raw = body.encode()
        found = triples(transform(SourceDocument(URL, detect(raw, header).type, raw, header)))
        assert {(URL, "urn:p:p", "a"), (URL, "urn:p:p", more)} <= found
