"""Documents in JSON-LD, RDFa and microdata, each with all its triples by their specifications.

A case is a line "== name", the body, and after "=>" the triples in Turtle, or the word "error". A body
of HTML that does not begin with <html stands in a page that declares the prefix `e`.
"""

from __future__ import annotations

from typing import NamedTuple

URL = "http://a.example/dir/page"
ERROR = "error"
PREFIXES = f"""@base <{URL}> .
@prefix : <http://a.example/> .
@prefix d: <http://a.example/dir/> .
@prefix e: <http://e.example/> .
@prefix s: <http://schema.org/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix dc: <http://purl.org/dc/terms/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfa: <http://www.w3.org/ns/rdfa#> .
@prefix xhv: <http://www.w3.org/1999/xhtml/vocab#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


class Case(NamedTuple):
    """A document and all its triples in Turtle, or ERROR."""

    name: str
    body: str
    expected: str


def _table(text: str) -> list[Case]:
    cases = []
    for block in text.split("\n== ")[1:]:
        name, _, rest = block.partition("\n")
        body, arrow, expected = rest.partition("\n=>")
        assert arrow, name
        cases.append(Case(name.strip(), body, expected.strip()))
    return cases


JSON_LD = _table(r"""
== a vocabulary
{"@context": {"@vocab": "http://e.example/"}, "@id": "http://a.example/x", "@type": "T", "p": "A"}
=> :x a e:T ; e:p "A" .
== a vocabulary that ends within
{"@context": {"@vocab": "http://e.example/"}, "@id": "/x",
 "p": {"@context": {"@vocab": null}, "@id": "/y", "q": "lost"}}
=> :x e:p :y .
== a vocabulary in the document itself
{"@context": {"@vocab": "#", "r": "http://e.example/r"}, "@id": "/x", "p": "A"}
=> :x <http://a.example/dir/page#p> "A" .
== a vocabulary by a prefix
{"@context": [{"e": "http://e.example/"}, {"@vocab": "e:deep/"}], "@id": "/x", "p": "A"}
=> :x <http://e.example/deep/p> "A" .
== a term that means nothing
{"@context": {"@vocab": "http://e.example/", "p": null, "r": {"@id": null}}, "@id": "/x", "p": "lost",
 "q": "A", "r": "lost"}
=> :x e:q "A" .
== keys that mean nothing with all below
{"@context": {"q": "http://e.example/q"}, "@id": "/x", "p": {"@id": "/y", "q": "lost"}, "q": "A"}
=> :x e:q "A" .
== a base
{"@context": {"@base": "http://b.example/d/", "p": "http://e.example/p"}, "@id": "x",
 "p": {"@id": "../y"}}
=> <http://b.example/d/x> e:p <http://b.example/y> .
== a relative base
{"@context": {"@base": "../up/", "p": "http://e.example/p"}, "@id": "x", "p": "A"}
=> <http://a.example/up/x> e:p "A" .
== a base upon a base
{"@context": [{"@base": "http://b.example/d/"}, {"@base": "e/"}, {"p": "http://e.example/p"}],
 "@id": "x",
 "p": "A"}
=> <http://b.example/d/e/x> e:p "A" .
== relative addresses
{"@context": {"p": {"@id": "http://e.example/p", "@type": "@id"}}, "@id": "",
 "p": ["x", "../x", "./x/../y", "/x", "#f", "?q=1", "//b.example/z", "http://c.example/"]}
=> <> e:p d:x, :x, d:y, <http://a.example/dir/page#f>, <http://a.example/dir/page?q=1>,
 <http://b.example/z>, <http://c.example/> .
== no base and a relative address
{"@context": {"@base": null, "p": "http://e.example/p"}, "@graph": [{"@id": "x", "p": "lost"},
 {"@id": "http://a.example/x", "p": "A"}]}
=> :x e:p "A" .
== a type without a vocabulary is relative
{"@context": {"p": "http://e.example/p"}, "@id": "/x", "@type": "T", "p": "A"}
=> :x a d:T ; e:p "A" .
== prefixes
{"@context": {"e": "http://e.example/", "f": "e:f/", "g": {"@id": "e:g", "@prefix": true}}, "@id": "e:x",
 "@type": "f:T", "e:p": "A", "f:p": {"@id": "g:y"}, "g:p": 1}
=> e:x a <http://e.example/f/T> ; e:p "A" ; <http://e.example/f/p> <http://e.example/gy> ;
 <http://e.example/gp> 1 .
== terms that are no prefixes
{"@context": {"f": {"@id": "http://e.example/"}, "g": "http://e.example/g",
 "h": {"@id": "http://e.example/", "@prefix": false}}, "@id": "/x", "f:p": "A", "g:p": "B", "h:p": "C"}
=> :x <f:p> "A" ; <g:p> "B" ; <h:p> "C" .
== no prefix before two slashes
{"@context": {"http": "http://e.example/"}, "@id": "/x", "http://e.example/p": "A", "http:q": "B"}
=> :x e:p "A" ; e:q "B" .
== a compact address as a term
{"@context": {"e": "http://e.example/", "e:p": {"@type": "@id"}}, "@id": "/x", "e:p": "/y"}
=> :x e:p :y .
== coercion to addresses
{"@context": {"p": {"@id": "http://e.example/p", "@type": "@id"}, "e": "http://e.example/"}, "@id": "/x",
 "p": ["y", "e:y", "_:b", 5, true]}
=> :x e:p d:y, e:y, _:b, 5, true .
== coercion to terms
{"@context": {"@vocab": "http://e.example/", "p": {"@type": "@vocab"}, "t": "http://f.example/t"},
 "@id": "/x", "p": ["t", "u", "http://a.example/z"]}
=> :x e:p <http://f.example/t>, e:u, :z .
== coercion to terms but not to those elsewhere
{"@context": {"p": {"@id": "http://e.example/p", "@type": "@id"}, "t": "http://f.example/t"},
 "@id": "/x",
 "p": "t"}
=> :x e:p d:t .
== coercion to dates and none of objects
{"@context": {"p": {"@id": "http://e.example/p", "@type": "http://www.w3.org/2001/XMLSchema#date"}},
 "@id": "/x", "p": ["2026-01-02", {"@value": "B"}, {"@id": "/y"}]}
=> :x e:p "2026-01-02"^^xsd:date, "B", :y .
== coercion of numbers
{"@context": {"xsd": "http://www.w3.org/2001/XMLSchema#", "@vocab": "http://e.example/",
 "d": {"@type": "xsd:double"}, "i": {"@type": "xsd:integer"}, "f": {"@type": "xsd:float"},
 "n": {"@type": "@none"}}, "@id": "/x", "d": 5, "i": [5, 5.0], "f": 5.5, "n": [5, "5"]}
=> :x e:d "5.0E0"^^xsd:double ; e:i 5 ; e:f "5.5E0"^^xsd:float ; e:n 5, "5" .
== types of numbers and truths
{"@context": {"p": "http://e.example/p"}, "@id": "/x", "p": [7, -7, 7.5, 0.001, 1e21, true, false, 5.0]}
=> :x e:p 7, -7, "7.5E0"^^xsd:double, "1.0E-3"^^xsd:double, "1.0E21"^^xsd:double, true, false, 5 .
== values with types
{"@context": {"e": "http://e.example/", "p": "e:p"}, "@id": "/x",
 "p": [{"@value": "A", "@type": "e:D"}, {"@value": true, "@type": "e:D"}, {"@value": 3, "@type": "e:D"}]}
