r"""Documents in five syntaxes of RDF, each with the statements that its specification gives it, or none.

An expectation has one statement a line, in N-Triples or N-Quads without the dot at the end. An address
in it without a colon stands below http://a.example/, and xsd: and rdf: are short for their namespaces.
"""

from __future__ import annotations

from typing import TypeAlias

Right: TypeAlias = dict[str, tuple[str | bytes, str]]
Wrong: TypeAlias = dict[str, str | bytes]

DOCUMENT = "http://a.example/d/doc"
"""The address of every document."""

P = "@prefix : <http://a.example/> .\n"
XSD = "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
S = "<http://a.example/s> <http://a.example/p> "
SPO = S + "<http://a.example/o>"
G = " <http://a.example/g>"

TURTLE: Right = {
    "three addresses": (SPO + " .", "<s> <p> <o>"),
    "no blanks between tokens": ("<http://a.example/s><http://a.example/p>'x'@en,1,<o>.",
        '<s> <p> "x"@en \n <s> <p> "1"^^xsd:integer \n <s> <p> <d/o>'),
    "a prefix": ("@prefix x: <http://a.example/> . x:s x:p x:o .", "<s> <p> <o>"),
    "the empty prefix": (P + ":s :p :o .", "<s> <p> <o>"),
    "a prefix with a dot, a hyphen and a digit": (
        "@prefix a.b-1: <http://a.example/> . a.b-1:s a.b-1:p a.b-1:o .", "<s> <p> <o>"),
    "a prefix as in SPARQL": ("PREFIX x: <http://a.example/>\nx:s x:p x:o .", "<s> <p> <o>"),
    "small and capital letters in SPARQL's words": (
        "pReFiX x: <http://a.example/> bAsE <http://a.example/> x:s <p> x:o .", "<s> <p> <o>"),
    "a prefix defined anew": (
        "@prefix x: <http://a.example/1/> . x:s x:p x:o . PREFIX x: <http://a.example/2/> x:s x:p x:o .",
        "<1/s> <1/p> <1/o> \n <2/s> <2/p> <2/o>"),
    "a prefix below the base": (
        "@base <http://a.example/b/> . @prefix x: <c#> . x:s x:p x:o .", "<b/c#s> <b/c#p> <b/c#o>"),
    "a prefix that keeps its base": (
        "@base <http://a.example/1/> . @prefix x: <> . @base <http://a.example/2/> . x:s <p> x: .",
        "<1/s> <2/p> <1/>"),
    "a prefix between statements": (
        P + ":s :p :o . @prefix x: <http://a.example/x/> . :s :p x:o .", "<s> <p> <o> \n <s> <p> <x/o>"),
    "a base": ("@base <http://a.example/b/> . <s> <p> <o> .", "<b/s> <b/p> <b/o>"),
    "a base as in SPARQL": ("BASE <http://a.example/b/>\n<s> <p> <o> .", "<b/s> <b/p> <b/o>"),
    "a base below another": (
        "@base <http://a.example/1/> . <s> <p> <o> . BASE <2/> <s> <p> <o> ."
        "@base </3/x> . <s> <p> <o> .",
        "<1/s> <1/p> <1/o> \n <1/2/s> <1/2/p> <1/2/o> \n <3/s> <3/p> <3/o>"),
    "relative paths": (
        P + ":s :p <x>, <./y>, <../z>, <.>, <..>, </r>, <../../../t>, <u/v/../w>, <k/.> .",
        """<s> <p> <d/x>
        <s> <p> <d/y>
        <s> <p> <z>
        <s> <p> <d/>
        <s> <p> <>
        <s> <p> <r>
        <s> <p> <t>
        <s> <p> <d/u/w>
        <s> <p> <d/k/>"""),
    "relative queries, fragments and hosts": (
        P + ":s :p <>, <?q>, <#f>, <?q#f>, <//b.example/x>, <o?q/..> .",
        """<s> <p> <d/doc>
        <s> <p> <d/doc?q>
        <s> <p> <d/doc#f>
        <s> <p> <d/doc?q#f>
        <s> <p> <http://b.example/x>
        <s> <p> <d/o?q/..>"""),
    "a base with a query and a fragment": (
        P + "@base <http://a.example/e/f?x=1#y> . :s :p <>, <?z>, <#z>, <g> .",
        "<s> <p> <e/f?x=1> \n <s> <p> <e/f?z> \n <s> <p> <e/f?x=1#z> \n <s> <p> <e/g>"),
    "a base without a path": ("@base <http://b.example> . <s> <?p> <#o> .",
        "<http://b.example/s> <http://b.example?p> <http://b.example#o>"),
    "local names that begin oddly": (P + ":1a :_p :é, :2, :日本, : .",
        "<1a> <_p> <é> \n <1a> <_p> <2> \n <1a> <_p> <日本> \n <1a> <_p> <>"),
    "dots, hyphens and colons in local names": (P + ":a.b.c :a-b :c:d, ::e, :f.-g .",
        """<a.b.c> <a-b> <http://a.example/c:d>
        <a.b.c> <a-b> <http://a.example/:e>
        <a.b.c> <a-b> <f.-g>"""),
    "a local name before the dot of the end": (P + ":s :p :o.\n:t :p :o.", "<s> <p> <o> \n <t> <p> <o>"),
    "percent signs in local names": (P + ":a%20b :p :%C3%a9 .", "<a%20b> <p> <%C3%a9>"),
    "escapes in local names": (P + r":\~\.\-\! :\$\&\'\(\)\*\+ :\,\;\=\/\?\#\@\_\%41 .",
        "<~.-!> <$&'()*+> <,;=/?#@_%41>"),
    "a as a predicate": (P + ":s a :T ; :a :a .",
        "<s> rdf:type <T> \n <s> <a> <a>"),
    "lists of objects and predicates": (P + ":s :p :o, :n; :q :o .",
        "<s> <p> <o> \n <s> <p> <n> \n <s> <q> <o>"),
    "semicolons without anything between them": (P + ":s :p :o ;; ; :q :o ; . :t :p :o;.",
        "<s> <p> <o> \n <s> <q> <o> \n <t> <p> <o>"),
    "short texts": (P + """:s :p "x", 'y', "", "it's", 'a "word"', " \t" .""",
        r"""<s> <p> "x"
        <s> <p> "y"
        <s> <p> ""
        <s> <p> "it's"
        <s> <p> "a \"word\""
        <s> <p> " \t" """),
    "an empty text in the other quotes": (P + ":s :p '' .", '<s> <p> ""'),
    "long texts": (P + ':s :p """a"b""c\n#d""", \'\'\'e\'f\'\'g\n\'\'\', """\\"""", """\'\'\'""" .',
        r"""<s> <p> "a\"b\"\"c\n#d"
        <s> <p> "e'f''g\n"
        <s> <p> "\""
        <s> <p> "'''" """),
    "empty long texts": (P + ':s :p """""" . :t :p \'\'\'\'\'\' .', '<s> <p> "" \n <t> <p> ""'),
    "escapes in texts": (P + r""":s :p "\t\b\n\r\f\"\'\\", '\'\u00e9\U0001F600', '''\u00C9''' .""",
        r"""<s> <p> "\t\b\n\r\f\"'\\"
        <s> <p> "'é😀"
        <s> <p> "É" """),
    "an escaped backslash before a letter": (P + r':s :p "\\u00e9\\n" .', r'<s> <p> "\\u00e9\\n"'),
    "languages": (P + """:s :p "x"@en, 'x'@de-AT-1996, \"\"\"x\"\"\"@zh-Hant .""",
        '<s> <p> "x"@en \n <s> <p> "x"@de-AT-1996 \n <s> <p> "x"@zh-Hant'),
    "datatypes": (
        P + XSD + ":s :p '1'^^xsd:byte, \"2\"^^<http://a.example/T>, '''3'''^^<T>, '4'^^xsd:string .",
        '<s> <p> "1"^^xsd:byte \n <s> <p> "2"^^<T> \n <s> <p> "3"^^<d/T> \n <s> <p> "4"'),
    "integers": (P + ":s :p 1, -1, +1, 007, 0 .",
        """<s> <p> "1"^^xsd:integer
        <s> <p> "-1"^^xsd:integer
        <s> <p> "+1"^^xsd:integer
        <s> <p> "007"^^xsd:integer
        <s> <p> "0"^^xsd:integer"""),
    "an integer before the dot of the end": (P + ":s :p 1.", '<s> <p> "1"^^xsd:integer'),
    "decimals": (P + ":s :p 1.0, -.5, +1.25, 00.10 .",
        """<s> <p> "1.0"^^xsd:decimal
        <s> <p> "-.5"^^xsd:decimal
        <s> <p> "+1.25"^^xsd:decimal
        <s> <p> "00.10"^^xsd:decimal"""),
    "a decimal before the dot of the end": (P + ":s :p 1.5.", '<s> <p> "1.5"^^xsd:decimal'),
    "doubles": (P + ":s :p 1e0, 1.E3, .5e-1, -1.0E+10 .",
        """<s> <p> "1e0"^^xsd:double
        <s> <p> "1.E3"^^xsd:double
        <s> <p> ".5e-1"^^xsd:double
        <s> <p> "-1.0E+10"^^xsd:double"""),
    "booleans": (P + ":s :p true, false.",
        '<s> <p> "true"^^xsd:boolean \n <s> <p> "false"^^xsd:boolean'),
    "labels of blank nodes": (P + "_:a :p _:1, _:a.b, _:a-b, _:_, _:é, _:0.1. _:1 :p _:a .",
        """_:a <p> _:c
        _:a <p> _:d
        _:a <p> _:e
        _:a <p> _:f
        _:a <p> _:g
        _:a <p> _:h
        _:c <p> _:a"""),
    "blank nodes without a label": (P + "[] :p [] . [ ] :q [\n] .", "_:a <p> _:b \n _:c <q> _:d"),
    "properties in brackets as an object": (P + ":s :p [ :q :o ; :r 'x', 'y' ; ] .",
        """<s> <p> _:b
        _:b <q> <o>
        _:b <r> "x"
        _:b <r> "y" """),
    "properties in brackets as a subject": (P + "[ :p :o ] . [ :q :o ] :r :o ; a :T .",
        "_:a <p> <o> \n _:b <q> <o> \n _:b <r> <o> \n _:b rdf:type <T>"),
    "brackets within brackets": (P + "[ :p [ :p [ :p [] ] ; :q :o ] ] .",
        "_:a <p> _:b \n _:b <p> _:c \n _:b <q> <o> \n _:c <p> _:d"),
    "an empty collection": (P + ":s :p () . ( ) :p :o .", "<s> <p> rdf:nil \n rdf:nil <p> <o>"),
    "a collection": (P + ":s :p (:a 'x' 1) .",
        """<s> <p> _:a
        _:a rdf:first <a>
        _:a rdf:rest _:b
        _:b rdf:first "x"
        _:b rdf:rest _:c
        _:c rdf:first "1"^^xsd:integer
        _:c rdf:rest rdf:nil"""),
    "a collection as a subject": (P + "(:a) :p :o .",
        "_:a rdf:first <a> \n _:a rdf:rest rdf:nil \n _:a <p> <o>"),
    "collections within collections": (P + ":s :p ((:a) ()) .",
        """<s> <p> _:a
        _:a rdf:first _:b
        _:b rdf:first <a>
        _:b rdf:rest rdf:nil
        _:a rdf:rest _:c
        _:c rdf:first rdf:nil
        _:c rdf:rest rdf:nil"""),
    "brackets in a collection in brackets": (P + "[ :p ([ :q :o ] _:x) ] :r _:x .",
        """_:a <p> _:l
        _:l rdf:first _:b
        _:b <q> <o>
        _:l rdf:rest _:m
        _:m rdf:first _:x
        _:m rdf:rest rdf:nil
        _:a <r> _:x"""),
    "comments": (P + "# one\n:s # two\n:p#three\n <http://a.example/#o> #four .\n, '#x' .#five",
        '<s> <p> <#o> \n <s> <p> "#x"'),
    "comments that end at a carriage return": (P + "# one\r:s :p :o .\r# two\r:s :q :o .",
        "<s> <p> <o> \n <s> <q> <o>"),
    "lines that end as on Windows": (
        "@prefix : <http://a.example/> .\r\n:s\r\n\t:p :o ;\r\n\t:q :o .\r\n",
        "<s> <p> <o> \n <s> <q> <o>"),
    "a byte order mark": ("\ufeff" + P + ":s :p :o .", "<s> <p> <o>"),
    "addresses in many scripts": (P + ":s :p <http://a.example/é>, <http://ü.example/日?я#ß> .",
        "<s> <p> <é> \n <s> <p> <http://ü.example/日?я#ß>"),
    "escapes in addresses": (P + r":s :p <http://a.example/\u00E9>, <\U0001F600#\u0061> .",
        "<s> <p> <é> \n <s> <p> <d/😀#a>"),
    "addresses that are no web addresses": ("PREFIX u: <urn:x:>\nu:s <mailto:a@b.example> u:o .",
        "<urn:x:s> <mailto:a@b.example> <urn:x:o>"),
    "percent signs in addresses": (P + ":s :p <http://a.example/a%20b%c3> .", "<s> <p> <a%20b%c3>"),
    "a statement twice": (P + ":s :p :o, :o . :s :p :o .", "<s> <p> <o>"),
    "a directive alone": (P, ""),
}  # fmt: skip
TURTLE_WRONG: Wrong = {
    "no dot at the end": P + ":s :p :o",
    "no dot after a semicolon": P + ":s :p :o ;",
    "a dot too many": P + ":s :p :o . .",
    "a prefix that nobody declared": P + ":s :p y:o .",
    "a prefix declared too late": "x:s x:p x:o . @prefix x: <http://a.example/> .",
    "a prefix without a colon": "@prefix x <http://a.example/> . <s> <p> <o> .",
    "a prefix without its dot": "@prefix x: <http://a.example/>\nx:s x:p x:o .",
    "SPARQL's prefix with a dot": "PREFIX x: <http://a.example/> .\nx:s x:p x:o .",
    "SPARQL's base with a dot": "BASE <http://a.example/> .\n<s> <p> <o> .",
    "a prefix that ends with a dot": "@prefix x.: <http://a.example/> . x.:s x.:p x.:o .",
    "a text as a subject": P + '"x" :p :o .',
    "a number as a subject": P + "1 :p :o .",
    "a text as a predicate": P + ':s "p" :o .',
    "a blank node as a predicate": P + ":s _:p :o .",
    "brackets as a predicate": P + ":s [] :o .",
    "a collection as a predicate": P + ":s () :o .",
    "a as a subject": P + "a :p :o .",
    "a as an object": P + ":s :p a .",
    "no object": P + ":s :p .",
    "no predicate": P + ":s .",
    "a collection alone": P + "(:a) .",
    "an empty pair of brackets alone": P + "[] .",
    "a comma before an object": P + ":s :p , :o .",
    "a comma behind an object": P + ":s :p :o , .",
    "a semicolon before a predicate": P + ":s ; :p :o .",
    "a text without an end": P + ':s :p "x .',
    "a long text without an end": P + ':s :p """x"" .',
    "a new line in a short text": P + ':s :p "x\ny" .',
    "quotes that do not match": P + ":s :p \"x' .",
    "an unknown escape": P + r':s :p "\x41" .',
    "an escape with too few digits": P + r':s :p "\u00e" .',
    "an escape of half a character": P + r':s :p "\uD800" .',
    "an escape beyond Unicode": P + r':s :p "\U00110000" .',
    "a blank in an address": P + ":s :p <http://a.example/a b> .",
    "an escaped blank in an address": P + r":s :p <http://a.example/a\u0020b> .",
    "an escape of texts in an address": P + r":s :p <http://a.example/\n> .",
    "a brace in an address": P + ":s :p <http://a.example/{a}> .",
    "an unknown escape in a local name": P + r":s :p :a\xb .",
    "half a percent sign in a local name": P + ":s :p :a%2 .",
    "a local name that begins with a hyphen": P + ":s :p :-a .",
    "a label that begins with a hyphen": P + ":s :p _:-a .",
    "a label without a name": P + ":s :p _: .",
    "no language": P + ':s :p "x"@ .',
    "a language of digits": P + ':s :p "x"@12 .',
    "no datatype": P + ':s :p "x"^^ .',
    "a text as a datatype": P + ':s :p "x"^^"y" .',
    "a language and a datatype": P + XSD + ':s :p "x"@en^^xsd:string .',
    "an exponent without digits": P + ":s :p 1e .",
    "a sign without a number": P + ":s :p + .",
    "a boolean in capitals": P + ":s :p TRUE .",
    "brackets without an end": P + ":s :p [ :q :o .",
    "a collection without an end": P + ":s :p (:a .",
    "brackets that nobody opened": P + ":s :p :o ] .",
    "a comma in a collection": P + ":s :p (:a , :b) .",
    "a graph in braces": P + ":g { :s :p :o }",
    "an equation of N3": P + ":s = :o .",
    "an implication of N3": P + "{ :s :p :o } => { :s :p :n } .",
    "a path of N3": P + ":s :p :a!:b .",
    "a variable": P + ":s :p ?x .",
    "bytes that are no UTF-8": P.encode() + b':s :p "\xff" .',
}

