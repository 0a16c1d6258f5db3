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

MAX_TRIPLES = 50_000
MAX_OUTPUT = 20_000_000
MAX_LITERAL_CHARACTERS = 65_536
DEEPEST = 256
"""Levels of RDF/XML."""
MAX_QUOTED = 1_000

ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
"""Where a document declares an entity."""

_SCHEMA = "https://schema.org/"
_LINES = {pyoxigraph.RdfFormat.N_TRIPLES, pyoxigraph.RdfFormat.N_QUADS}


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The input of the phase: a document's bytes, their detected type, and their address."""

    url: str
    type: str
    body: bytes
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class Transformed:
    """The output of the phase: N-Triples, the transformer, and notes on what was left out."""

    triples: str
    count: int
    transformer: str
    notes: tuple[str, ...] = ()


class Graph:
    """A collector of one document's triples. Raises ReadingError(too-large) beyond the bounds.

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
        """Add a triple of terms made by `iri`, `literal` and `blank`."""
        self._put(self._node(subject), self._node(predicate), self._node(value))

    def blank(self) -> Term:
        """Return a new blank node."""
        self._blanks += 1
        return Term(Kind.BLANK, f"b{self._blanks - 1}")

    def read(self, data: bytes, form: pyoxigraph.RdfFormat) -> None:
        """Add RDF of this format; names of graphs in it are left out.

        A bad term costs its triple, a bad line of N-Triples or N-Quads that line; any other mistake costs all
        of it. Raises SyntaxError then, and when nothing else is there; ValueError as the parser does.
        """
        _check_depth(data, form)
        # What is lenient here is judged term by term below: else one bad address would cost all the others.
        before, right, max_triples = self._bad, 0, MAX_TRIPLES + 1
        if form in _LINES:
            parsed, bad = read_lines(data, form, max_triples, lenient=True)
            self._bad += bad
        else:
            parsed = list(
                islice(pyoxigraph.parse(data, format=form, base_iri=self.url, lenient=True), max_triples)
            )
        nodes: dict[object, Node | None] = {}
        for quad in parsed:
            parts = (quad.subject, quad.predicate, quad.object)
            for part in parts:
                if part not in nodes:
                    nodes[part] = self._own(part)
            right += self._put(*(nodes[part] for part in parts))
        if self._bad > before and not right:
            raise SyntaxError("no RDF can hold any of its triples")

    def done(self, transformer: str) -> Transformed:
        """Return the whole graph."""
        if self._bad:
            self.notes.append(f"{self._bad} triples were left out: no RDF can hold them")
        lines = pyoxigraph.serialize(self._triples, format=pyoxigraph.RdfFormat.N_TRIPLES) or b""
        return Transformed(lines.decode().rstrip("\n"), len(self._triples), transformer, tuple(self.notes))

    def _put(self, *parts: Node) -> bool:
        """Add a triple of nodes, None for invalid terms. Returns whether it was valid."""
        try:
            triple = pyoxigraph.Triple(*parts)
        except TypeError:  # one of them is none, or a literal where none may stand
            self._bad += 1
            return False
        if triple in self._triples:
            return True
        self._size += sum(len(part.value) for part in parts)
        if len(self._triples) >= MAX_TRIPLES or self._size > MAX_OUTPUT:
            raise ReadingError("too-large", f"more than {MAX_TRIPLES} triples or {MAX_OUTPUT} characters")
        self._triples[triple] = None
        return True

    def _node(self, term: Term) -> Node | None:
        """Return the term as a checked node, None for an invalid one."""
        if term not in self._nodes:
            try:
                self._nodes[term] = node(term)
            except ValueError:
                self._nodes[term] = None
        return self._nodes[term]

    def _own(self, value: object) -> Node | None:
        """Return a parser's term checked: blank nodes under our names, one spelling of schema.org, literals
        cut.
        """
        if isinstance(value, pyoxigraph.BlankNode):
            return self._node(self.blank())
        try:
            term = term_of_node(value)
        except ValueError:
            return None
        if term.kind == Kind.IRI and len(term.value) > MAX_LITERAL_CHARACTERS:
            return None
        if term.kind == Kind.IRI and term.value.startswith(_SCHEMA):
            term = Term(Kind.IRI, "http" + term.value.removeprefix("https"))
        if term.kind == Kind.LITERAL and len(cut := _cut(term.value)) < len(term.value):
            self.notes.append(f"a literal of {len(term.value)} characters was cut")
            term = Term(Kind.LITERAL, cut)
        return self._node(term)


def iri(url: str) -> Term:
    """Return an absolute IRI; what no IRI may hold is escaped as in URLs."""
    return Term(Kind.IRI, safe(url))


def resolved(base: str, reference: str) -> str:
    """Return an absolute web address, safe as an IRI. Returns an empty text for an invalid one."""
    try:
        return safe(join(base, reference))
    except BadUrl:
        return ""


def literal(text: str, datatype: str = "") -> Term:
    """Return a plain or typed literal of bounded length, without NUL and lone surrogates."""
    return Term(Kind.LITERAL, plain(_cut(text)), datatype=datatype)


def _check_depth(data: bytes, form: pyoxigraph.RdfFormat) -> None:
    """Refuse what Oxigraph's parsers cannot bear: deep triple terms end the process, deep RDF/XML lasts long.

    Raises ReadingError.
    """
    if form != pyoxigraph.RdfFormat.RDF_XML:
        # Counted without looking what is text: a count that cannot be deceived.
        if data.count(b"<<") > MAX_QUOTED:
            raise ReadingError("too-deep", f"more than {MAX_QUOTED} triples within triples")
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
    """Cut a text so that its spelling in N-Triples fits the longest literal."""
    text = text[:MAX_LITERAL_CHARACTERS]
    while len(text) > MAX_LITERAL_CHARACTERS // 2 and len(escaped(text)) > MAX_LITERAL_CHARACTERS:
        text = text[: len(text) * 9 // 10]
    return text