=> :x e:p "A"^^e:D, "true"^^e:D, "3"^^e:D .
== values of a type in the vocabulary
{"@context": {"@vocab": "http://e.example/", "p": {"@type": "D"}}, "@id": "/x", "p": "A",
 "q": {"@value": "B", "@type": "E"}}
=> :x e:p "A"^^e:D ; e:q "B"^^e:E .
== json in canonical form
{"@context": {"p": {"@id": "http://e.example/p", "@type": "@json"}}, "@id": "/x",
 "p": {"b": 1.0, "a": [true, null, "é\u000a\u0022", {}], "": 1e21, "c": 1e-7, "B": 0.5}}
=> :x e:p "{\"\":1e+21,\"B\":0.5,\"a\":[true,null,\"é\\n\\\"\",{}],\"b\":1,\"c\":1e-7}"^^rdf:JSON .
== json that looks like linked data
{"@context": {"p": {"@id": "http://e.example/p", "@type": "@json"}}, "@id": "/x",
 "p": [{"@id": "/y", "@context": 5}, null]}
=> :x e:p "[{\"@context\":5,\"@id\":\"/y\"},null]"^^rdf:JSON .
== json that is null
{"@context": {"p": {"@id": "http://e.example/p", "@type": "@json"}}, "@id": "/x", "p": null}
=> :x e:p "null"^^rdf:JSON .
== json in a value
{"@context": {"p": "http://e.example/p"}, "@id": "/x", "p": {"@type": "@json", "@value": "A"}}
=> :x e:p "\"A\""^^rdf:JSON .
== languages
{"@context": {"@vocab": "http://e.example/", "@language": "de", "en": {"@id": "e", "@language": "en"},
 "no": {"@language": null}}, "@id": "/x", "p": "A", "en": "B", "no": "C",
 "q": [{"@value": "D"}, {"@value": "E", "@language": "fr"}, 5]}
=> :x e:p "A"@de ; e:e "B"@en ; e:no "C" ; e:q "D", "E"@fr, 5 .
== a language that ends within
{"@context": {"@vocab": "http://e.example/", "@language": "de"}, "@id": "/x",
 "p": {"@context": {"@language": null}, "@id": "/y", "q": "A"}, "r": "B"}
=> :x e:p :y ; e:r "B"@de . :y e:q "A" .
== directions are ignored
{"@context": {"@vocab": "http://e.example/", "@direction": "rtl", "q": {"@direction": "ltr"}},
 "@id": "/x",
 "p": "A", "q": "B", "r": {"@value": "C", "@language": "ar", "@direction": "rtl"}}
=> :x e:p "A" ; e:q "B" ; e:r "C"@ar .
== a map of languages
{"@context": {"p": {"@id": "http://e.example/p", "@container": "@language"}}, "@id": "/x",
 "p": {"de": ["A", "B"], "fr": "C", "@none": "D", "en": null}}
=> :x e:p "A"@de, "B"@de, "C"@fr, "D" .
== lists
{"@context": {"p": {"@id": "http://e.example/p", "@container": "@list"}, "q": "http://e.example/q"},
 "@id": "/x", "p": ["A", null, 1], "q": {"@list": [{"@id": "/y"}, {"@value": null}, "B"]}}
=> :x e:p ("A" 1) ; e:q (:y "B") .
== an empty list and one of one
{"@context": {"p": {"@id": "http://e.example/p", "@container": "@list", "@type": "@id"}},
 "@graph": [{"@id": "/x", "p": []}, {"@id": "/y", "p": "/z"}]}
=> :x e:p () . :y e:p (:z) .
== lists of lists
{"@context": {"p": {"@id": "http://e.example/p", "@container": "@list"}}, "@id": "/x",
 "p": [["A", ["B"]], [], {"@list": ["C"]}]}
=> :x e:p (("A" ("B")) () ("C")) .
== two lists of one property
{"@context": {"p": "http://e.example/p"}, "@id": "/x", "p": [{"@list": ["A"]}, {"@list": ["A"]}, "B"]}
=> :x e:p ("A"), ("A"), "B" .
== sets
{"@context": {"p": {"@id": "http://e.example/p", "@container": "@set"}, "q": "http://e.example/q",
 "r": "http://e.example/r"}, "@id": "/x", "p": ["A", null, ["B"]], "q": {"@set": ["C", {"@set": "D"}]},
 "r": []}
=> :x e:p "A", "B" ; e:q "C", "D" .
== values that are null
{"@context": {"p": "http://e.example/p"}, "@id": "/x", "p": [null, {"@value": null}, "A"]}
=> :x e:p "A" .
== a map by index
{"@context": {"p": {"@id": "http://e.example/p", "@container": "@index"}}, "@id": "/x",
 "p": {"one": "A", "two": [{"@id": "/y"}, 2], "@none": "B"}}
=> :x e:p "A", :y, 2, "B" .
== a map by a property
{"@context": {"@vocab": "http://e.example/", "p": {"@container": "@index", "@index": "key"}},
 "@id": "/x",
 "p": {"one": {"@id": "/y", "q": "A"}, "@none": {"@id": "/z", "q": "B"}}}
=> :x e:p :y, :z . :y e:key "one" ; e:q "A" . :z e:q "B" .
== a map by identifiers
{"@context": {"@vocab": "http://e.example/", "none": "@none", "p": {"@container": "@id"}}, "@id": "/x",
 "p": {"y": {"q": "A"}, "_:b": {"q": "B"}, "none": {"q": "C"}}}
=> :x e:p d:y, [e:q "B"], [e:q "C"] . d:y e:q "A" .
== a map by types
{"@context": {"@vocab": "http://e.example/", "p": {"@container": "@type"}}, "@id": "/x",
 "p": {"T": {"@id": "/y", "@type": "U"}, "@none": {"@id": "/z"}, "W": "/w"}}
=> :x e:p :y, :z, :w . :y a e:T, e:U . :w a e:W .
== a map by types with contexts of their own
{"@context": {"@vocab": "http://e.example/", "p": {"@container": "@type"},
 "T": {"@id": "T", "@context": {"q": "http://f.example/q"}}}, "@id": "/x",
 "p": {"S": {"@id": "/y", "q": "A"}, "T": {"@id": "/z", "q": "B"}}}
=> :x e:p :y, :z . :y a e:S ; e:q "A" . :z a e:T ; <http://f.example/q> "B" .
== graphs as values
{"@context": {"@vocab": "http://e.example/", "p": {"@container": "@graph"}}, "@id": "/x",
 "p": {"@id": "/y", "q": "A"}}
=> :x e:p [] . :y e:q "A" .
== graphs by their names
{"@context": {"@vocab": "http://e.example/", "p": {"@container": ["@graph", "@id"]}}, "@id": "/x",
 "p": {"/g": {"@id": "/y", "q": "A"}, "@none": {"@id": "/z", "q": "B"}}}
=> :x e:p :g, [] . :y e:q "A" . :z e:q "B" .
== graphs by index
{"@context": {"@vocab": "http://e.example/", "p": {"@container": ["@graph", "@index", "@set"]}},
 "@id": "/x",
 "p": {"one": [{"@id": "/y", "q": "A"}], "two": {"@id": "/z", "q": "B"}}}
