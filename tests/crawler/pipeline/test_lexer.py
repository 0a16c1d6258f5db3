"""No spelling of SERVICE gets past the lexer, and no name or text that only looks like it is refused."""

from __future__ import annotations

import random
import time
from itertools import product

import pyoxigraph
import pytest

from crawler.pipeline.sparql.lexer import refusal

NOWHERE = "<http://127.0.0.1:1/>"
PREFIXES = f"PREFIX : {NOWHERE} PREFIX ex: {NOWHERE} PREFIX service: <http://x.example/> "
ASKED = "{ ?a ?b ?c }"

WORDS = [
    f"SERVICE {NOWHERE}", f"service{NOWHERE}", f"SeRvIcE\n{NOWHERE}", f"SERVICE\t{NOWHERE}",
    f"SERVICE#>\n{NOWHERE}", f"SERVICE # a comment\r{NOWHERE}", f"SERVICE#\n#\n{NOWHERE}",
    f"SERVICE SILENT {NOWHERE}", f"serviceSILENT{NOWHERE}", f"SERVICE#\nSilent#\n{NOWHERE}",
    "SERVICE ex:", "SERVICE :a", "SERVICE:a", "service:", "SERVICEex:a", "SERVICESILENTex:b", "SERVICE\r:a",
]  # fmt: skip
PLACES = [
    "{here}", "?s ?p ?o .{here}", "?s ?p ?o {here}", "?s ?p ex: {here}", "?s ?p ?o ;{here}",
    "?s ?p true{here}", "?s ?p true.{here}", "?s ?p 1{here}", "?s ?p 1.{here}", "?s ?p 1e5{here}",
    "?s ?p 'a'{here}", '?s ?p "a"@en {here}', "?s ?p (1){here}", "?s ?p []{here}", "FILTER(1<2){here}",
    "FILTER(1<2){here}#>\n", "FILTER(1 <?x){here} FILTER(1>2)", "{{}}{here}", "{{{here}}}",
    "{{}}UNION{{{here}}}", "OPTIONAL{{{here}}}", "MINUS{{?s ?p ?o}}{here}", "GRAPH ?g{{{here}}}",
    "BIND(1<2 AS ?z){here}", "FILTER EXISTS{{{here}}}", "FILTER(1<2&&NOT EXISTS{{{here}}})",
    "{{SELECT*{{{here}}}}}", "VALUES ?x{{1}}{here}", "# '\n{here}", '# "\r{here}', "?s ?p 'it\\'s'{here}",
    '?s ?p "\\\\"{here} #"', '?s ?p "\\u005C"{here} #"', 'VALUES ?x {{"""a"}} {here} #\\q"""',
    'VALUES ?x {{"""a"}} {here} #\\uD800"""', "?s ?p '' {here} #'''", "?s ?p <http://x.example/'>{here}#'",
]  # fmt: skip

SPELLINGS = [
    f"{PREFIXES}SELECT * {{ {place.format(here=word + ASKED)}\n}}" for word, place in product(WORDS, PLACES)
]


def graph() -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    thing = pyoxigraph.NamedNode("http://127.0.0.1:1/")
    for value in (
        thing,
        pyoxigraph.Literal(True),
        pyoxigraph.Literal(1),
        pyoxigraph.Literal("a", language="en"),
    ):
        store.add(pyoxigraph.Quad(thing, thing, value, thing))
    return store


def asks(store: pyoxigraph.Store, query: str) -> bool:
    """Whether Oxigraph itself goes to the network for it: nobody answers at this address."""
    loud = query.replace("SILENT", "").replace("Silent", "")
    try:
        list(store.query(loud, use_default_graph_as_union=True))
    except SyntaxError:
        return False
    except OSError:
        return True
    return False


@pytest.mark.parametrize("place", PLACES)
def test_every_spelling_is_refused_wherever_it_stands(place: str) -> None:
    for word in WORDS:
        query = f"{PREFIXES}SELECT * {{ {place.format(here=word + ASKED)}\n}}"
        assert refusal(query), query


def test_most_of_the_spellings_would_ask() -> None:
    store = graph()
    assert sum(asks(store, query) for query in SPELLINGS) >= 300, "else the test above shows nothing"