TRIG: Right = {
    "statements of Turtle": (P + ":s :p :o ; :q 1 .", '<s> <p> <o> \n <s> <q> "1"^^xsd:integer'),
    "the default graph in braces": (P + "{ :s :p :o . }", "<s> <p> <o>"),
    "the default graph without its last dot": (P + "{ :s :p :o . :s :q :o }",
        "<s> <p> <o> \n <s> <q> <o>"),
    "the default graph in braces twice": (P + "{ :s :p :o } { :s :q :o }", "<s> <p> <o> \n <s> <q> <o>"),
    "a named graph": (P + ":g { :s :p :o . }", "<s> <p> <o> <g>"),
    "a named graph without its last dot": (P + ":g { :s :p :o . :s :q :o }",
        "<s> <p> <o> <g> \n <s> <q> <o> <g>"),
    "the word of a graph": (P + "GRAPH :g { :s :p :o }", "<s> <p> <o> <g>"),
    "small and capital letters in the word of a graph": (P + "graph :g{:s :p :o}GrApH :h{:s :p :o}",
        "<s> <p> <o> <g> \n <s> <p> <o> <h>"),
    "a graph with an address": (SPO + " .\n<http://a.example/g> { " + SPO + " }",
        "<s> <p> <o> \n <s> <p> <o> <g>"),
    "a graph's address first": ("<http://a.example/g> { " + SPO + " }", "<s> <p> <o> <g>"),
    "a graph with a relative address": (
        P + "<g> { :s :p :o } GRAPH <#h> { :s :p :o } <../i> { :s :p :o }",
        "<s> <p> <o> <d/g> \n <s> <p> <o> <d/doc#h> \n <s> <p> <o> <i>"),
    "a graph with the document's address": (P + "<> { :s :p :o }", "<s> <p> <o>"),
    "a graph named by a prefix alone": (P + ": { :s :p :o }", "<s> <p> <o> <>"),
    "a graph with escapes in its name": (
        P + r":g\,h { :s :p :o } <http://a.example/\u00e9> { :s :p :o }",
        "<s> <p> <o> <g,h> \n <s> <p> <o> <é>"),
    "a graph with a percent sign in its name": (P + ":a%20b { :s :p :o }", "<s> <p> <o> <a%20b>"),
    "a graph in another script": (P + ":日本 { :s :p :o }", "<s> <p> <o> <日本>"),
    "a graph that is no web address": (P + "<urn:x:g> { :s :p :o }", "<s> <p> <o> <urn:x:g>"),
    "a graph that is a blank node": (P + "_:g { :s :p :o }", "<s> <p> <o> _:g"),
    "the word of a graph that is a blank node": (P + "GRAPH _:g { :s :p _:g }", "<s> <p> _:g _:g"),
    "a graph that is a pair of brackets": (P + "[] { :s :p :o } [ ] { :s :q :o }",
        "<s> <p> <o> _:g \n <s> <q> <o> _:h"),
    "the word of a graph that is a pair of brackets": (P + "GRAPH [] { :s :p :o }", "<s> <p> <o> _:g"),
    "a graph and what is said of it": (P + "_:g :by :me . _:g { :s :p :o }",
        "_:g <by> <me> \n <s> <p> <o> _:g"),
    "brackets as a subject before brackets as a graph": (P + "[] :p :o . [] { :s :p :o }",
        "_:a <p> <o> \n <s> <p> <o> _:g"),
    "a graph twice": (P + ":g { :s :p :o } :s :p :n . :g { :s :q :o . :s :p :o }",
        "<s> <p> <o> <g> \n <s> <p> <n> \n <s> <q> <o> <g>"),
    "empty graphs": (P + ":g { } {} GRAPH :h {} _:i {} :s :p :o .", "<s> <p> <o>"),
    "a statement in two graphs": (P + ":g { :s :p :o } :h { :s :p :o }",
        "<s> <p> <o> <g> \n <s> <p> <o> <h>"),
    "a blank node in two graphs": (P + ":g { _:a :p :o } :h { _:a :q :o } _:a :r :o .",
        "_:a <p> <o> <g> \n _:a <q> <o> <h> \n _:a <r> <o>"),
    "brackets in a graph": (P + ":g { [ :p :o ] . [] :q [ :r :o ] }",
        "_:a <p> <o> <g> \n _:b <q> _:c <g> \n _:c <r> <o> <g>"),
    "brackets as a statement alone in a graph": (P + ":g { [ :p :o ; ] }", "_:a <p> <o> <g>"),
    "a collection in a graph": (P + ":g { :s :p (:a) . () :q :o . (:b) :r :o }",
        """<s> <p> _:a <g>
        _:a rdf:first <a> <g>
        _:a rdf:rest rdf:nil <g>
        rdf:nil <q> <o> <g>
        _:b rdf:first <b> <g>
        _:b rdf:rest rdf:nil <g>
        _:b <r> <o> <g>"""),
    "a collection as a subject outside of graphs": (P + "(:a) :p :o . :g { :s :p :o }",
        "_:a rdf:first <a> \n _:a rdf:rest rdf:nil \n _:a <p> <o> \n <s> <p> <o> <g>"),
    "brackets as a subject outside of graphs": (P + "[ :p :o ] . [ :q :o ] :r :o . :g { :s :p :o }",
        "_:a <p> <o> \n _:b <q> <o> \n _:b <r> <o> \n <s> <p> <o> <g>"),
    "brackets and a collection in the default graph's braces": (P + "{ [ :p :o ] . [] :q () }",
        "_:a <p> <o> \n _:b <q> rdf:nil"),
    "a semicolon before the end of a graph": (P + ":g { :s :p :o ; }", "<s> <p> <o> <g>"),
    "lists of objects and predicates in a graph": (P + ":g { :s a :T , :U ;; :p :o }",
        "<s> rdf:type <T> <g> \n <s> rdf:type <U> <g> \n <s> <p> <o> <g>"),
    "values before the end of a graph": (
        P + ":g{:s :p 1.}:h{:s :p 1.5}:i{:s :p true}:j{:s :p 'x'@en}:k{:s :p 2}:l{:s :p 1e0.}",
        """<s> <p> "1"^^xsd:integer <g>
        <s> <p> "1.5"^^xsd:decimal <h>
        <s> <p> "true"^^xsd:boolean <i>
        <s> <p> "x"@en <j>
        <s> <p> "2"^^xsd:integer <k>
        <s> <p> "1e0"^^xsd:double <l>"""),
    "names before the end of a graph": (P + ":g{:s :p :o.}:h{:s :p _:b.}:i{:s :p _:b}",
        "<s> <p> <o> <g> \n <s> <p> _:b <h> \n <s> <p> _:b <i>"),
    "braces in texts, addresses and comments": (
        P + "# { \n :g { :s :p '}', '''{ \n }''' . # }\n :s :p :o } # {", r"""<s> <p> "}" <g>
        <s> <p> "{ \n }" <g>
        <s> <p> <o> <g>"""),
    "a prefix between graphs": (
        P + ":g { :s :p :o } @prefix : <http://a.example/x/> . :g { :s :p :o }",
        "<s> <p> <o> <g> \n <x/s> <x/p> <x/o> <x/g>"),
    "a base between graphs": (
        P + "<g> { <s> :p :o } BASE <http://a.example/b/> <g> { <s> :p :o }",
        "<d/s> <p> <o> <d/g> \n <b/s> <p> <o> <b/g>"),
    "prefixes as in SPARQL": ("PREFIX x: <http://a.example/>\nx:g { x:s x:p x:o }", "<s> <p> <o> <g>"),
    "graphs and statements in turn": (
        P + ":s :p 1 . :g { :s :p 2 } :s :p 3 . { :s :p 4 } GRAPH :h { :s :p 5 }",
        """<s> <p> "1"^^xsd:integer
        <s> <p> "2"^^xsd:integer <g>
        <s> <p> "3"^^xsd:integer
        <s> <p> "4"^^xsd:integer
        <s> <p> "5"^^xsd:integer <h>"""),
    "lines that end as on Windows": (P + ":g\r\n{\r\n:s :p :o .\r\n}\r\n", "<s> <p> <o> <g>"),
    "a byte order mark": ("\ufeff" + P + ":g { :s :p :o }", "<s> <p> <o> <g>"),
    "escapes and datatypes in a graph": (
        P + XSD + r""":g { :s :p "\u00e9\t", '1'^^xsd:byte, '''a'b'''@de-CH }""",
        r"""<s> <p> "é\t" <g>
        <s> <p> "1"^^xsd:byte <g>
        <s> <p> "a'b"@de-CH <g>"""),
}  # fmt: skip
TRIG_WRONG: Wrong = {
    "a graph without an end": P + ":g { :s :p :o .",
    "an end that nobody opened": P + ":s :p :o . }",
    "a graph within a graph": P + ":g { :h { :s :p :o } }",
    "braces within braces": P + "{ { :s :p :o } }",
    "the word of a graph within a graph": P + "GRAPH :g { GRAPH :h { :s :p :o } }",
    "the word of a graph without a name": P + "GRAPH { :s :p :o }",
    "the word of a graph without braces": P + "GRAPH :g :s :p :o .",
    "the word of a graph alone": P + "GRAPH :g",
    "a text as a graph": P + "'g' { :s :p :o }",
    "a number as a graph": P + "1 { :s :p :o }",
    "a collection as a graph": P + "(:a) { :s :p :o }",
    "an empty collection as a graph": P + "() { :s :p :o }",
    "properties in brackets as a graph": P + "[ :p :o ] { :s :p :o }",
    "properties in brackets after the word of a graph": P + "GRAPH [ :p :o ] { :s :p :o }",
    "a as a graph": P + "a { :s :p :o }",
    "two graphs' names": P + ":g :h { :s :p :o }",
    "a graph that nobody declared": P + "y:g { :s :p :o }",
    "a dot behind a graph": P + ":g { :s :p :o } .",
    "a dot behind the default graph": P + "{ :s :p :o } .",
    "an equation before a graph": P + ":g = { :s :p :o } .",
    "two dots in a graph": P + ":g { :s :p :o . . }",
    "a dot alone in a graph": P + ":g { . }",
    "no dot between the statements of a graph": P + ":g { :s :p :o :s :q :o }",
    "no object in a graph": P + ":g { :s :p }",
    "a subject alone in a graph": P + ":g { :s }",
    "a prefix in a graph": P + ":g { @prefix x: <http://a.example/> . x:s x:p x:o }",
    "a base in a graph": P + ":g { BASE <http://a.example/> <s> <p> <o> }",
    "a graph as an object": P + ":s :p { :s :p :o } .",
    "four terms without braces": P + ":s :p :o :g .",
    "no dot outside of graphs": P + ":g { :s :p :o } :s :p :o",
    "no dot before a graph": P + ":s :p :o :g { :s :p :o }",
    "a blank node as a predicate in a graph": P + ":g { :s _:p :o }",
    "a text as a subject in a graph": P + ":g { 'x' :p :o }",
    "a collection alone in a graph": P + ":g { (:a) }",
    "a round end of a graph": P + ":g { :s :p :o )",
}