=> :x e:p [], _:two . :y e:q "A" . :z e:q "B" .
== a graph with a name
{"@context": {"@vocab": "http://e.example/"}, "@id": "/g", "p": "A", "@graph": [{"@id": "/x", "q": "B"},
 {"@id": "/h", "@graph": {"@id": "/y", "q": "C"}}]}
=> :g e:p "A" . :x e:q "B" . :y e:q "C" .
== values that float free
{"@context": {"@vocab": "http://e.example/"}, "@graph": ["A", {"@value": "B"}, {"@id": "/y"},
 {"@list": ["C"]}, {"@set": [{"@id": "/x", "p": "D"}]}]}
=> :x e:p "D" .
== the reverse of properties
{"@context": {"@vocab": "http://e.example/"}, "@id": "/x", "@reverse": {"p": [{"@id": "/y", "q": "A"},
 {"@id": "/z"}]}}
=> :y e:p :x ; e:q "A" . :z e:p :x .
== terms of reverse properties
{"@context": {"@vocab": "http://e.example/", "of": {"@reverse": "p", "@type": "@id"}}, "@id": "/x",
 "of": ["/y", {"@id": "/z", "of": "/w"}]}
=> :y e:p :x . :z e:p :x . :w e:p :z .
== the reverse of the reverse
{"@context": {"@vocab": "http://e.example/", "of": {"@reverse": "p"}}, "@id": "/x",
 "@reverse": {"of": {"@id": "/y"}}}
=> :x e:p :y .
== a reverse by index
{"@context": {"@vocab": "http://e.example/", "of": {"@reverse": "p", "@container": "@index"}},
 "@id": "/x",
 "of": {"a": {"@id": "/y"}, "b": {"@id": "/z"}}}
=> :y e:p :x . :z e:p :x .
== nesting
{"@context": {"@vocab": "http://e.example/", "data": "@nest", "q": {"@nest": "data"}}, "@id": "/x",
 "data": {"p": "A", "q": "B", "data": {"r": "C"}}, "@nest": [{"p": "D"}, {"p": "E"}]}
=> :x e:p "A", "D", "E" ; e:q "B" ; e:r "C" .
== included
{"@context": {"@vocab": "http://e.example/", "more": "@included"}, "@id": "/x", "p": "A",
 "@included": [{"@id": "/y", "p": "B", "@included": {"@id": "/z", "p": "C"}}], "more": {"@id": "/w",
 "p": 4}}
=> :x e:p "A" . :y e:p "B" . :z e:p "C" . :w e:p 4 .
== a context of a type
{"@context": {"@vocab": "http://e.example/", "T": {"@context": {"p": "http://f.example/p"}}},
 "@id": "/x",
 "@type": "T", "p": "A", "q": {"@id": "/y", "p": "B"}}
=> :x a e:T ; <http://f.example/p> "A" ; e:q :y . :y e:p "B" .
== a context of a type that goes on
{"@context": {"@vocab": "http://e.example/",
 "T": {"@context": {"@propagate": true, "p": "http://f.example/p"}}}, "@id": "/x", "@type": "T",
 "p": "A",
 "q": {"@id": "/y", "p": "B"}}
=> :x a e:T ; <http://f.example/p> "A" ; e:q :y . :y <http://f.example/p> "B" .
== contexts of types in the order of their names
{"@context": {"@vocab": "http://e.example/", "U": {"@context": {"p": "http://u.example/p"}},
 "T": {"@context": {"p": "http://t.example/p"}}}, "@id": "/x", "@type": ["U", "T"], "p": "A"}
=> :x a e:T, e:U ; <http://u.example/p> "A" .
== a context of a property
{"@context": {"@vocab": "http://e.example/", "p": {"@context": {"@vocab": "http://f.example/"}}},
 "@id": "/x",
 "p": {"@id": "/y", "@type": "T", "q": {"@id": "/z", "q": "A"}}, "q": "B"}
=> :x e:p :y ; e:q "B" . :y a <http://f.example/T> ; <http://f.example/q> :z .
 :z <http://f.example/q> "A" .
== a context of a property that clears all
{"@context": {"@vocab": "http://e.example/", "p": {"@context": null}}, "@id": "/x",
 "p": {"@id": "/y", "q": "lost", "http://e.example/r": "A"}}
=> :x e:p :y . :y e:r "A" .
== a context that does not go on
{"@context": {"@vocab": "http://e.example/"}, "@id": "/x",
 "p": {"@context": {"@propagate": false, "q": "http://f.example/q"}, "@id": "/y", "q": "A",
 "r": {"@id": "/z", "q": "B"}}}
=> :x e:p :y . :y <http://f.example/q> "A" ; e:r :z . :z e:q "B" .
== contexts one after another
{"@context": [{"p": "http://f.example/p", "q": "http://f.example/q"}, null, {"p": "http://e.example/p"}],
 "@id": "/x", "p": "A", "q": "lost"}
=> :x e:p "A" .
== protected terms defined alike
{"@context": [{"p": {"@id": "http://e.example/p", "@protected": true}}, {"p": "http://e.example/p"}],
 "@id": "/x", "p": "A"}
=> :x e:p "A" .
== protected terms under a property
{"@context": {"@protected": true, "p": "http://e.example/p",
 "q": {"@id": "http://e.example/q", "@context": {"p": "http://f.example/p"}}}, "@id": "/x", "p": "A",
 "q": {"@id": "/y", "p": "B"}}
=> :x e:p "A" ; e:q :y . :y <http://f.example/p> "B" .
== terms that are not protected among those that are
{"@context": [{"@protected": true, "p": {"@id": "http://e.example/p", "@protected": false}},
 {"p": "http://f.example/p"}], "@id": "/x", "p": "A"}
=> :x <http://f.example/p> "A" .
== aliases of keywords
{"@context": {"@vocab": "http://e.example/", "id": "@id", "a": "@type", "val": "@value",
 "lang": "@language",
 "rev": "@reverse", "all": "@graph", "list": "@list"}, "all": [{"id": "/x", "a": "T",
 "p": {"val": "A", "lang": "de"}, "q": {"list": [1]}, "rev": {"r": {"id": "/y"}}}]}
=> :x a e:T ; e:p "A"@de ; e:q (1) . :y e:r :x .
== blank nodes
{"@context": {"p": "http://e.example/p"}, "@graph": [{"@id": "_:a", "p": {"@id": "_:b"}},
 {"@id": "_:b", "p": [{"@id": "_:a"}, {"p": "A"}]}]}
=> _:a e:p _:b . _:b e:p _:a, [e:p "A"] .
== blank nodes as types but not as properties
{"@context": {"q": "_:q"}, "@id": "/x", "@type": "_:t", "_:p": "lost", "q": "lost",
 "http://e.example/p": "A"}
=> :x a _:t ; e:p "A" .
== what looks like a keyword is none
{"@context": {"@vocab": "http://e.example/", "@more": "http://e.example/more", "p": {"@id": "@ignore"}},
 "@id": "/x", "@more": "lost", "p": "D", "q": "A", "@": "B", "@a1": "C"}
=> :x e:p "D" ; e:q "A" ; <http://e.example/@> "B" ; <http://e.example/@a1> "C" .
== an object of two types and a value twice
{"@context": {"@vocab": "http://e.example/"}, "@id": "/x", "@type": ["T", "U"], "p": ["A", "A"],
 "q": {"@type": "T"}}