@pytest.mark.parametrize("query", ["SELECT * { SERVICE ?x { } }", "select*{service$x{}}", "LOAD <http://x/>"])
def test_words_that_name_no_address_are_refused_too(query: str) -> None:
    assert refusal(query)


@pytest.mark.parametrize(
    "query",
    [
        'SELECT * { ?s <http://a.example/SERVICE> "a service" } # SERVICE',
        "SELECT * { ?s ?p 'SERVICE <http://x/> {' }",
        'SELECT * { ?s ?p """a "SERVICE" \' in\n{ SERVICE <x> { } """ }',
        "SELECT * { ?s ?p '''it's \"SERVICE\" {''' }",
        'SELECT * { ?s ?p "\\"} SERVICE <http://x/> {" }',
        'SELECT * { ?s ?p "\\u0041 \\U0001F600 service" }',
        'SELECT * { ?s ?p "x"@en-service, "y"@service }',
        "SELECT ?service $SERVICE { ?service ?p $SERVICE FILTER(?service < 1 && $SERVICE>2) }",
        "PREFIX ex: <http://x/> SELECT * { ?s ex:service ex:a.service, ex:SERVICE\\-x . ex:service ?p ?o }",
        "PREFIX service: <http://x/service> SELECT * { service:a service:b service:service . }",
        "PREFIX my-service: <http://x/> SELECT * { GRAPH ?g { ?s a my-service:Thing } }",
        "SELECT * { _:service ?p _:a.service }",
        "BASE <http://x/> SELECT * { ?s <service> <#service>, <a/service>, <//x/service> }",
        "SELECT * { ?s <urn:x:service> <urn:a/service> . ?o <mailto:a@service.example> ?x }",
        "SELECT * { ?s <http://en.example/Service_(it's)_{0}> ?o }".replace("{0}", "service"),
        "SELECT * { ?s ?p ?o FILTER(?s<?o || ?s <= <http://x/service> || 1<2) }",
        "SELECT * # SERVICE <http://x/> {\n{ ?s ?p ?o } #service",
        "SELECT (COUNT(*) AS ?services) { ?s ?p ?o } GROUP BY ?service HAVING(COUNT(*)<3) ORDER BY ?service",
    ],
)
def test_what_only_looks_like_it_is_let_through(query: str) -> None:
    assert refusal(query) == ""
    with_names = query if "SELECT ?service $" not in query else "SELECT * {}"
    if "GROUP BY" not in query:
        pyoxigraph.Store().query(with_names)


PIECES = [
    "?s ?p ?o", "?s ex:p", ".", ";", "FILTER(", "1<2", ")", "(", "{", "}", "true", "1.", "1e5", "?x", "_:b",
    "[]", "ex:p?", "'a'", '"a"', '"""a"', "'''", '"', "'", "\\u005C", "\\q", "#\n", "#", "\r", " ", "@en",
    "^^", "VALUES ?x {", "BIND(1 AS ?z)", "UNION", "a", "<", ">", "<=", "<http://x/>", "<2)", "||", "/",
    "EXISTS", "<<", ">>", "?", "%41", "\\-", ":",
]  # fmt: skip


def test_what_oxigraph_asks_for_is_refused_however_it_is_put_together() -> None:
    chance, store, live = random.Random(12), graph(), 0
    for _ in range(15_000):
        before = [chance.choice(PIECES) for _ in range(chance.randrange(5))]
        after = [chance.choice(PIECES) for _ in range(chance.randrange(3))]
        middle = chance.choice(WORDS) + chance.choice(["{?s ?p ?o}", " { }"])
        query = PREFIXES + "SELECT * {" + chance.choice(["", " "]).join([*before, middle, *after]) + "\n}"
        if asks(store, query):
            live += 1
            assert refusal(query), query
    assert live > 300


@pytest.mark.parametrize(
    "text",
    [
        "<",
        "<a",
        "<a>",
        "1<a.b",
        "'''\"\"\"",
        "\\'''",
        "a.",
        "_:a...",
        "(<'''\\'",
        "service:a  ",
        "#{",
        "'\"",
        "<(a) ",
    ],
)
def test_a_long_query_takes_no_time(text: str) -> None:
    for query in (text * (100_000 // len(text)), "1<" + text * (99_000 // len(text))):
        began = time.process_time()
        refusal(query)
        assert time.process_time() - began < 3.0
