"""Graphs of documents: what is in them, how they are bounded, what cannot harm."""

from __future__ import annotations

import hashlib
import time

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.pipeline import detect as types
from crawler.pipeline.detect import detect
from crawler.pipeline.terms import parse_term, safe, split_line
from crawler.pipeline.transform import Document, Transformed, TransformError, transform

URL = "http://site.example/dir/page"
DCT, SCHEMA, SIOC = "http://purl.org/dc/terms/", "http://schema.org/", "http://rdfs.org/sioc/ns#"
FOAF, RDFS = "http://xmlns.com/foaf/0.1/", "http://www.w3.org/2000/01/rdf-schema#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def graph(body: str | bytes, kind: str = "", **options: bool) -> Transformed:
    raw = body.encode() if isinstance(body, str) else body
    return transform(Document(URL, kind or detect(raw).type, raw, "text/html; charset=utf-8"), **options)


def triples(found: Transformed) -> set[tuple[str, str, str]]:
    """Values without their N-Triples signs."""
    answer = set()
    for line in found.triples.split("\n") if found.triples else ():
        s, p, o = (parse_term(text) for text in split_line(line))
        answer.add((s.value, p.value, o.value))
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
    with pytest.raises(TransformError, match="too-deep"):
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
    with pytest.raises(TransformError, match="entities"):
        graph(bomb + rdf, types.RDF_XML)
    with pytest.raises(TransformError, match="entities"):
        graph((bomb + rdf).encode("utf-16"), types.RDF_XML)


@pytest.mark.parametrize(
    "body", ["<div>" * 200_000, "<a href='x'>" * 200_000, "<b>" * 200_000 + "<p itemscope>"]
)
def test_pages_nested_without_end_are_bounded(body: str) -> None:
    began = time.monotonic()
    found = graph("<title>T</title>" + body)
    assert time.monotonic() - began < 20
    assert (URL, DCT + "title", "T") in triples(found)


def test_no_document_gives_more_than_the_bounds() -> None:
    many = "".join(
        f"<http://a.example/> <http://b.example/> <http://c.example/{i}> .\n" for i in range(60_000)
    )
    with pytest.raises(TransformError, match="too-large"):
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


@given(st.text(min_size=1, max_size=80))
def test_what_is_safe_is_an_iri(text: str) -> None:
    url = "http://a.example/" + text.encode("utf-8", "replace").decode()
    list(pyoxigraph.parse(f"<{safe(url)}> <p:p> <o:o> .".encode(), format=pyoxigraph.RdfFormat.N_TRIPLES))