=> :x a e:T, e:U ; e:p "A" ; e:q [a e:T] .
== an object in two places
[{"@id": "http://a.example/x", "http://e.example/p": [{"@value": "A"}]},
 {"@id": "http://a.example/x", "http://e.example/p": [{"@value": "B"}], "@type": ["http://e.example/T"]}]
=> :x a e:T ; e:p "A", "B" .
== a term that maps to the type
{"@context": {"a": {"@id": "@type", "@container": "@set"}, "e": "http://e.example/",
 "k": {"@id": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "@type": "@id"}}, "@id": "/x",
 "a": ["e:T"], "k": "e:U"}
=> :x a e:T, e:U .
== index on a node and a value
{"@context": {"p": "http://e.example/p"}, "@id": "/x", "@index": "one", "p": {"@value": "A",
 "@index": "two"}}
=> :x e:p "A" .
== a cycle of terms
{"@context": {"a": "b:x", "b": "a:y"}, "a": "A"}
=> error
== a context of the wrong kind
{"@context": 5, "http://e.example/p": "A"}
=> error
== a vocabulary of the wrong kind
{"@context": {"@vocab": true}, "p": "A"}
=> error
== a base of the wrong kind
{"@context": {"@base": 5, "p": "http://e.example/p"}, "@id": "x", "p": "A"}
=> error
== a language of the wrong kind
{"@context": {"@language": 5, "p": "http://e.example/p"}, "@id": "/x", "p": "A"}
=> error
== a direction that is none
{"@context": {"@direction": "up", "p": "http://e.example/p"}, "@id": "/x", "p": "A"}
=> error
== a version that is none
{"@context": {"@version": 1.0, "p": "http://e.example/p"}, "@id": "/x", "p": "A"}
=> error
== an import of the wrong kind
{"@context": {"@import": 5, "p": "http://e.example/p"}, "@id": "/x", "p": "A"}
=> error
== a mark of going on of the wrong kind
{"@context": {"@propagate": "yes", "p": "http://e.example/p"}, "@id": "/x", "p": "A"}
=> error
== a protected term defined anew
{"@context": [{"@protected": true, "p": "http://e.example/p"}, {"p": "http://e.example/q"}], "p": "A"}
=> error
== a protected context cleared
{"@context": [{"@protected": true, "p": "http://e.example/p"}, null], "http://e.example/q": "A"}
=> error
== a keyword defined anew
{"@context": {"@id": "http://e.example/id"}, "http://e.example/p": "A"}
=> error
== a term of the wrong kind
{"@context": {"p": 5}, "p": "A"}
=> error
== a term with an unknown key
{"@context": {"p": {"@id": "http://e.example/p", "@other": 1}}, "p": "A"}
=> error
== a term without a mapping
{"@context": {"p": {"@type": "@id"}}, "p": "A"}
=> error
== a term that maps to a context
{"@context": {"p": "@context"}, "p": "A"}
=> error
== a container of the wrong kind
{"@context": {"p": {"@id": "http://e.example/p", "@container": ["@list", "@set"]}}, "p": "A"}
=> error
== a type of values of the wrong kind
{"@context": {"p": {"@id": "http://e.example/p", "@type": "_:t"}}, "p": "A"}
=> error
== a language of a term of the wrong kind
{"@context": {"p": {"@id": "http://e.example/p", "@language": 5}}, "p": "A"}
=> error
== a prefix mark of the wrong kind
{"@context": {"p": {"@id": "http://e.example/p", "@prefix": "yes"}}, "p": "A"}
=> error
== a reverse term that nests
{"@context": {"p": {"@reverse": "http://e.example/p", "@nest": "@nest"}}, "p": {"@id": "/y"}}
=> error
== a reverse term of a list
{"@context": {"p": {"@reverse": "http://e.example/p", "@container": "@list"}}, "p": {"@id": "/y"}}
=> error
== a context of a property of the wrong kind
{"@context": {"p": {"@id": "http://e.example/p", "@context": 5}}, "@id": "/x", "p": {"@id": "/y"}}
=> error
== an identifier of the wrong kind
{"@id": ["/x"], "http://e.example/p": "A"}
=> error
== a type of the wrong kind
{"@id": "/x", "@type": [5], "http://e.example/p": "A"}
=> error
== two identifiers
{"@context": {"id": "@id"}, "@id": "/x", "id": "/y", "http://e.example/p": "A"}
=> error
== a value that is an object
{"@id": "/x", "http://e.example/p": {"@value": {"a": 1}}}
=> error
== a value with other keys
{"@id": "/x", "http://e.example/p": {"@value": "A", "@id": "/y"}}
=> error
== a value with a type and a language
{"@id": "/x", "http://e.example/p": {"@value": "A", "@type": "http://e.example/D", "@language": "de"}}
=> error
== a value of a type that is no address
{"@id": "/x", "http://e.example/p": {"@value": "A", "@type": 5}}
=> error
== a value of a language of the wrong kind
{"@id": "/x", "http://e.example/p": {"@value": "A", "@language": 5}}
=> error
== a number with a language
{"@id": "/x", "http://e.example/p": {"@value": 5, "@language": "de"}}
=> error
== a list with other keys
{"@id": "/x", "http://e.example/p": {"@list": ["A"], "@id": "/y"}}
=> error
== a set with other keys
{"@id": "/x", "http://e.example/p": {"@set": ["A"], "http://e.example/q": "B"}}
=> error
== an index of the wrong kind
{"@id": "/x", "@index": 5, "http://e.example/p": "A"}
=> error
== a map of languages of numbers
{"@context": {"p": {"@id": "http://e.example/p", "@container": "@language"}}, "@id": "/x",
 "p": {"de": 5}}
=> error
== a reverse of the wrong kind
{"@id": "/x", "@reverse": "A"}
=> error
== a reverse of a value
{"@id": "/x", "@reverse": {"http://e.example/p": "A"}}
=> error
== a nest of a value
{"@id": "/x", "@nest": "A"}
=> error
== an included value
{"@id": "/x", "@included": "A", "http://e.example/p": "B"}
=> error
""")

RDFA = _table(r"""
== an absolute property
<p about="http://a.example/x" property="http://e.example/p">A</p>
=> :x e:p "A" .
== a compact property
<p about="/x" property="e:p">A</p>
=> :x e:p "A" .
== a vocabulary
<div vocab="http://e.example/" about="/x" typeof="T"><b property="p">A</b></div>
=> <> rdfa:usesVocabulary <http://e.example/> . :x a e:T ; e:p "A" .
== a vocabulary that ends within
<div vocab="http://e.example/"><p vocab=""
 about="/x"><b property="p">lost</b><b property="e:q">A</b></p></div>
=> <> rdfa:usesVocabulary <http://e.example/> . :x e:q "A" .
== a vocabulary within another
<div vocab="http://e.example/" about="/x"><b property="p">A</b>
<i vocab="http://f.example/" property="p">B</i></div>
=> <> rdfa:usesVocabulary <http://e.example/>, <http://f.example/> . :x e:p "A" ;
 <http://f.example/p> "B" .
