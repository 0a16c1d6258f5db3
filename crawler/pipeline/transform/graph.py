"""Triples of one document: each once, blank nodes named in order, sizes bounded, every term a valid one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from xml.parsers import expat

import pyoxigraph

from crawler.http.urls import BadUrl, join
from crawler.pipeline.terms import Kind, Node, Term, escaped, node, plain, read_lines, safe, term_of_node
from crawler.reading.errors import ReadingError

MOST_TRIPLES = 50_000
MOST_OUTPUT = 20_000_000
LONGEST_LITERAL = 65_536
DEEPEST = 256
"""Levels of RDF/XML."""
MOST_QUOTED = 1_000

ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
"""Where a document declares an entity."""

_SCHEMA = "https://schema.org/"
_LINES = {pyoxigraph.RdfFormat.N_TRIPLES, pyoxigraph.RdfFormat.N_QUADS}


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """What the phase takes: the bytes, their detected type, and where they come from."""

    url: str
    type: str
    body: bytes
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class Transformed:
    """What it gives: N-Triples, who made them, and what was left out, in words."""

    triples: str
    count: int
    transformer: str
    notes: tuple[str, ...] = ()


class Graph:
    """Collects the triples of one document. Raises ReadingError(too-large) beyond the bounds.

    A term that no RDF can hold costs its triple and no other; how many it were becomes a note.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.notes: list[str] = []
        self._triples: dict[pyoxigraph.Triple, None] = {}
        self._nodes: dict[Term, Node | None] = {}
        self._blanks = 0
        self._bad = 0
        self._size = 0

    def __len__(self) -> int:
        return len(self._triples)

    def add(self, subject: Term, predicate: Term, value: Term) -> None:
        """A triple of terms as `iri`, `literal` and `blank` make them."""
        self._put(self._node(subject), self._node(predicate), self._node(value))

    def blank(self) -> Term:
        """A new blank node."""
        self._blanks += 1
        return Term(Kind.BLANK, f"b{self._blanks - 1}")

    def read(self, data: bytes, form: pyoxigraph.RdfFormat) -> None:
        """Add RDF of this format; names of graphs in it are left out.

        A bad term costs its triple, a bad line of N-Triples or N-Quads that line; any other mistake costs all
        of it. Raises SyntaxError then, and when nothing else is there; ValueError as the parser does.
        """
        _check_depth(data, form)
        # What is lenient here is judged term by term below: else one bad address would cost all the others.
        before, right, most = self._bad, 0, MOST_TRIPLES + 1
        if form in _LINES:
            found, bad = read_lines(data, form, most, lenient=True)
            self._bad += bad
        else:
            found = list(islice(pyoxigraph.parse(data, format=form, base_iri=self.url, lenient=True), most))
        known: dict[object, Node | None] = {}
        for quad in found:
            parts = (quad.subject, quad.predicate, quad.object)
            for part in parts:
                if part not in known:
                    known[part] = self._own(part)
            right += self._put(*(known[part] for part in parts))
        if self._bad > before and not right:
            raise SyntaxError("no RDF can hold any of its triples")

    def done(self, transformer: str) -> Transformed:
        """All of it."""
        if self._bad:
            self.notes.append(f"{self._bad} triples were left out: no RDF can hold them")
        lines = pyoxigraph.serialize(self._triples, format=pyoxigraph.RdfFormat.N_TRIPLES) or b""
        return Transformed(lines.decode().rstrip("\n"), len(self._triples), transformer, tuple(self.notes))

    def _put(self, *parts: Node) -> bool:
        """Add a triple of nodes, None for those that are no terms; whether it is one."""
        try:
            triple = pyoxigraph.Triple(*parts)
        except TypeError:  # one of them is none, or a literal where none may stand
            self._bad += 1
            return False
        if triple in self._triples:
            return True
        self._size += sum(len(one.value) for one in parts)
        if len(self._triples) >= MOST_TRIPLES or self._size > MOST_OUTPUT:
            raise ReadingError("too-large", f"more than {MOST_TRIPLES} triples or {MOST_OUTPUT} characters")
        self._triples[triple] = None
        return True

    def _node(self, term: Term) -> Node | None:
        """The term, checked; none for one that no RDF can hold."""
        if term not in self._nodes:
            try:
                self._nodes[term] = node(term)
            except ValueError:
                self._nodes[term] = None
        return self._nodes[term]

    def _own(self, found: object) -> Node | None:
        """A parser's term checked: blank nodes under our names, one spelling of schema.org, literals cut."""
        if isinstance(found, pyoxigraph.BlankNode):
            return self._node(self.blank())
        try:
            term = term_of_node(found)
        except ValueError:
            return None
        if term.kind == Kind.IRI and len(term.value) > LONGEST_LITERAL:
            return None
        if term.kind == Kind.IRI and term.value.startswith(_SCHEMA):
            term = Term(Kind.IRI, "http" + term.value.removeprefix("https"))
        if term.kind == Kind.LITERAL and len(cut := _cut(term.value)) < len(term.value):
            self.notes.append(f"a literal of {len(term.value)} characters was cut")
            term = Term(Kind.LITERAL, cut)
        return self._node(term)


def iri(url: str) -> Term:
    """An absolute IRI; what no IRI may hold is escaped as in URLs."""
    return Term(Kind.IRI, safe(url))


def resolved(base: str, reference: str) -> str:
    """A web address found in a document, absolute and safe as an IRI; empty for what is none."""
    try:
        return safe(join(base, reference))
    except BadUrl:
        return ""


def literal(text: str, datatype: str = "") -> Term:
    """A plain or typed literal of bounded length, without what no text can hold (NUL, lone surrogates)."""
    return Term(Kind.LITERAL, plain(_cut(text)), datatype=datatype)


def _check_depth(data: bytes, form: pyoxigraph.RdfFormat) -> None:
    """Refuse what Oxigraph's parsers cannot bear: deep triple terms end the process, deep RDF/XML lasts long.

    Raises ReadingError.
    """
    if form != pyoxigraph.RdfFormat.RDF_XML:
        # Counted without looking what is text: a count that cannot be deceived.
        if data.count(b"<<") > MOST_QUOTED:
            raise ReadingError("too-deep", f"more than {MOST_QUOTED} triples within triples")
        return
    depth = 0

    def begin(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ReadingError("too-deep", f"nested more than {DEEPEST} levels deep")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate(
        "iso-8859-1"
    )  # one byte a sign, so that the declared encoding does not matter
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise SyntaxError(f"ill-formed XML: {error}") from error


def _cut(text: str) -> str:
    """At most so much that its spelling in N-Triples is no longer than the longest literal."""
    text = text[:LONGEST_LITERAL]
    while len(text) > LONGEST_LITERAL // 2 and len(escaped(text)) > LONGEST_LITERAL:
        text = text[: len(text) * 9 // 10]
    return text
