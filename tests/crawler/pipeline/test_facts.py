"""What is said of a thing: who says it, and where two disagree."""

from __future__ import annotations

from crawler.pipeline.facts import addresses_in, facts_of, predicate_words
from crawler.pipeline.graph_search import DocumentStatements, Entity
from crawler.pipeline.names import Title, readable
from crawler.pipeline.prefixes import expanded
from crawler.pipeline.store import META, Quad
from crawler.pipeline.terms import Kind, Term, iri

PAGE, FEED, OTHER = iri("http://a.example/page"), iri("http://a.example/feed"), iri("http://b.example/")


def said(context: Term, predicate: str, value: str) -> DocumentStatements:
    quad = Quad(PAGE, expanded(predicate), Term(Kind.LITERAL, value), context)
    return DocumentStatements(context, [quad])


def test_a_fact_names_who_says_it_and_disagreement() -> None:
    entity = Entity(
        PAGE,
        [
            said(PAGE, "dct:title", "The wall"),
            said(FEED, "dct:title", "The wall"),
            said(OTHER, "dct:title", "A wall"),
            said(OTHER, "dct:description", "Stones."),
            said(META, "prov:generatedAtTime", "2026"),
        ],
        [],
    )
    names = {address: Title(readable(address), "/x/") for address in addresses_in(entity)}
    title, short = facts_of(entity, names)
    assert (title.label, title.is_disputed) == ("Title", True)
    assert [value.text for value in title.values] == ["The wall", "A wall"]
    assert title.values[0].is_own
    assert [name.title for name in title.values[0].who] == ["a.example › feed"]
    assert (short.label, short.is_disputed) == ("In short", False)


def test_predicates_and_addresses_read_as_words() -> None:
    assert predicate_words("http://x.example/ns#foundingDate") == "Founding date"
    assert readable("https://www.a.example/2026/the-old-wall.html") == "a.example › the old wall"
    assert readable("urn:freshet:org:ooni") == "ooni"