== terms without a vocabulary
<p about="/x" property="p e:q">A</p>
=> :x e:q "A" .
== a prefix that nobody declared
<p about="/x" property="zz:p">A</p>
=> :x <zz:p> "A" .
== prefixes declared together and anew
<div prefix="f: http://f.example/ g: http://g.example/" about="/x"><b property="f:p">A</b>
<i prefix="f: http://h.example/" property="f:p g:p">B</i></div>
=> :x <http://f.example/p> "A" ; <http://h.example/p> "B" ; <http://g.example/p> "B" .
== prefixes in capitals
<p prefix="FF: http://f.example/" about="/x" property="ff:p Ff:q">A</p>
=> :x <http://f.example/p> "A" ; <http://f.example/q> "A" .
== prefixes in the old way
<p xmlns:f="http://f.example/" about="/x" property="f:p">A</p>
=> :x <http://f.example/p> "A" .
== prefixes that all pages have
<p about="/x" property="dc:title dcterms:date foaf:name schema:url skos:note">A</p>
=> :x dc:title "A" ; dc:date "A" ; foaf:name "A" ; s:url "A" ;
 <http://www.w3.org/2004/02/skos/core#note> "A" .
== compact addresses of things
<p about="e:x" property="e:p" resource="[e:y]">A</p><p about="[e:z]" property="e:p">B</p>
=> e:x e:p e:y . e:z e:p "B" .
== links are never compact
<a about="/x" property="e:p" href="e:y">A</a>
=> :x e:p <e:y> .
== blank nodes with names
<p about="_:a" property="e:p" resource="[_:b]"></p><p about="[_:a]" property="e:q">A</p>
<p about="_:b" property="e:q">B</p>
=> _:a e:p _:b ; e:q "A" . _:b e:q "B" .
== the blank node without a name
<p about="_:" property="e:p">A</p><p about="[_:]" property="e:q">B</p>
=> [] e:p "A" ; e:q "B" .
== a blank node is no property
<p about="/x" property="_:p e:q">A</p>
=> :x e:q "A" .
== several properties
<p about="/x" property="e:p e:q  e:p">A</p>
=> :x e:p "A" ; e:q "A" .
== content
<p about="/x" property="e:p" content="B">A</p><p about="/x" property="e:q" content="">A</p>
=> :x e:p "B" ; e:q "" .
== texts within texts and their blanks
<p about="/x" property="e:p"> A <b>B
 <i>C</i></b></p>
=> :x e:p " A B\n C" .
== languages
<div lang="de" about="/x"><b property="e:p">A</b><b property="e:q" lang="fr" content="B">b</b>
<b property="e:r" lang="">C</b></div>
=> :x e:p "A"@de ; e:q "B"@fr ; e:r "C" .
== a language of the whole page
<html lang="es" prefix="e: http://e.example/"><body><p about="/x" property="e:p">A</p></body></html>
=> :x e:p "A"@es .
== datatypes
<div lang="de" about="/x"><b property="e:p" datatype="xsd:integer">7</b>
<b property="e:p" datatype="xsd:integer">007</b><b property="e:q" datatype="e:D" content="B">b</b>
<b property="e:r" datatype="">C</b></div>
=> :x e:p 7, 007 ; e:q "B"^^e:D ; e:r "C"@de .
== texts of xml
<p about="/x" property="e:p" datatype="rdf:XMLLiteral">A &amp; B</p>
=> :x e:p "A &amp; B"^^rdf:XMLLiteral .
== texts of html
<p about="/x" property="e:p" datatype="rdf:HTML">A <b>B</b></p>
=> :x e:p "A <b>B</b>"^^rdf:HTML .
== links are values
<a about="/x" property="e:p" href="../y">A</a>
=> :x e:p :y .
== sources are values
<img about="/x" property="e:p" src="i.png">
=> :x e:p d:i.png .
== resources come before links
<a about="/x" property="e:p" resource="/y" href="/z">A</a>
=> :x e:p :y .
== content comes before links
<a about="/x" property="e:p" href="/y" content="A">B</a>
=> :x e:p "A" .
== links with content are what it is about
<a href="/x" property="e:p" content="A">B</a>
=> :x e:p "A" .
== datatypes come before links
<a about="/x" property="e:p" href="/y" datatype="xsd:string">A</a>
=> :x e:p "A" .
== links of any scheme
<a about="/x" property="e:p" href="mailto:a@b.example">A</a>
=> :x e:p <mailto:a@b.example> .
== a type of what it is about
<p about="/x" typeof="e:T e:U"></p>
=> :x a e:T, e:U .
== a type alone
<div typeof="e:T"><b property="e:p">A</b></div>
=> [] a e:T ; e:p "A" .
== a type of a resource
<div resource="/x" typeof="e:T"><b property="e:p">A</b></div>
=> :x a e:T ; e:p "A" .
== a type of a link
<a href="/x" typeof="e:T"><b property="e:p">A</b></a>
=> :x a e:T ; e:p "A" .
== a type of a value
<div about="/x"><div property="e:p" typeof="e:T"><b property="e:q">A</b></div>
<b property="e:r">B</b></div>
=> :x e:p [a e:T ; e:q "A"] ; e:r "B" .
== a type of a value with an address
<div about="/x"><div property="e:p" typeof="e:T" resource="/y"><b property="e:q">A</b></div></div>
=> :x e:p :y . :y a e:T ; e:q "A" .
== a type of a value that is a link
<div about="/x"><a property="e:p" typeof="e:T" href="/y"><b property="e:q">A</b></a></div>
=> :x e:p :y . :y a e:T ; e:q "A" .
== a type and a property of what it is about
<div about="/x" property="e:p" typeof="e:T">A</div>
=> :x a e:T ; e:p "A" .
== a type and content
<div about="/x"><div property="e:p" content="A" typeof="e:T"><b property="e:q">B</b></div></div>
=> [] a e:T ; e:p "A" ; e:q "B" .
== types within types
<div about="/x" typeof="e:T"><div typeof="e:U"><b property="e:p">A</b></div><b property="e:p">B</b></div>
=> :x a e:T ; e:p "B" . [] a e:U ; e:p "A" .
== an empty type
<div about="/x"><div property="e:p" typeof=""><b property="e:q">A</b></div></div>
=> :x e:p [e:q "A"] .
== a value with an address is not what follows
<div about="/x"><div property="e:p" resource="/y"><b property="e:q">A</b></div></div>
=> :x e:p :y ; e:q "A" .
== a resource alone
<div resource="/x"><p><b property="e:p">A</b></p></div>
=> :x e:p "A" .
== a relation
<a about="/x" rel="e:p e:q" href="/y">A</a>
=> :x e:p :y ; e:q :y .
== a relation backwards
<a about="/x" rev="e:p" href="/y">A</a>
=> :y e:p :x .
== relations both ways
<a about="/x" rel="e:p" rev="e:q" resource="/y" href="/z">A</a>
=> :x e:p :y . :y e:q :x .
== a relation and a property
<a about="/x" rel="e:p" href="/y" property="e:q">A</a>
=> :x e:p :y ; e:q "A" .
== a chain
<div about="/x" rel="e:p" resource="/y"><b property="e:q">A</b><a rel="e:r" href="/z">B</a></div>
=> :x e:p :y . :y e:q "A" ; e:r :z .
== a relation that is completed
<div about="/x" rel="e:p"><p><i about="/y" property="e:q">A</i><a href="/z" typeof="e:T">B</a></p></div>
=> :x e:p :y, :z . :y e:q "A" . :z a e:T .
== a relation completed by a blank node
<div about="/x" rel="e:p"><b property="e:q">A</b><b property="e:r">B</b></div>
=> :x e:p [e:q "A" ; e:r "B"] .
== a relation completed by a relation
<div about="/x" rel="e:p"><a rel="e:q" href="/y">A</a></div>
=> :x e:p [e:q :y] .
== a relation backwards that is completed
<div about="/x" rev="e:p"><i about="/y" property="e:q">A</i></div>
=> :y e:p :x ; e:q "A" .
== a relation that is never completed
<div about="/x" rel="e:p"><b>A</b></div><p about="/x" property="e:q">B</p>
=> :x e:q "B" .
== a relation to a type
<div about="/x"><div rel="e:p" typeof="e:T"><b property="e:q">A</b></div></div>
=> :x e:p [a e:T ; e:q "A"] .
== a relation of a type
<div about="/x" rel="e:p" typeof="e:T"><i about="/y" property="e:q">A</i></div>
=> :x a e:T ; e:p :y . :y e:q "A" .
== a list of texts
<ol about="/x"><li property="e:p" inlist="">A</li><li property="e:p" inlist="">B</li></ol>
=> :x e:p ("A" "B") .
== a list of things
<div about="/x"><a rel="e:p" inlist="" href="/y">A</a><b property="e:p" inlist="">B</b>
<a property="e:p" inlist="" href="/z">C</a></div>
=> :x e:p (:y "B" :z) .
== a list that is completed
<div about="/x" rel="e:p" inlist=""><i about="/y" property="e:q">A</i><i about="/z"
 property="e:q">B</i></div>
