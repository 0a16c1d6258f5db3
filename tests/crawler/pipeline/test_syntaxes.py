"""Syntaxes of linked data in documents: contexts, RDFa, microdata, graphs in braces, languages of texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crawler.pipeline.terms import Kind, read_triples
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument, Transformed
from crawler.pipeline.transform.rdfa import has_rdfa
from crawler.reading import detect as types
from crawler.reading.detect import detect
from crawler.reading.errors import ReadingError

URL = "http://site.example/dir/page"
SCHEMA = "http://schema.org/"
FOAF = "http://xmlns.com/foaf/0.1/"
ACTIVITY = "https://www.w3.org/ns/activitystreams#"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD = "http://www.w3.org/2001/XMLSchema#"


def triples(found: Transformed) -> set[tuple[str, str, str]]:
    terms, bad = read_triples(found.triples.encode())
    assert bad == 0
    return {
        (
            "_" if subject.kind == Kind.BLANK else subject.value,
            predicate.value,
            "_" if value.kind == Kind.BLANK else _written(value),
        )
        for subject, predicate, value in terms
    }


def _written(term: Any) -> str:
    if term.lang:
        return f"{term.value}@{term.lang}"
    return f"{term.value}^^{term.datatype}" if term.datatype else term.value


def jsonld(value: object) -> Transformed:
    return transform(SourceDocument(URL, types.JSON_LD, json.dumps(value).encode()))


def page(body: str, head: str = "", rdfa: bool = False) -> set[tuple[str, str, str]]:
    text = f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"
    return triples(transform(SourceDocument(URL, types.HTML, text.encode()), rdfa=rdfa))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"@context": {"name": FOAF + "name"}, "@id": "x", "name": "A"}, ("x", FOAF + "name", "A")),
        ({"@context": {"@vocab": FOAF}, "@id": "x", "name": "A"}, ("x", FOAF + "name", "A")),
        ({"@context": {"f": FOAF}, "@id": "x", "f:name": "A"}, ("x", FOAF + "name", "A")),
        (
            {"@context": {"knows": {"@id": FOAF + "knows", "@type": "@id"}}, "@id": "x", "knows": "y"},
            ("x", FOAF + "knows", "http://site.example/dir/y"),
        ),
        (
            {"@context": {"n": {"@id": FOAF + "name", "@language": "de"}}, "@id": "x", "n": "A"},
            ("x", FOAF + "name", "A@de"),
        ),
        (
            {
                "@context": {"n": {"@id": FOAF + "name", "@container": "@language"}},
                "@id": "x",
                "n": {"fr": "A"},
            },
            ("x", FOAF + "name", "A@fr"),
        ),
        (
            {"@context": {"of": {"@reverse": FOAF + "maker"}}, "@id": "x", "of": {"@id": "y"}},
            ("y", FOAF + "maker", "http://site.example/dir/x"),
        ),
        (
            {"@context": {"age": {"@id": FOAF + "age", "@type": XSD + "integer"}}, "@id": "x", "age": "7"},
            ("x", FOAF + "age", f"7^^{XSD}integer"),
        ),
        (
            {
                "@context": {"@version": 1.1, "data": "@nest", "n": FOAF + "name"},
                "@id": "x",
                "data": {"n": "A"},
            },
            ("x", FOAF + "name", "A"),
        ),
        ({"@context": {"id": "@id", "n": FOAF + "name"}, "id": "x", "n": "A"}, ("x", FOAF + "name", "A")),
        (
            {"@context": {"@base": "/other/", "n": FOAF + "name"}, "@id": "x", "n": "A"},
            ("http://site.example/other/x", FOAF + "name", "A"),
        ),
        (
            {"@context": "https://www.w3.org/ns/activitystreams", "id": "x", "content": "A"},
            ("x", ACTIVITY + "content", "A"),
        ),
        (
            {
                "@context": "https://www.w3.org/ns/activitystreams",
                "id": "x",
                "attributedTo": "http://b.example/u",
            },
            ("x", ACTIVITY + "attributedTo", "http://b.example/u"),
        ),
        (
            {
                "@context": ["https://www.w3.org/ns/activitystreams", {"extra": FOAF + "extra"}],
                "id": "x",
                "extra": "A",
            },
            ("x", FOAF + "extra", "A"),
        ),
        ({"@context": "https://schema.org", "@id": "x", "headline": "A"}, ("x", SCHEMA + "headline", "A")),
        (
            {"@context": "http://schema.org/", "@id": "x", "url": "y"},
            ("x", SCHEMA + "url", "http://site.example/dir/y"),
        ),
        (
            {"@context": ["https://schema.org", {"@language": "ja"}], "@id": "x", "headline": "A"},
            ("x", SCHEMA + "headline", "A@ja"),
        ),
        (
            {"@context": ["https://schema.org", {"n": FOAF + "name"}], "@id": "x", "n": "A", "headline": "B"},
            ("x", FOAF + "name", "A"),
        ),
        ([{"@id": "x", FOAF + "name": [{"@value": "A"}]}], ("x", FOAF + "name", "A")),
        ({"@graph": [{"@id": "x", FOAF + "name": "A"}]}, ("x", FOAF + "name", "A")),
    ],
)
def test_jsonld_follows_its_context(value: object, expected: tuple[str, str, str]) -> None:
    subject, predicate, text = expected
    subject = subject if ":" in subject else f"http://site.example/dir/{subject}"
    assert (subject, predicate, text) in triples(jsonld(value))


def test_a_context_that_is_elsewhere_is_a_note_and_its_neighbours_are_read() -> None:
    found = jsonld({"@context": ["http://other.example/c", {"n": FOAF + "name"}], "@id": "x", "n": "A"})
    assert triples(found) == {("http://site.example/dir/x", FOAF + "name", "A")}
    assert found.notes == ("the context http://other.example/c is not fetched",)


@pytest.mark.parametrize(
    "value",
    [
        {"@context": {"a": "b:x", "b": "a:y"}, "a": "A"},
        {"@context": {"@vocab": 7}, "a": "A"},
        {"@context": {"a": {"@id": FOAF, "@container": "nonsense"}}, "a": "A"},
        {"@context": "file:///etc/passwd", "a": "A"},
        {"@context": {"@import": "http://other.example/"}, "a": "A", "@type": ["x", 5]},
        {"@id": 5, FOAF + "name": "A"},
    ],
    ids=["cyclic", "vocabulary", "container", "file", "import", "identifier"],
)
def test_a_wrong_context_is_a_named_refusal_of_a_document_and_a_note_on_a_page(value: object) -> None:
    with pytest.raises(ReadingError):
        jsonld(value)
    block = f'<script type="application/ld+json">{json.dumps(value)}</script><a href="/kept">Kept</a>'
    text = f"<html><head><title>Kept</title></head><body>{block}</body></html>"
    found = transform(SourceDocument(URL, types.HTML, text.encode()))
    assert any(value == "Kept" for _, _, value in triples(found))
    assert any("JSON-LD block was skipped" in note for note in found.notes)


def test_a_context_of_very_many_terms_is_read() -> None:
    terms = {f"t{number}": f"urn:t:{number}" for number in range(20_000)}
    found = jsonld({"@context": terms, "@id": "x", "t7": "A"})
    assert triples(found) == {("http://site.example/dir/x", "urn:t:7", "A")}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f'<p about="#me" property="{FOAF}name">Ana</p>', (f"{URL}#me", FOAF + "name", "Ana")),
        ('<p about="#me" property="foaf:name">Ana</p>', (f"{URL}#me", FOAF + "name", "Ana")),
        (
            f'<div vocab="{FOAF}" typeof="Person" about="#me"><b property="name">Ana</b></div>',
            (f"{URL}#me", FOAF + "name", "Ana"),
        ),
        (
            f'<p about="#me" prefix="f: {FOAF}" property="f:name" lang="es">Ana</p>',
            (f"{URL}#me", FOAF + "name", "Ana@es"),
        ),
        (
            '<p about="#me" property="foaf:age" datatype="xsd:integer" content="7">seven</p>',
            (f"{URL}#me", FOAF + "age", f"7^^{XSD}integer"),
        ),
        (
            '<a about="#me" rel="foaf:knows" href="/you">You</a>',
            (f"{URL}#me", FOAF + "knows", "http://site.example/you"),
        ),
        (
            '<a about="#me" rev="foaf:maker" href="/work">Work</a>',
            ("http://site.example/work", FOAF + "maker", f"{URL}#me"),
        ),
        ('<p resource="#me"><b property="foaf:name">Ana</b></p>', (f"{URL}#me", FOAF + "name", "Ana")),
        (
            '<img about="#me" property="foaf:img" src="/a.png">',
            (f"{URL}#me", FOAF + "img", "http://site.example/a.png"),
        ),
        (
            '<time about="#me" property="dc:date" datetime="2026-01-02">then</time>',
            (f"{URL}#me", "http://purl.org/dc/terms/date", f"2026-01-02^^{XSD}date"),
        ),
    ],
)
def test_rdfa_is_read(body: str, expected: tuple[str, str, str]) -> None:
    assert expected in page(body, rdfa=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<meta property="og:title" content="x">', False),
        ('<html prefix="og: http://ogp.me/ns#"><meta property="og:title" content="x">', False),
        ('<meta property="article:published_time" content="x">', False),
        ('<html prefix="og: http://ogp.me/ns# dc: http://purl.org/dc/terms/">', True),
        ('<meta property="dc:title" content="x">', True),
        ('<p vocab="http://schema.org/">', True),
        ("<p typeof=Person>", True),
        ("<p data-property='a:b' data-typeof='c' data-about=d>", False),
        ("a sentence about = and typeof = something", False),
        ("<p " + "about " * 50_000 + ">", False),
        ("<p " * 50_000, False),
    ],
)
def test_pages_with_rdfa_beyond_social_tags_are_told_from_others(text: str, expected: bool) -> None:
    assert has_rdfa(SourceDocument(URL, types.HTML, text.encode())) is expected


def _item(properties: str, kind: str = "http://schema.org/Thing") -> str:
    declared = f' itemtype="{kind}"' if kind else ""
    return f'<div itemscope{declared} itemid="http://site.example/i">{properties}</div>'


ITEM = "http://site.example/i"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (_item("<b itemprop=name>A  b</b>"), (ITEM, SCHEMA + "name", "A  b")),
        (_item("<b itemprop=name lang=pt>A</b>"), (ITEM, SCHEMA + "name", "A@pt")),
        (f"<div lang=fr>{_item('<b itemprop=name>A</b>')}</div>", (ITEM, SCHEMA + "name", "A@fr")),
        (_item('<a itemprop=url href="../up">x</a>'), (ITEM, SCHEMA + "url", "http://site.example/up")),
        (_item('<img itemprop=image src="/a.png">'), (ITEM, SCHEMA + "image", "http://site.example/a.png")),
        (_item('<meta itemprop=name content="A">'), (ITEM, SCHEMA + "name", "A")),
        (
            _item('<link itemprop=sameAs href="http://b.example/">'),
            (ITEM, SCHEMA + "sameAs", "http://b.example/"),
        ),
        (
            _item('<a itemprop=email href="mailto:a@b.example">x</a>'),
            (ITEM, SCHEMA + "email", "mailto:a@b.example"),
        ),
        (
            _item("<time itemprop=d datetime=2026-01-02>x</time>"),
            (ITEM, SCHEMA + "d", f"2026-01-02^^{XSD}date"),
        ),
        (
            _item("<time itemprop=d datetime=2026-01>x</time>"),
            (ITEM, SCHEMA + "d", f"2026-01^^{XSD}gYearMonth"),
        ),
        (_item("<time itemprop=d>2026</time>"), (ITEM, SCHEMA + "d", f"2026^^{XSD}gYear")),
        (_item("<time itemprop=d>12:30:01</time>"), (ITEM, SCHEMA + "d", f"12:30:01^^{XSD}time")),
        (_item("<time itemprop=d>PT1H30M</time>"), (ITEM, SCHEMA + "d", f"PT1H30M^^{XSD}duration")),
        (
            _item("<time itemprop=d>2026-01-02T03:04:05Z</time>"),
            (ITEM, SCHEMA + "d", f"2026-01-02T03:04:05Z^^{XSD}dateTime"),
        ),
        (_item("<time itemprop=d>yesterday</time>"), (ITEM, SCHEMA + "d", "yesterday")),
        (_item("<data itemprop=n value=42>many</data>"), (ITEM, SCHEMA + "n", f"42^^{XSD}integer")),
        (_item("<meter itemprop=n value=4.2>many</meter>"), (ITEM, SCHEMA + "n", f"4.2^^{XSD}double")),
        (_item("<data itemprop=n value=few>many</data>"), (ITEM, SCHEMA + "n", "few")),
        (_item("<b itemprop='name alternateName'>A</b>"), (ITEM, SCHEMA + "alternateName", "A")),
        (_item(f"<b itemprop={FOAF}nick>A</b>"), (ITEM, FOAF + "nick", "A")),
        (_item("<b itemprop=name>A</b>", ""), (ITEM, f"{URL}#name", "A")),
        (
            _item("<b itemprop=fn>A</b>", "http://microformats.org/profile/hcard"),
            (ITEM, "http://microformats.org/profile/hcard#fn", "A"),
        ),
        (_item("<b itemprop=p>A</b>", "http://v.example/ns#Kind"), (ITEM, "http://v.example/ns#p", "A")),
        (
            _item("", "http://schema.org/Person http://schema.org/Thing"),
            (ITEM, _TYPE, "http://schema.org/Thing"),
        ),
        (
            _item("<link itemprop=additionalType href='http://v.example/Extra'>"),
            (ITEM, _TYPE, "http://v.example/Extra"),
        ),
        (
            _item("<div itemprop=author itemscope itemid=http://site.example/j><b itemprop=name>B</b></div>"),
            ("http://site.example/j", SCHEMA + "name", "B"),
        ),
        (
            _item("").replace("itemid", "itemref=r itemid") + "<p id=r><b itemprop=name>A</b></p>",
            (ITEM, SCHEMA + "name", "A"),
        ),
    ],
)
def test_microdata_is_read(body: str, expected: tuple[str, str, str]) -> None:
    assert expected in page(body)


@pytest.mark.parametrize(
    "body",
    [
        "GRAPH <http://a.example/g> { <http://a.example/> a <http://a.example/T> }",
        "<http://a.example/g> { <http://a.example/> a <http://a.example/T> }",
        "_:g { <http://a.example/> a <http://a.example/T> }",
        "{ <http://a.example/> a <http://a.example/T> }",
        "@prefix : <http://a.example/> .\n# a comment {\n:g { :s :p :o }",
        "PREFIX : <http://a.example/>\n:s :p \"{\" .\n:g { :s :p '''}''' . }",
        "BASE <http://a.example/>\n<g> { <s> <p> <o> }",
    ],
)
@pytest.mark.parametrize("content_type", ["", "application/trig", "text/plain", "application/octet-stream"])
def test_graphs_in_braces_are_trig(body: str, content_type: str) -> None:
    assert detect(body.encode(), content_type, "http://a.example/data").type == types.TRIG
    found = transform(SourceDocument(URL, types.TRIG, body.encode()))
    assert found.count


@pytest.mark.parametrize(
    "body",
    [
        '@prefix : <http://a.example/> .\n:s :p "{ in a text }" .',
        "@prefix : <http://a.example/> .\n:s :p '''\n{ in a long text }\n''' .",
        "@prefix : <http://a.example/> .\n# { in a comment }\n:s :p :o .",
        "<http://a.example/s> a <http://a.example/T> .",
    ],
)
def test_braces_in_texts_and_comments_leave_turtle_turtle(body: str) -> None:
    assert detect(body.encode(), "", "http://a.example/data").type == types.TURTLE


@pytest.mark.parametrize(
    ("content_type", "name", "kind"),
    [
        ("text/turtle", "a.ttl", types.TURTLE),
        ("application/trig", "a.trig", types.TRIG),
        ("application/n-triples", "a.nt", types.N_TRIPLES),
        ("application/n-quads", "a.nq", types.N_QUADS),
    ],
)
def test_a_header_and_a_name_that_agree_are_believed_but_not_about_a_page(
    content_type: str, name: str, kind: str
) -> None:
    url = f"http://a.example/{name}"
    for body in (b"", b"# only a comment", b"a mistake { from the start"):
        assert detect(body, content_type, url).type == kind
    assert detect(b"<!DOCTYPE html><html><body>404</body></html>", content_type, url).type == types.HTML


def test_texts_of_pages_and_feeds_carry_their_language() -> None:
    text = '<html lang="es-mx"><head><title>Hola</title></head><body><a href="/a">Uno</a></body></html>'
    found = triples(transform(SourceDocument(URL, types.HTML, text.encode())))
    assert (URL, "http://purl.org/dc/terms/title", "Hola@es-mx") in found
    assert any(value == "Uno@es-mx" for _, _, value in found)
    feed = (
        "<rss version='2.0'><channel><title>T</title><language>de</language>"
        "<item><title>Eins</title><link>http://a.example/1</link></item></channel></rss>"
    )
    found = triples(transform(SourceDocument(URL, types.RSS_2, feed.encode())))
    assert ("http://a.example/1", "http://purl.org/dc/terms/title", "Eins@de") in found


@pytest.mark.parametrize("declared", ["", "not a language!", "x" * 300, "-", "de_"])
def test_a_page_of_no_language_is_read_all_the_same(declared: str) -> None:
    body = 'says xml:lang="" here'
    text = f'<html lang="{declared}"><head><title>{body}</title></head><body></body></html>'
    found = triples(transform(SourceDocument(URL, types.HTML, text.encode())))
    assert any(value.startswith(body) for _, _, value in found)