N_TRIPLES: Right = {
    "three addresses": (SPO + " .\n", "<s> <p> <o>"),
    "no new line at the end": (SPO + " .", "<s> <p> <o>"),
    "two lines": (SPO + " .\n" + S + '"x" .\n', '<s> <p> <o> \n <s> <p> "x"'),
    "a line twice": (SPO + " .\n" + SPO + " .\n", "<s> <p> <o>"),
    "no blanks between tokens": ("<http://a.example/s><http://a.example/p><http://a.example/o>.",
        "<s> <p> <o>"),
    "no blanks around a text": ('_:a<http://a.example/p>"x"@en.\n_:a<http://a.example/p>"x"^^<urn:t>.',
        '_:a <p> "x"@en \n _:a <p> "x"^^<urn:t>'),
    "tabs and many blanks": (
        "\t<http://a.example/s>\t  <http://a.example/p> \t<http://a.example/o>\t .\t \n",
        "<s> <p> <o>"),
    "empty lines": ("\n\n" + SPO + " .\n \n\t\n" + S + '"x" .\n\n', '<s> <p> <o> \n <s> <p> "x"'),
    "comments": ("# one\n" + SPO + " . # two\n  # three <a> .\n" + S + '"x" .#four',
        '<s> <p> <o> \n <s> <p> "x"'),
    "a number sign in a text and an address": (S + '"# x ." .\n' + S + "<http://a.example/#o> .",
        '<s> <p> "# x ." \n <s> <p> <#o>'),
    "lines that end as on Windows": (SPO + " .\r\n\r\n# one\r\n" + S + '"x" .\r\n',
        '<s> <p> <o> \n <s> <p> "x"'),
    "lines that end at a carriage return": (SPO + " .\r" + S + '"x" .\r', '<s> <p> <o> \n <s> <p> "x"'),
    "a byte order mark": ("\ufeff" + SPO + " .", "<s> <p> <o>"),
    "blank nodes": ("_:a <http://a.example/p> _:b .\n_:b <http://a.example/p> _:a .",
        "_:x <p> _:y \n _:y <p> _:x"),
    "labels with digits, dots and hyphens": (
        "_:1 <http://a.example/p> _:a.b .\n_:1 <http://a.example/p> _:a-b .\n"
        "_:1 <http://a.example/p> _:_ .\n_:1 <http://a.example/p> _:a..b .",
        "_:a <p> _:b \n _:a <p> _:c \n _:a <p> _:d \n _:a <p> _:e"),
    "labels in other scripts": ("_:é <http://a.example/p> _:日本 .", "_:a <p> _:b"),
    "labels that differ by case": ("_:a <http://a.example/p> _:A .", "_:a <p> _:b"),
    "a label before the dot of the end": ("_:a <http://a.example/p> _:b.", "_:a <p> _:b"),
    "an empty text": (S + '"" .', '<s> <p> ""'),
    "a text with other quotes": (S + "\"it's\" .", "<s> <p> \"it's\""),
    "escapes in texts": (S + r'"\t\b\n\r\f\"\'\\" .', r"""<s> <p> "\t\b\n\r\f\"'\\" """),
    "numbers of characters in texts": (S + r'"\u00e9\u00C9\U0001F600\U0001f601" .', '<s> <p> "éÉ😀😁"'),
    "an escaped backslash before a letter": (S + r'"\\u00e9\\t" .', r'<s> <p> "\\u00e9\\t"'),
    "characters as they are": (S + '"é日😀\t\x7f" .', '<s> <p> "é日😀\\t\\u007F"'),
    "a next line sign in a text": (S + '"a\x85b\u2028c" .', r'<s> <p> "a\u0085b\u2028c"'),
    "blanks at the ends of a text": (S + '"  x  " .', '<s> <p> "  x  "'),
    "what looks like an end in a text": (S + r'"a\" . <b>" .', r'<s> <p> "a\" . <b>"'),
    "languages": (S + '"x"@en .\n' + S + '"x"@de-AT-1996 .\n' + S + '"x"@sr-Latn .',
        '<s> <p> "x"@en \n <s> <p> "x"@de-AT-1996 \n <s> <p> "x"@sr-Latn'),
    "a text in and out of a language": (S + '"x"@en .\n' + S + '"x" .', '<s> <p> "x"@en \n <s> <p> "x"'),
    "a datatype": (S + '"1"^^<http://www.w3.org/2001/XMLSchema#integer> .', '<s> <p> "1"^^xsd:integer'),
    "the datatype of plain texts": (S + '"x"^^<http://www.w3.org/2001/XMLSchema#string> .',
        '<s> <p> "x"'),
    "a datatype of one's own": (S + '"x"^^<urn:t> .', '<s> <p> "x"^^<urn:t>'),
    "a value that its datatype does not know": (S + '"x"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        '<s> <p> "x"^^xsd:integer'),
    "spellings of one number": (
        S + '"1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        + S + '"01"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        '<s> <p> "1"^^xsd:integer \n <s> <p> "01"^^xsd:integer'),
    "addresses that are no web addresses": ("<urn:x:s> <mailto:a@b.example> <tel:+1> .",
        "<urn:x:s> <mailto:a@b.example> <tel:+1>"),
    "addresses in many scripts": (S + "<http://ü.example/日?я#ß> .", "<s> <p> <http://ü.example/日?я#ß>"),
    "escapes in addresses": (
        r"<http://a.example/\u00E9> <http://a.example/p> <http://a.example/\U0001F600> .",
        "<é> <p> <😀>"),
    "an escape in a datatype": (S + r'"x"^^<http://a.example/\u0054> .', '<s> <p> "x"^^<T>'),
    "percent signs in addresses": (S + "<http://a.example/a%20b%c3> .", "<s> <p> <a%20b%c3>"),
    "capital letters in addresses": (S + "<HTTP://A.EXAMPLE:80/> .", "<s> <p> <HTTP://A.EXAMPLE:80/>"),
    "a query and a fragment": (S + "<http://a.example/?a=b&c=d#e/f?g> .", "<s> <p> <?a=b&c=d#e/f?g>"),
}  # fmt: skip
N_TRIPLES_WRONG: Wrong = {
    "no dot": SPO + "\n",
    "two dots": SPO + " . .",
    "no object": S + ".",
    "a subject alone": "<http://a.example/s> .",
    "a graph's name": SPO + G + " .",
    "a relative subject": "<s> <http://a.example/p> <http://a.example/o> .",
    "a relative predicate": "<http://a.example/s> <p> <http://a.example/o> .",
    "a relative object": S + "<o> .",
    "an empty address": S + "<> .",
    "a relative datatype": S + '"x"^^<T> .',
    "a prefix": P + SPO + " .",
    "a base": "@base <http://a.example/> .",
    "a name with a prefix": S + "x:o .",
    "a as a predicate": "<http://a.example/s> a <http://a.example/T> .",
    "a semicolon": SPO + " ; <http://a.example/q> <http://a.example/o> .",
    "a comma": SPO + " , <http://a.example/o> .",
    "brackets": S + "[] .",
    "a collection": S + "() .",
    "a text as a subject": '"x" <http://a.example/p> <http://a.example/o> .',
    "a text as a predicate": '<http://a.example/s> "p" <http://a.example/o> .',
    "a blank node as a predicate": "<http://a.example/s> _:p <http://a.example/o> .",
    "single quotes": S + "'x' .",
    "three quotes": S + '"""x""" .',
    "a number": S + "1 .",
    "a boolean": S + "true .",
    "a text without an end": S + '"x .',
    "a new line in a text": S + '"x\ny" .',
    "a carriage return in a text": S + '"x\ry" .',
    "an unknown escape": S + r'"\x41" .',
    "an escape with too few digits": S + r'"\u00e" .',
    "a long escape with too few digits": S + r'"\U0001F60" .',
    "an escape of half a character": S + r'"\uD800" .',
    "a blank in an address": S + "<http://a.example/a b> .",
    "an escaped blank in an address": S + r"<http://a.example/a\u0020b> .",
    "an escape of texts in an address": S + r"<http://a.example/\n> .",
    "a quote in an address": S + '<http://a.example/"> .',
    "an address without an end": S + "<http://a.example/o .",
    "no language": S + '"x"@ .',
    "a language of digits": S + '"x"@12 .',
    "a language with an underscore": S + '"x"@en_GB .',
    "no datatype": S + '"x"^^ .',
    "a datatype with a prefix": S + '"x"^^xsd:integer .',
    "a datatype that is a blank node": S + '"x"^^_:t .',
    "a language and a datatype": S + '"x"@en^^<urn:t> .',
    "a label that begins with a hyphen": S + "_:-a .",
    "a label without a name": S + "_: .",
    "two statements in one": SPO + " " + SPO + " .",
    "braces": "{ " + SPO + " . }",
}

N_QUADS: Right = {
    "four addresses": (SPO + G + " .\n", "<s> <p> <o> <g>"),
    "three addresses": (SPO + " .\n", "<s> <p> <o>"),
    "no new line at the end": (SPO + G + " .", "<s> <p> <o> <g>"),
    "lines with and without a graph": (SPO + " .\n" + S + '"x"' + G + " .\n",
        '<s> <p> <o> \n <s> <p> "x" <g>'),
    "a statement in two graphs": (SPO + G + " .\n" + SPO + " <http://a.example/h> .",
        "<s> <p> <o> <g> \n <s> <p> <o> <h>"),
    "a statement in a graph and in none": (SPO + G + " .\n" + SPO + " .",
        "<s> <p> <o> <g> \n <s> <p> <o>"),
    "a line twice": (SPO + G + " .\n" + SPO + G + " .", "<s> <p> <o> <g>"),
    "a graph that is a blank node": (SPO + " _:g .", "<s> <p> <o> _:g"),
    "two graphs that are blank nodes": (SPO + " _:g .\n" + SPO + " _:h .",
        "<s> <p> <o> _:g \n <s> <p> <o> _:h"),
    "a graph and what is said of it": (SPO + " _:g .\n_:g <http://a.example/p> _:g _:g .",
        "<s> <p> <o> _:g \n _:g <p> _:g _:g"),
    "a blank node in two graphs": (
        "_:a <http://a.example/p> _:b" + G + " .\n_:b <http://a.example/p> _:a <http://a.example/h> .",
        "_:a <p> _:b <g> \n _:b <p> _:a <h>"),
    "labels with digits, dots and hyphens": (
        "_:1 <http://a.example/p> _:a.b _:a-b .\n_:1 <http://a.example/p> _:_ _:0.1 .",
        "_:a <p> _:b _:c \n _:a <p> _:d _:e"),
    "a graph's label before the dot of the end": (SPO + " _:g.\n_:g <http://a.example/p> _:a.",
        "<s> <p> <o> _:g \n _:g <p> _:a"),
    "labels in other scripts": ("_:é <http://a.example/p> _:日 _:ж .", "_:a <p> _:b _:c"),
    "no blanks between tokens": (
        "<http://a.example/s><http://a.example/p><http://a.example/o><http://a.example/g>.",
        "<s> <p> <o> <g>"),
    "no blanks around a text": ('_:a<http://a.example/p>"x"<http://a.example/g>.', '_:a <p> "x" <g>'),
    "no blanks behind a datatype": ('_:a<http://a.example/p>"x"^^<urn:t><http://a.example/g>.',
        '_:a <p> "x"^^<urn:t> <g>'),
    "no blanks behind a language": ('_:a<http://a.example/p>"x"@en<http://a.example/g>.',
        '_:a <p> "x"@en <g>'),
    "tabs and many blanks": (
        "\t<http://a.example/s>\t <http://a.example/p>"
        "  <http://a.example/o>\t<http://a.example/g> \t.\t\n",
        "<s> <p> <o> <g>"),
    "empty lines": ("\n \n" + SPO + G + " .\n\t\n\n" + SPO + " .\n\n", "<s> <p> <o> <g> \n <s> <p> <o>"),
    "comments": ("# one\n" + SPO + G + " . # two\n\t# three\n" + SPO + " .#four",
        "<s> <p> <o> <g> \n <s> <p> <o>"),
    "number signs in a text and a graph": (S + '"# x ."' + " <http://a.example/#g> .",
        '<s> <p> "# x ." <#g>'),
    "lines that end as on Windows": (SPO + G + " .\r\n\r\n# one\r\n" + SPO + " .\r\n",
        "<s> <p> <o> <g> \n <s> <p> <o>"),
    "lines that end at a carriage return": (SPO + G + " .\r" + SPO + " .\r",
        "<s> <p> <o> <g> \n <s> <p> <o>"),
    "a byte order mark": ("\ufeff" + SPO + G + " .", "<s> <p> <o> <g>"),
    "an empty text in a graph": (S + '""' + G + " .", '<s> <p> "" <g>'),
    "escapes in texts": (S + r'"\t\b\n\r\f\"\'\\"' + G + " .", r"""<s> <p> "\t\b\n\r\f\"'\\" <g>"""),
    "numbers of characters in texts": (S + r'"\u00e9\U0001F600"' + G + " .", '<s> <p> "é😀" <g>'),
    "characters as they are": (S + '"é日😀\t"' + G + " .", r'<s> <p> "é日😀\t" <g>'),
    "what looks like a graph in a text": (S + r'"a\" <g> ."' + " .", r'<s> <p> "a\" <g> ."'),
    "languages": (S + '"x"@en' + G + " .\n" + S + '"x"@de-AT-1996' + G + " .",
        '<s> <p> "x"@en <g> \n <s> <p> "x"@de-AT-1996 <g>'),
    "a language before a graph that is a blank node": (S + '"x"@en _:g .', '<s> <p> "x"@en _:g'),
    "a datatype": (S + '"1"^^<http://www.w3.org/2001/XMLSchema#integer>' + G + " .",
        '<s> <p> "1"^^xsd:integer <g>'),
    "a datatype and no graph": (S + '"1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        '<s> <p> "1"^^xsd:integer'),
    "the datatype of plain texts": (S + '"x"^^<http://www.w3.org/2001/XMLSchema#string>' + G + " .",
        '<s> <p> "x" <g>'),
    "a graph that is no web address": (SPO + " <urn:uuid:00000000-0000-4000-8000-000000000000> .",
        "<s> <p> <o> <urn:uuid:00000000-0000-4000-8000-000000000000>"),
    "a graph in another script": (SPO + " <http://ü.example/日?я#ß> .",
        "<s> <p> <o> <http://ü.example/日?я#ß>"),
    "escapes in a graph's address": (SPO + r" <http://a.example/\u00E9\U0001F600> .",
        "<s> <p> <o> <é😀>"),
    "escapes in every address": (
        r"<http://a.example/\u0073> <http://a.example/\u0070> "
        r"<http://a.example/\u006f> <http://a.example/\u0067> .",
        "<s> <p> <o> <g>"),
    "a percent sign in a graph's address": (SPO + " <http://a.example/a%20b> .", "<s> <p> <o> <a%20b>"),
    "a query in a graph's address": (SPO + " <http://a.example/?a=b&c=d#e> .",
        "<s> <p> <o> <?a=b&c=d#e>"),
    "a graph with the document's address": (SPO + f" <{DOCUMENT}> .", "<s> <p> <o>"),
    "a graph that is its own subject": (
        "<http://a.example/g> <http://a.example/p> <http://a.example/g>" + G + " .",
        "<g> <p> <g> <g>"),
}  # fmt: skip
N_QUADS_WRONG: Wrong = {
    "no dot": SPO + G + "\n",
    "no dot and no graph": SPO,
    "two dots": SPO + G + " . .",
    "a text as a graph": SPO + ' "g" .',
    "a number as a graph": SPO + " 1 .",
    "a relative graph": SPO + " <g> .",
    "an empty address as a graph": SPO + " <> .",
    "a name with a prefix as a graph": SPO + " x:g .",
    "brackets as a graph": SPO + " [] .",
    "two graphs": SPO + G + G + " .",
    "no object": S + ".",
    "a graph in braces": "<http://a.example/g> { " + SPO + " }",
    "the word of a graph": "GRAPH <http://a.example/g> { " + SPO + " }",
    "a prefix": P + SPO + G + " .",
    "a base": "@base <http://a.example/> .\n" + SPO + G + " .",
    "a relative subject": "<s> <http://a.example/p> <http://a.example/o>" + G + " .",
    "a relative object": S + "<o>" + G + " .",
    "a as a predicate": "<http://a.example/s> a <http://a.example/o>" + G + " .",
    "a semicolon": SPO + G + " ; <http://a.example/q> <http://a.example/o> .",
    "a comma": SPO + " , <http://a.example/o>" + G + " .",
    "a text as a subject": '"x" <http://a.example/p> <http://a.example/o>' + G + " .",
    "a text as a predicate": '<http://a.example/s> "p" <http://a.example/o>' + G + " .",
    "a blank node as a predicate": "<http://a.example/s> _:p <http://a.example/o>" + G + " .",
    "single quotes": S + "'x'" + G + " .",
    "three quotes": S + '"""x"""' + G + " .",
    "a number": S + "1" + G + " .",
    "a boolean": S + "true" + G + " .",
    "a new line in a text": S + '"x\ny"' + G + " .",
    "a text without an end": S + '"x' + G + " .",
    "an unknown escape": S + r'"\x41"' + G + " .",
    "an escape of half a character": S + r'"\uDFFF"' + G + " .",
    "a blank in a graph's address": SPO + " <http://a.example/a b> .",
    "an escaped blank in a graph's address": SPO + r" <http://a.example/\u0020> .",
    "a brace in a graph's address": SPO + " <http://a.example/{g}> .",
    "a graph's address without an end": SPO + " <http://a.example/g .",
    "a graph's label without a name": SPO + " _: .",
    "a graph's label that begins with a hyphen": SPO + " _:-g .",
    "no language": S + '"x"@' + G + " .",
    "a relative datatype": S + '"x"^^<T>' + G + " .",
    "a datatype with a prefix": S + '"x"^^xsd:integer' + G + " .",
}

RDF_NAMESPACE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
NAMES = f'xmlns:rdf="{RDF_NAMESPACE}" xmlns:e="http://a.example/"'
XS = "http://www.w3.org/2001/XMLSchema#"


def xml(content: str, attributes: str = "") -> str:
    return f"<rdf:RDF {NAMES} {attributes}>{content}</rdf:RDF>"


def about(content: str, attributes: str = "") -> str:
    """One node with this inside and these attributes."""
    node = f'rdf:about="http://a.example/s" {attributes}'
    return xml(f"<rdf:Description {node}>{content}</rdf:Description>")


RDF_XML: Right = {
    "nothing": (xml(""), ""),
    "a text": (about("<e:p>x</e:p>"), '<s> <p> "x"'),
    "an address": (about('<e:p rdf:resource="http://a.example/o"/>'), "<s> <p> <o>"),
    "an address in a pair of tags": (about('<e:p rdf:resource="http://a.example/o"></e:p>'),
        "<s> <p> <o>"),
    "several properties": (about('<e:p>x</e:p><e:p>y</e:p><e:q rdf:resource="http://a.example/o"/>'),
        '<s> <p> "x" \n <s> <p> "y" \n <s> <q> <o>'),
    "a statement twice": (about("<e:p>x</e:p><e:p>x</e:p>"), '<s> <p> "x"'),
    "a node with a type": (xml('<e:T rdf:about="http://a.example/s"/>'), "<s> rdf:type <T>"),
    "a node with a type and properties": (xml('<e:T rdf:about="http://a.example/s"><e:p>x</e:p></e:T>'),
        '<s> rdf:type <T> \n <s> <p> "x"'),
    "a node without a name": (xml("<e:T/><rdf:Description><e:p>x</e:p></rdf:Description>"),
        '_:a rdf:type <T> \n _:b <p> "x"'),
    "properties as attributes": (about("", "e:p='x' e:q=\"y 'z'\""),
        """<s> <p> "x" \n <s> <q> "y 'z'" """),
    "a type as an attribute": (about("", 'rdf:type="http://a.example/T"'), "<s> rdf:type <T>"),
    "a relative type as an attribute": (about("", 'rdf:type="T"'), "<s> rdf:type <d/T>"),
    "a type as a property": (about('<rdf:type rdf:resource="http://a.example/T"/>'), "<s> rdf:type <T>"),
    "an identifier of a node": (xml('<e:T rdf:ID="x"/>'), "<d/doc#x> rdf:type <T>"),
    "an identifier in another script": (xml('<e:T rdf:ID="é-1.a_b"/>'), "<d/doc#é-1.a_b> rdf:type <T>"),
    "one identifier below two bases": (
        xml('<e:T rdf:ID="x"/><e:T rdf:ID="x" xml:base="http://a.example/b"/>'),
        "<d/doc#x> rdf:type <T> \n <b#x> rdf:type <T>"),
    "labels of blank nodes": (
        xml('<rdf:Description rdf:nodeID="a"><e:p rdf:nodeID="b"/><e:p rdf:nodeID="a"/>'
            '</rdf:Description><e:T rdf:nodeID="b"/>'),
        "_:x <p> _:y \n _:x <p> _:x \n _:y rdf:type <T>"),
    "a label and an identifier that are the same": (xml('<e:T rdf:nodeID="x"/><e:T rdf:ID="x"/>'),
        "_:x rdf:type <T> \n <d/doc#x> rdf:type <T>"),
    "relative addresses": (
        xml('<e:T rdf:about=""/><e:T rdf:about="#f"/><e:T rdf:about="?q"/><e:T rdf:about="../x"/>'
            '<e:T rdf:about="/y"/><e:T rdf:about="//b.example/"/>'),
        """<d/doc> rdf:type <T>
        <d/doc#f> rdf:type <T>
        <d/doc?q> rdf:type <T>
        <x> rdf:type <T>
        <y> rdf:type <T>
        <http://b.example/> rdf:type <T>"""),
    "a relative object": (about('<e:p rdf:resource="o"/><e:p rdf:resource=""/>'),
        "<s> <p> <d/o> \n <s> <p> <d/doc>"),
    "a base": (
        xml('<e:T rdf:about="x"/><e:T rdf:about="#y"/><e:T rdf:ID="z"/>',
            'xml:base="http://a.example/b/c"'),
        "<b/x> rdf:type <T> \n <b/c#y> rdf:type <T> \n <b/c#z> rdf:type <T>"),
    "a base with a fragment": (
        xml('<e:T rdf:about=""/><e:T rdf:ID="z"/>', 'xml:base="http://a.example/b#c"'),
        "<b> rdf:type <T> \n <b#z> rdf:type <T>"),
    "bases on inner elements": (
        xml('<e:T rdf:about="x" xml:base="http://a.example/b/">'
            '<e:p xml:base="http://a.example/c/" rdf:resource="y"/>'
            '<e:q rdf:resource="y"/></e:T><e:T rdf:about="x"/>'),
        "<b/x> rdf:type <T> \n <b/x> <p> <c/y> \n <b/x> <q> <b/y> \n <d/x> rdf:type <T>"),
    "relative bases": (
        xml('<e:T rdf:about="x" xml:base="b/"><e:p xml:base="c/" rdf:resource="y"/></e:T>'
            '<e:T rdf:about="x" xml:base=""/>'),
        "<d/b/x> rdf:type <T> \n <d/b/x> <p> <d/b/c/y> \n <d/x> rdf:type <T>"),
    "a node within a property": (
        about('<e:p><e:T rdf:about="http://a.example/o"><e:q>x</e:q></e:T></e:p>'),
        '<s> <p> <o> \n <o> rdf:type <T> \n <o> <q> "x"'),
    "a nameless node within a property": (about("<e:p>\n  <rdf:Description e:q='x'/>\n</e:p>"),
        '<s> <p> _:a \n _:a <q> "x"'),
    "nodes within nodes": (
        about("<e:p><e:T><e:p><e:U><e:p>x</e:p></e:U></e:p></e:T></e:p>"),
        """<s> <p> _:a
        _:a rdf:type <T>
        _:a <p> _:b
        _:b rdf:type <U>
        _:b <p> "x" """),
    "properties within a property": (
        about('<e:p rdf:parseType="Resource"><e:q>x</e:q><e:r>y</e:r></e:p>'),
        '<s> <p> _:a \n _:a <q> "x" \n _:a <r> "y"'),
    "no properties within a property": (about('<e:p rdf:parseType="Resource"></e:p>'), "<s> <p> _:a"),
    "properties within properties": (
        about('<e:p rdf:parseType="Resource"><e:q rdf:parseType="Resource"><e:r>x</e:r></e:q></e:p>'),
        '<s> <p> _:a \n _:a <q> _:b \n _:b <r> "x"'),
    "a collection": (
        about('<e:p rdf:parseType="Collection"><rdf:Description rdf:about="http://a.example/a"/><e:T/>'
              "</e:p>"),
        """<s> <p> _:l
        _:l rdf:first <a>
        _:l rdf:rest _:m
        _:m rdf:first _:t
        _:m rdf:rest rdf:nil
        _:t rdf:type <T>"""),
    "an empty collection": (about('<e:p rdf:parseType="Collection"/>'), "<s> <p> rdf:nil"),
    "an empty collection with blanks": (about('<e:p rdf:parseType="Collection">\n </e:p>'),
        "<s> <p> rdf:nil"),
    "a collection in a collection": (
        about('<e:p rdf:parseType="Collection"><rdf:Description><e:q rdf:parseType="Collection">'
              '<e:T rdf:about="http://a.example/a"/></e:q></rdf:Description></e:p>'),
        """<s> <p> _:l
        _:l rdf:first _:d
        _:l rdf:rest rdf:nil
        _:d <q> _:m
        _:m rdf:first <a>
        _:m rdf:rest rdf:nil
        <a> rdf:type <T>"""),
    "a text of XML without elements": (about('<e:p rdf:parseType="Literal">a &amp; &lt;b></e:p>'),
        '<s> <p> "a &amp; &lt;b&gt;"^^rdf:XMLLiteral'),
    "a language": (about('<e:p xml:lang="de">x</e:p><e:p>x</e:p>'), '<s> <p> "x"@de \n <s> <p> "x"'),
    "a language of the whole": (
        xml('<e:T rdf:about="http://a.example/s"><e:p>x</e:p><e:q/></e:T>', 'xml:lang="en"'),
        '<s> rdf:type <T> \n <s> <p> "x"@en \n <s> <q> ""@en'),
    "languages that change": (
        about('<e:p>x</e:p><e:q xml:lang="fr">x</e:q><e:t>x</e:t>', 'xml:lang="en-GB"'),
        '<s> <p> "x"@en-GB \n <s> <q> "x"@fr \n <s> <t> "x"@en-GB'),
    "an empty language": (about('<e:p xml:lang="">x</e:p><e:q>x</e:q>'), '<s> <p> "x" \n <s> <q> "x"'),
    "a language of attributes": (about("", 'xml:lang="de" e:p="x"'), '<s> <p> "x"@de'),
    "a language through a node": (
        about('<e:p xml:lang="de"><rdf:Description><e:q>x</e:q></rdf:Description></e:p>'),
        '<s> <p> _:a \n _:a <q> "x"@de'),
    "a language and a datatype": (about(f'<e:p xml:lang="de" rdf:datatype="{XS}integer">1</e:p>'),
        '<s> <p> "1"^^xsd:integer'),
    "a language and a text of XML": (about('<e:p xml:lang="de" rdf:parseType="Literal">x</e:p>'),
        '<s> <p> "x"^^rdf:XMLLiteral'),
    "a datatype": (about(f'<e:p rdf:datatype="{XS}date"> 2024-02-29 </e:p>'),
        '<s> <p> " 2024-02-29 "^^xsd:date'),
    "a relative datatype": (about('<e:p rdf:datatype="#t">x</e:p>'), '<s> <p> "x"^^<d/doc#t>'),
    "the datatype of plain texts": (about(f'<e:p rdf:datatype="{XS}string">x</e:p>'), '<s> <p> "x"'),
    "an empty text with a datatype": (about('<e:p rdf:datatype="http://a.example/T"></e:p>'),
        '<s> <p> ""^^<T>'),
    "numbered properties": (about("<rdf:li>x</rdf:li><rdf:li>y</rdf:li>"),
        '<s> rdf:_1 "x" \n <s> rdf:_2 "y"'),
    "numbered properties with their numbers": (about("<rdf:_3>x</rdf:_3><rdf:_1>y</rdf:_1>"),
        '<s> rdf:_3 "x" \n <s> rdf:_1 "y"'),
    "counting beside given numbers": (
        about("<rdf:_2>x</rdf:_2><rdf:li>y</rdf:li><rdf:_7>z</rdf:_7><rdf:li>w</rdf:li>"),
        '<s> rdf:_2 "x" \n <s> rdf:_1 "y" \n <s> rdf:_7 "z" \n <s> rdf:_2 "w"'),
    "counting within counting": (
        about("<rdf:li>x</rdf:li><rdf:li><rdf:Bag><rdf:li>y</rdf:li></rdf:Bag></rdf:li>"
              "<rdf:li>z</rdf:li>"),
        """<s> rdf:_1 "x"
        <s> rdf:_2 _:a
        _:a rdf:type rdf:Bag
        _:a rdf:_1 "y"
        <s> rdf:_3 "z" """),
    "counting within a property": (
        about('<rdf:li rdf:parseType="Resource"><rdf:li>x</rdf:li></rdf:li>'
              '<rdf:li rdf:resource="http://a.example/o"/>'),
        '<s> rdf:_1 _:a \n _:a rdf:_1 "x" \n <s> rdf:_2 <o>'),
    "a container": (
        xml('<rdf:Seq rdf:about="http://a.example/s" rdf:_1="x"><rdf:_2>y</rdf:_2></rdf:Seq>'),
        '<s> rdf:type rdf:Seq \n <s> rdf:_1 "x" \n <s> rdf:_2 "y"'),
    "an identifier of a statement": (about('<e:p rdf:ID="x">y</e:p>'),
        """<s> <p> "y"
        <d/doc#x> rdf:type rdf:Statement
        <d/doc#x> rdf:subject <s>
        <d/doc#x> rdf:predicate <p>
        <d/doc#x> rdf:object "y" """),
    "an identifier of a statement about an address": (
        about('<e:p rdf:ID="x" rdf:resource="http://a.example/o"/>', 'xml:base="http://a.example/b"'),
        """<s> <p> <o>
        <b#x> rdf:type rdf:Statement
        <b#x> rdf:subject <s>
        <b#x> rdf:predicate <p>
        <b#x> rdf:object <o>"""),
    "an identifier of a statement about a node": (
        about('<e:p rdf:ID="x"><e:T/></e:p>'),
        """<s> <p> _:a
        _:a rdf:type <T>
        <d/doc#x> rdf:type rdf:Statement
        <d/doc#x> rdf:subject <s>
        <d/doc#x> rdf:predicate <p>
        <d/doc#x> rdf:object _:a"""),
    "an identifier of a statement about properties": (
        about('<e:p rdf:ID="x" rdf:parseType="Resource"><e:q>y</e:q></e:p>'),
        """<s> <p> _:a
        _:a <q> "y"
        <d/doc#x> rdf:type rdf:Statement
        <d/doc#x> rdf:subject <s>
        <d/doc#x> rdf:predicate <p>
        <d/doc#x> rdf:object _:a"""),
    "an identifier of a numbered statement": (
        about('<rdf:li rdf:ID="x">y</rdf:li>'),
        """<s> rdf:_1 "y"
        <d/doc#x> rdf:type rdf:Statement
        <d/doc#x> rdf:subject <s>
        <d/doc#x> rdf:predicate rdf:_1
        <d/doc#x> rdf:object "y" """),
    "an empty property": (about("<e:p/><e:q></e:q>"), '<s> <p> "" \n <s> <q> ""'),
    "an empty property with an identifier": (
        about('<e:p rdf:ID="x"/>'),
        """<s> <p> ""
        <d/doc#x> rdf:type rdf:Statement
        <d/doc#x> rdf:subject <s>
        <d/doc#x> rdf:predicate <p>
        <d/doc#x> rdf:object "" """),
    "an empty property with attributes": (about('<e:p e:q="x" rdf:type="http://a.example/T"/>'),
        '<s> <p> _:a \n _:a <q> "x" \n _:a rdf:type <T>'),
    "an empty property with an address and attributes": (
        about('<e:p rdf:resource="http://a.example/o" e:q="x"/>'),
        '<s> <p> <o> \n <o> <q> "x"'),
    "an empty property with a label and attributes": (
        about('<e:p rdf:nodeID="a" e:q="x"/><e:r rdf:nodeID="a"/>'),
        '<s> <p> _:a \n _:a <q> "x" \n <s> <r> _:a'),
    "an empty property with a language and attributes": (about('<e:p xml:lang="de" e:q="x"/>'),
        '<s> <p> _:a \n _:a <q> "x"@de'),
    "sections of characters": (about("<e:p>a<![CDATA[<b> & ]]>c</e:p>"), '<s> <p> "a<b> & c"'),
    "references to characters": (
        about("<e:p e:q='&#xE9;'/><e:r>&#233;&lt;&gt;&amp;&quot;&apos;&#x1F600;</e:r>"),
        r"""<s> <p> _:a
        _:a <q> "é"
        <s> <r> "é<>&\"'😀" """),
    "comments and instructions": (
        about("<!-- one --><e:p>a<!-- two -->b<?three four?></e:p><?five?>"), '<s> <p> "ab"'),
    "blanks in texts": (about("<e:p> a\n\tb </e:p><e:q> </e:q>"), '<s> <p> " a\\n\\tb " \n <s> <q> " "'),
    "lines that end as on Windows": (about("\r\n<e:p>a\r\nb</e:p>\r\n"), r'<s> <p> "a\nb"'),
    "UTF-8 and its mark": (b"\xef\xbb\xbf" + about("<e:p>é日</e:p>").encode(), '<s> <p> "é日"'),
    "UTF-8 that is declared": ('<?xml version="1.0" encoding="UTF-8"?>\n' + about("<e:p>é日</e:p>"),
        '<s> <p> "é日"'),
    "UTF-16": (('<?xml version="1.0" encoding="UTF-16"?>' + about("<e:p>é日</e:p>")).encode("utf-16"),
        '<s> <p> "é日"'),
    "UTF-16 in the other order": (
        b"\xfe\xff"
        + ('<?xml version="1.0" encoding="utf-16"?>\n' + about("<e:p>é</e:p>")).encode("utf-16-be"),
        '<s> <p> "é"'),
    "ISO-8859-1": (
        ('<?xml version="1.0" encoding="ISO-8859-1"?>' + about("<e:p>é</e:p>")).encode("latin-1"),
        '<s> <p> "é"'),
    "US-ASCII": (
        ('<?xml version="1.0" encoding="US-ASCII"?>' + about("<e:p>&#xE9;</e:p>")).encode("ascii"),
        '<s> <p> "é"'),
    "a type of document": ("<!DOCTYPE rdf:RDF>" + about("<e:p>x</e:p>"), '<s> <p> "x"'),
    "a default namespace": (
        xml('<T rdf:about="http://a.example/s"><p>x</p></T>', 'xmlns="http://a.example/x#"'),
        '<s> rdf:type <x#T> \n <s> <x#p> "x"'),
    "a namespace declared anew": (about('<e:p xmlns:e="http://a.example/x/">x</e:p><e:p>x</e:p>'),
        '<s> <x/p> "x" \n <s> <p> "x"'),
    "RDF under another prefix": (
        f'<r:RDF xmlns:r="{RDF_NAMESPACE}" xmlns:e="http://a.example/">'
        '<r:Description r:about="http://a.example/s">'
        '<e:p r:resource="http://a.example/o"/></r:Description></r:RDF>', "<s> <p> <o>"),
    "RDF as the default namespace": (
        f'<RDF xmlns="{RDF_NAMESPACE}" xmlns:r="{RDF_NAMESPACE}">'
        '<Description r:about="http://a.example/s">'
        "<value>x</value></Description></RDF>", '<s> rdf:value "x"'),
    "names of RDF as properties": (
        about('<rdf:value>x</rdf:value><rdf:first>y</rdf:first>'
              '<rdf:object rdf:resource="http://a.example/o"/>'
              "<rdf:Seq>z</rdf:Seq>"),
        '<s> rdf:value "x" \n <s> rdf:first "y" \n <s> rdf:object <o> \n <s> rdf:Seq "z"'),
    "names of RDF as types": (xml("<rdf:List/><rdf:Property rdf:about='http://a.example/s'/><rdf:nil/>"),
        "_:a rdf:type rdf:List \n <s> rdf:type rdf:Property \n _:b rdf:type rdf:nil"),
    "names in other scripts": (about("<e:日本>x</e:日本>", 'e:é="y"'), '<s> <日本> "x" \n <s> <é> "y"'),
    "addresses in other scripts": (about('<e:p rdf:resource="http://a.example/é?日#ß"/>'),
        "<s> <p> <é?日#ß>"),
    "addresses that are no web addresses": (xml('<rdf:Description rdf:about="urn:x:s"><e:p rdf:resource='
        '"mailto:a@b.example"/></rdf:Description>'), "<urn:x:s> <p> <mailto:a@b.example>"),
    "attributes of XML that say nothing": (
        about('<e:p xml:space="preserve">x</e:p>', 'xml:space="default"'),
        '<s> <p> "x"'),
    "a tag without a blank before its end": (
        about('<e:p\n rdf:resource\t=\n"http://a.example/o"\n/>'), "<s> <p> <o>"),
}  # fmt: skip
RDF_XML_WRONG: Wrong = {
    "an end that is missing": f"<rdf:RDF {NAMES}><rdf:Description>",
    "ends in the wrong order": about("<e:p><e:T></e:p></e:T>"),
    "a namespace that nobody declared": about("<y:p>x</y:p>"),
    "an attribute's namespace that nobody declared": about("", 'y:p="x"'),
    "a property without a namespace": about("<p>x</p>"),
    "an attribute twice": about("", 'e:p="x" e:p="y"'),
    "an attribute without quotes": about("<e:p rdf:resource=x/>"),
    "an entity": "<!DOCTYPE rdf:RDF [<!ENTITY a 'x'>]>" + about("<e:p>&a;</e:p>"),
    "an entity that nobody declared": about("<e:p>&a;</e:p>"),
    "an ampersand alone": about("<e:p>a & b</e:p>"),
    "two roots": about("<e:p>x</e:p>") + about("<e:p>x</e:p>"),
    "text among nodes": xml("x<e:T/>"),
    "text among properties": about("x<e:p>x</e:p>"),
    "text before a node in a property": about("<e:p>x<e:T/></e:p>"),
    "text behind a node in a property": about("<e:p><e:T/>x</e:p>"),
    "two nodes in a property": about("<e:p><e:T/><e:T/></e:p>"),
    "text in a collection": about('<e:p rdf:parseType="Collection">x</e:p>'),
    "text among the properties of a property": about('<e:p rdf:parseType="Resource">x</e:p>'),
    "two nodes with one identifier": xml('<e:T rdf:ID="x"/><e:T rdf:ID="x"/>'),
    "a node and a statement with one identifier": xml('<e:T rdf:ID="x"><e:p rdf:ID="x">y</e:p></e:T>'),
    "an identifier that begins with a digit": xml('<e:T rdf:ID="1x"/>'),
    "an identifier with a blank": xml('<e:T rdf:ID="a b"/>'),
    "an identifier with a colon": xml('<e:T rdf:ID="a:b"/>'),
    "an identifier with a number sign": xml('<e:T rdf:ID="#a"/>'),
    "an empty identifier": xml('<e:T rdf:ID=""/>'),
    "a statement's identifier with a slash": about('<e:p rdf:ID="a/b">x</e:p>'),
    "a label that begins with a digit": xml('<e:T rdf:nodeID="1x"/>'),
    "a label with a colon": xml('<e:T rdf:nodeID="_:a"/>'),
    "a property's label with a blank": about('<e:p rdf:nodeID="a b"/>'),
    "an address and an identifier": about("", 'rdf:ID="x"'),
    "an address and a label": about("", 'rdf:nodeID="x"'),
    "an identifier and a label": xml('<e:T rdf:ID="x" rdf:nodeID="x"/>'),
    "a property with an address and a label": about('<e:p rdf:resource="x" rdf:nodeID="x"/>'),
    "a property with an address and a text": about('<e:p rdf:resource="http://a.example/o">x</e:p>'),
    "a property with an address and a node": about(
        '<e:p rdf:resource="http://a.example/o"><e:T/></e:p>'),
    "a property with attributes and a text": about('<e:p e:q="x">y</e:p>'),
    "a text of XML with an address": about(
        '<e:p rdf:parseType="Literal" rdf:resource="http://a.example/o"/>'),
    "RDF as a node": about("<e:p><rdf:RDF/></e:p>"),
    "an identifier as a node": xml("<rdf:ID/>"),
    "an address as a node": xml("<rdf:about/>"),
    "a label as a node": xml("<rdf:nodeID/>"),
    "an object's address as a node": xml("<rdf:resource/>"),
    "a datatype as a node": xml("<rdf:datatype/>"),
    "a way of parsing as a node": xml("<rdf:parseType/>"),
    "a numbered property as a node": xml("<rdf:li/>"),
    "a description as a property": about("<rdf:Description>x</rdf:Description>"),
    "RDF as a property": about("<rdf:RDF>x</rdf:RDF>"),
    "an identifier as a property": about("<rdf:ID>x</rdf:ID>"),
    "an address as a property": about("<rdf:about>x</rdf:about>"),
    "an object's address as a property": about("<rdf:resource>x</rdf:resource>"),
    "a datatype as a property": about("<rdf:datatype>x</rdf:datatype>"),
    "a numbered property as an attribute": about("", 'rdf:li="x"'),
    "RDF as an attribute": about("", 'rdf:RDF="x"'),
    "an old name as a node": xml("<rdf:bagID/>"),
    "an old name as a property": about("<rdf:aboutEach>x</rdf:aboutEach>"),
    "an old name as an attribute": xml('<rdf:Description rdf:aboutEach="http://a.example/s" e:p="x"/>'),
    "an old name with a prefix as an attribute": xml(
        '<rdf:Description rdf:aboutEachPrefix="http://a.example/"/>'),
    "a blank in an address": about('<e:p rdf:resource="http://a.example/a b"/>'),
    "bytes that are no UTF-8": about("<e:p>é</e:p>").encode("latin-1"),
}  # fmt: skip