=> :x e:p (:y :z) . :y e:q "A" . :z e:q "B" .
== an empty list
<div about="/x" rel="e:p" inlist=""></div>
=> :x e:p () .
== a list and values beside it
<div about="/x"><b property="e:p" inlist="">A</b><b property="e:p">B</b><b property="e:q"
 inlist="">C</b></div>
=> :x e:p ("A"), "B" ; e:q ("C") .
== lists of two things
<div about="/x"><b property="e:p" inlist="">A</b><p about="/y"><b property="e:p" inlist="">B</b></p>
<b property="e:p" inlist="">C</b></div>
=> :x e:p ("A" "C") . :y e:p ("B") .
== the page itself
<p about="" property="e:p">A</p><p property="e:q">B</p><p about="#f" property="e:p">C</p>
=> <> e:p "A" ; e:q "B" . <#f> e:p "C" .
== a base
<html prefix="e: http://e.example/"><head><base href="http://b.example/d/"></head>
<body><p about="x" property="e:p">A</p><p about="" property="e:p" resource="../y"></p></body></html>
=> <http://b.example/d/x> e:p "A" . <http://b.example/d/> e:p <http://b.example/y> .
== statements in the head
<html prefix="e: http://e.example/"><head><title property="e:p">A</title><meta property="e:q"
 content="B">
<link property="e:r" href="/y"><link rel="e:s" href="/z"></head><body></body></html>
=> <> e:p "A" ; e:q "B" ; e:r :y ; e:s :z .
== the type of the body
<html prefix="e: http://e.example/"><head></head><body typeof="e:T"><p property="e:p">A</p></body></html>
=> <> a e:T ; e:p "A" .
== what the whole page is about
<html prefix="e: http://e.example/" about="/x"><head></head><body property="e:p">A</body></html>
=> :x e:p "A" .
== a type of the root
<html prefix="e: http://e.example/" typeof="e:T"><head></head><body><p property="e:p">A</p></body></html>
=> <> a e:T ; e:p "A" .
== terms that all pages have
<a about="/x" rel="license" href="/y">A</a><a about="/x" rel="DescribedBy" href="/z">B</a>
=> :x xhv:license :y ; <http://www.w3.org/2007/05/powder-s#describedby> :z .
== terms that pages had once
<a about="/x" rel="next prev stylesheet nofollow" href="/y">A</a><p about="/x" property="e:p">B</p>
=> :x e:p "B" .
== a relation of terms beside a property
<a about="/x" rel="nofollow" property="e:p" href="/y">A</a>
=> :x e:p :y .
== a date
<time about="/x" property="e:p" datetime="2026-01-02">A</time>
=> :x e:p "2026-01-02"^^xsd:date .
== times in texts
<div about="/x"><time property="e:p">2026-01-02T03:04:05Z</time><time property="e:q">03:04:05</time>
<time property="e:r">2026-01</time><time property="e:s">2026</time>
<time property="e:t">P1DT2H</time></div>
=> :x e:p "2026-01-02T03:04:05Z"^^xsd:dateTime ; e:q "03:04:05"^^xsd:time ;
 e:r "2026-01"^^xsd:gYearMonth ;
 e:s "2026"^^xsd:gYear ; e:t "P1DT2H"^^xsd:duration .
== a time that is none
<time about="/x" property="e:p" lang="en" datetime="soon">A</time>
=> :x e:p "soon"@en .
== a time of a datatype of its own
<time about="/x" property="e:p" datatype="xsd:string" datetime="2026-01-02">A</time>
=> :x e:p "2026-01-02" .
== content comes before times
<time about="/x" property="e:p" content="B" datetime="2026-01-02">A</time>
=> :x e:p "B" .
== a pattern and a copy of it
<div resource="#m" typeof="rdfa:Pattern"><b property="e:p">A</b></div>
<div about="/x" typeof="e:T"><link property="rdfa:copy" href="#m"><b property="e:q">B</b></div>
=> :x a e:T ; e:p "A" ; e:q "B" .
""")

MICRODATA = _table(r"""
== an item of a type
<div itemscope itemtype="http://e.example/T"><b itemprop="p">A</b></div>
=> [] a e:T ; e:p "A" .
== an item without properties
<div itemscope itemtype="http://e.example/T" itemid="/x"></div>
=> :x a e:T .
== an item with a name
<div itemscope itemtype="http://e.example/T" itemid="http://a.example/x"><b itemprop="p">A</b></div>
=> :x a e:T ; e:p "A" .
== an item with a relative name
<div itemscope itemtype="http://e.example/T" itemid="../x"><b itemprop="p">A</b></div>
=> :x a e:T ; e:p "A" .
== an item with a name of another scheme
<div itemscope itemtype="http://e.example/T" itemid="urn:isbn:0123"><b itemprop="p">A</b></div>
=> <urn:isbn:0123> a e:T ; e:p "A" .
== an item without a type
<div itemscope><b itemprop="p">A</b><b itemprop="http://e.example/q">B</b></div>
=> [] <#p> "A" ; e:q "B" .
== an item of several types
<div itemscope itemtype="http://e.example/T http://f.example/U http://e.example/V">
<b itemprop="p">A</b></div>
=> [] a e:T, <http://f.example/U>, e:V ; e:p "A" .
== a type that is no address
<div itemscope itemtype="T"><b itemprop="http://e.example/p">A</b></div>
=> [] e:p "A" .
== a type after a number sign
<div itemscope itemtype="http://e.example/ns#T"><b itemprop="p">A</b></div>
=> [] a <http://e.example/ns#T> ; <http://e.example/ns#p> "A" .
== a type in a deep path
<div itemscope itemtype="http://e.example/a/b/T"><b itemprop="p">A</b></div>
=> [] a <http://e.example/a/b/T> ; <http://e.example/a/b/p> "A" .
== visiting cards
<div itemscope itemtype="http://microformats.org/profile/hcard"><b itemprop="fn">A</b></div>
=> [] a <http://microformats.org/profile/hcard> ; <http://microformats.org/profile/hcard#fn> "A" .
== calendars
<div itemscope itemtype="http://microformats.org/profile/hcalendar#vevent">
<b itemprop="summary">A</b></div>
=> [] a <http://microformats.org/profile/hcalendar#vevent> ;
 <http://microformats.org/profile/hcalendar#summary> "A" .
== several names of a property
<div itemscope itemtype="http://e.example/T"><b itemprop="p q  p http://f.example/r">A</b></div>
=> [] a e:T ; e:p "A" ; e:q "A" ; <http://f.example/r> "A" .
== a property without a name
<div itemscope itemtype="http://e.example/T"><b itemprop="">A</b><b itemprop="p">B</b></div>
=> [] a e:T ; e:p "B" .
== several values
<div itemscope itemtype="http://e.example/T"><b itemprop="p">A</b><i itemprop="p">B</i>
<u itemprop="p">A</u></div>
=> [] a e:T ; e:p "A", "B" .
== properties of any depth
<div itemscope itemtype="http://e.example/T"><p><span><b itemprop="p">A</b></span></p></div>
=> [] a e:T ; e:p "A" .
== a property within a property
<div itemscope itemtype="http://e.example/T"><p itemprop="p">A <b itemprop="q">B</b></p></div>
=> [] a e:T ; e:p "A B" ; e:q "B" .
== a property outside of items
<p itemprop="p">lost</p><div itemscope itemtype="http://e.example/T"><b itemprop="p">A</b></div>
=> [] a e:T ; e:p "A" .
== an item within an item
<div itemscope itemtype="http://e.example/T"><div itemprop="p" itemscope itemtype="http://f.example/U">
<b itemprop="q">A</b></div><b itemprop="q">B</b></div>
=> [] a e:T ; e:p [a <http://f.example/U> ; <http://f.example/q> "A"] ; e:q "B" .
== an item within an item without a property
<div itemscope itemtype="http://e.example/T"><div itemscope itemtype="http://f.example/U">
<b itemprop="q">A</b></div><b itemprop="p">B</b></div>
=> [] a e:T ; e:p "B" . [] a <http://f.example/U> ; <http://f.example/q> "A" .
== an item within without a type
<div itemscope itemtype="http://e.example/T"><div itemprop="p" itemscope>
<b itemprop="q">A</b></div></div>
=> [] a e:T ; e:p [e:q "A"] .
== an item of several properties
<div itemscope itemtype="http://e.example/T"><div itemprop="p q" itemscope itemid="/y"></div></div>
=> [] a e:T ; e:p :y ; e:q :y .
== an item that is a link
<div itemscope itemtype="http://e.example/T"><a itemprop="p" itemscope itemtype="http://e.example/U"
 href="/z">
<b itemprop="q">A</b></a></div>
=> [] a e:T ; e:p [a e:U ; e:q "A"] .
== items three deep
<div itemscope itemid="/x" itemtype="http://e.example/T"><div itemprop="p" itemscope itemid="/y">
<div itemprop="p" itemscope itemid="/z"><b itemprop="p">A</b></div></div></div>
=> :x a e:T ; e:p :y . :y e:p :z . :z e:p "A" .
== items of the same name
<div itemscope itemid="/x" itemtype="http://e.example/T"><b itemprop="p">A</b></div>
<div itemscope itemid="/x" itemtype="http://e.example/U"><b itemprop="q">B</b></div>
=> :x a e:T, e:U ; e:p "A" ; e:q "B" .
== a reference
<div itemscope itemtype="http://e.example/T" itemref="r s"></div><p id="r" itemprop="p">A</p>
<div id="s"><b itemprop="q">B</b></div>
=> [] a e:T ; e:p "A" ; e:q "B" .
== a reference to nothing
<div itemscope itemtype="http://e.example/T" itemref="nowhere"><b itemprop="p">A</b></div>
=> [] a e:T ; e:p "A" .
== a reference of two items
<div itemscope itemid="/x" itemtype="http://e.example/T" itemref="r"></div>
<div itemscope itemid="/y" itemtype="http://f.example/U" itemref="r"></div><p id="r" itemprop="p">A</p>
=> :x a e:T ; e:p "A" . :y a <http://f.example/U> ; <http://f.example/p> "A" .
== a reference to an item
<div itemscope itemtype="http://e.example/T" itemref="r"></div>
<div id="r" itemprop="p" itemscope itemid="/y"><b itemprop="q">A</b></div>
=> [] a e:T ; e:p :y . :y e:q "A" .
== a reference to an item of no property
<div itemscope itemid="/x" itemtype="http://e.example/T" itemref="r"></div>
<div id="r" itemscope itemid="/y" itemtype="http://e.example/U"><b itemprop="q">A</b></div>
=> :x a e:T . :y a e:U ; e:q "A" .
== a reference into an item
<div itemscope itemid="/x" itemtype="http://e.example/T" itemref="r"></div>
<div itemscope itemid="/y" itemtype="http://e.example/U"><b itemprop="p"
 id="r">A</b><b itemprop="q">B</b></div>
=> :x a e:T ; e:p "A" . :y a e:U ; e:p "A" ; e:q "B" .
== a reference to a part of an item
<div itemscope itemid="/x" itemtype="http://e.example/T" itemref="r"></div>
<div itemscope itemid="/y" itemtype="http://e.example/U"><p id="r"><b itemprop="p">A</b>
<i itemprop="q" itemscope itemid="/z"><b itemprop="r">C</b></i></p></div>
=> :x a e:T ; e:p "A" ; e:q :z . :y a e:U ; e:p "A" ; e:q :z . :z e:r "C" .
== a reference to what is in the item
<div itemscope itemtype="http://e.example/T" itemref="r"><b itemprop="p" id="r">A</b></div>
=> [] a e:T ; e:p "A" .
== a reference to what is around the item
<div id="r"><b itemprop="q">B</b><div itemscope itemtype="http://e.example/T" itemref="r">
<b itemprop="p">A</b></div></div>
=> [] a e:T ; e:p "A" ; e:q "B" .
== a reference to the item itself
<div itemscope itemid="/x" itemtype="http://e.example/T"><div itemprop="p" itemscope itemid="/y" id="r"
 itemref="r">
<b itemprop="q">A</b></div></div>
=> :x a e:T ; e:p :y . :y e:q "A" .
== references in a loop
<div itemscope itemid="/x" itemtype="http://e.example/T" itemref="r"></div>
<div id="r" itemprop="p" itemscope itemid="/y" itemref="s"></div>
<div id="s" itemprop="q" itemscope itemid="/z" itemref="r"></div>
=> :x a e:T ; e:p :y . :y e:q :z . :z e:p :y .
== a reference to an id that is there twice
<div itemscope itemtype="http://e.example/T" itemref="r"></div><p id="r" itemprop="p">A</p>
<p id="r" itemprop="p">lost</p>
=> [] a e:T ; e:p "A" .
== links of all kinds
<div itemscope itemtype="http://e.example/T"><a itemprop="p" href="a">A</a><map><area itemprop="p"
 href="b"></map>
<link itemprop="p" href="c"><img itemprop="p" src="d"><audio itemprop="p" src="e"><source itemprop="p"
 src="f">
<track itemprop="p" src="g"></audio><video itemprop="p" src="h"></video><embed itemprop="p" src="i">
<iframe itemprop="p" src="j"></iframe><object itemprop="p" data="k"></object></div>
=> [] a e:T ; e:p d:a, d:b, d:c, d:d, d:e, d:f, d:g, d:h, d:i, d:j, d:k .
== a link of another scheme
<div itemscope itemtype="http://e.example/T"><a itemprop="p" href="mailto:a@b.example">A</a>
<a itemprop="q" href="tel:+4912">B</a></div>
=> [] a e:T ; e:p <mailto:a@b.example> ; e:q <tel:+4912> .
== a base
<html><head><base href="http://b.example/d/"></head><body><div itemscope itemtype="http://e.example/T"
 itemid="x">
<a itemprop="p" href="../y">A</a></div></body></html>
=> <http://b.example/d/x> a e:T ; e:p <http://b.example/y> .
== links in paragraphs are texts
<div itemscope itemtype="http://e.example/T"><p itemprop="p"><a href="/y">A</a></p></div>
=> [] a e:T ; e:p "A" .
== meta
<div itemscope itemtype="http://e.example/T"><meta itemprop="p" content="A  b "></div>
=> [] a e:T ; e:p "A  b " .
== texts with blanks and markup
<div itemscope itemtype="http://e.example/T"><p itemprop="p"> A <b>B</b>
 C</p></div>
=> [] a e:T ; e:p " A B\n C" .
== texts with comments
<div itemscope itemtype="http://e.example/T"><p itemprop="p">A<!-- lost -->B</p></div>
=> [] a e:T ; e:p "AB" .
== texts of scripts
<div itemscope itemtype="http://e.example/T"><p itemprop="p">A<script>b</script></p></div>
=> [] a e:T ; e:p "Ab" .
== languages
<div lang="de" itemscope itemtype="http://e.example/T"><b itemprop="p">A</b><b itemprop="q"
 lang="fr">B</b>
<b itemprop="r" lang="">C</b><meta itemprop="s" content="D"><a itemprop="t" href="/y">E</a></div>
=> [] a e:T ; e:p "A"@de ; e:q "B"@fr ; e:r "C" ; e:s "D"@de ; e:t :y .
== languages of referred texts
<div lang="de" itemscope itemtype="http://e.example/T" itemref="r"></div><p lang="fr" itemprop="p"
 id="r">A</p>
=> [] a e:T ; e:p "A"@fr .
== data
<div lang="de" itemscope itemtype="http://e.example/T"><data itemprop="p" value="42">A</data>
<data itemprop="q" value="4.25">B</data><data itemprop="r" value="few">C</data>
<data itemprop="s" value="-7">D</data></div>
=> [] a e:T ; e:p 42 ; e:q "4.25"^^xsd:double ; e:r "few"@de ; e:s -7 .
== meters
<div itemscope itemtype="http://e.example/T"><meter itemprop="p" value="4">A</meter>
<meter itemprop="q" value="0.5" max="1">B</meter></div>
=> [] a e:T ; e:p 4 ; e:q "0.5"^^xsd:double .
== numbers in texts are texts
<div itemscope itemtype="http://e.example/T"><b itemprop="p">42</b><meta itemprop="q" content="42"></div>
=> [] a e:T ; e:p "42" ; e:q "42" .
== times
<div itemscope itemtype="http://e.example/T"><time itemprop="p" datetime="2026-01-02">A</time>
<time itemprop="p" datetime="2026-01-02T03:04:05Z">A</time><time itemprop="p"
 datetime="03:04:05">A</time>
<time itemprop="p" datetime="2026-01-02T03:04:05.5+01:00">A</time><time itemprop="p"
 datetime="2026-01">A</time>
<time itemprop="p" datetime="2026">A</time><time itemprop="p" datetime="P1DT2H3M">A</time></div>
=> [] a e:T ; e:p "2026-01-02"^^xsd:date, "2026-01-02T03:04:05Z"^^xsd:dateTime, "03:04:05"^^xsd:time,
 "2026-01-02T03:04:05.5+01:00"^^xsd:dateTime, "2026-01"^^xsd:gYearMonth, "2026"^^xsd:gYear,
 "P1DT2H3M"^^xsd:duration .
== times in texts
<div lang="de" itemscope itemtype="http://e.example/T"><time itemprop="p">2026-01-02</time>
<time itemprop="q">gestern</time></div>
=> [] a e:T ; e:p "2026-01-02"^^xsd:date ; e:q "gestern"@de .
== times that are none
<div lang="de" itemscope itemtype="http://e.example/T"><time itemprop="p" datetime="2026-13">A</time>
<time itemprop="p" datetime="2026-02-30">A</time><time itemprop="p"
 datetime="2026-01-02T25:00:00Z">A</time>
<time itemprop="p" datetime="12:60:00">A</time><time itemprop="p" datetime="26">A</time>
<time itemprop="p" datetime="P">A</time><time itemprop="p" datetime="P1DT">A</time></div>
=> [] a e:T ; e:p "2026-13"@de, "2026-02-30"@de, "2026-01-02T25:00:00Z"@de, "12:60:00"@de, "26"@de,
 "P"@de,
 "P1DT"@de .
== digits of other scripts are texts
<div itemscope itemtype="http://e.example/T"><time itemprop="p" datetime="٢٠٢٦">A</time>
<data itemprop="q" value="٤٢">B</data></div>
=> [] a e:T ; e:p "٢٠٢٦" ; e:q "٤٢" .
== a date on a leap day
<div itemscope itemtype="http://e.example/T"><time itemprop="p" datetime="2024-02-29">A</time>
<time itemprop="q" datetime="2023-02-29">A</time></div>
=> [] a e:T ; e:p "2024-02-29"^^xsd:date ; e:q "2023-02-29" .
== times elsewhere are texts
<div itemscope itemtype="http://e.example/T"><b itemprop="p">2026-01-02</b></div>
=> [] a e:T ; e:p "2026-01-02" .
== an additional type
<div itemscope itemtype="http://schema.org/Thing"><link itemprop="additionalType"
 href="http://e.example/U"></div>
=> [] a s:Thing, e:U ; s:additionalType e:U .
== an additional type elsewhere is none
<div itemscope itemtype="http://e.example/T"><link itemprop="additionalType"
 href="http://e.example/U"></div>
=> [] a e:T ; e:additionalType e:U .
== an additional type by its address
<div itemscope itemtype="http://schema.org/Thing"><link itemprop="http://schema.org/additionalType"
 href="/U">
</div>
=> [] a s:Thing, :U ; s:additionalType :U .
== schema of the secure scheme
<div itemscope itemtype="https://schema.org/Person"><b itemprop="name">A</b></div>
=> [] a s:Person ; s:name "A" .
== an item in the head
<html itemscope itemtype="http://e.example/T"><head><title itemprop="p">A</title><meta itemprop="q"
 content="B">
<link itemprop="r" href="/y"></head><body itemprop="s">C</body></html>
=> [] a e:T ; e:p "A" ; e:q "B" ; e:r :y ; e:s "C" .
== names with other signs
<div itemscope itemtype="http://e.example/T"><b itemprop="a-b_c.d">A</b></div>
=> [] a e:T ; <http://e.example/a-b_c.d> "A" .
== names in capitals
<DIV ITEMSCOPE ITEMTYPE="http://e.example/T"><B ITEMPROP="pQ">A</B></DIV>
=> [] a e:T ; e:pQ "A" .
""")
