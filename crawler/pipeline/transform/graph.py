"""Triples of one document: each once, blank nodes named in order, sizes bounded, every term a valid one."""

from __future__ import annotations

import codecs
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote
from xml.parsers import expat

import pyoxigraph

from crawler.fetching.http.urls import BadUrl, join
from crawler.pipeline.terms import (
    MAX_IRI_CHARACTERS,
    Kind,
    Node,
    Term,
    escaped,
    node,
    plain,
    read_lines,
    safe,
    term_of_node,
)
from crawler.pipeline.transform.plain_xml import DEEPEST, plain_xml
from crawler.reading.errors import ReadingError

MAX_TRIPLES = 50_000
MAX_OUTPUT = 20_000_000
MAX_LITERAL_CHARACTERS = 65_536
MAX_QUOTED = 1_000
MAX_NAMED_GRAPHS = 1_000

MIN_RIGHT_PER_BAD = 10
"""Right triples for each bad one that a document needs to be read all the same."""

ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
"""Where a document declares an entity."""

_TOO_LARGE = f"more than {MAX_TRIPLES} triples or {MAX_OUTPUT} characters"
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
    """The output of the phase: N-Triples, the transformer, and notes on what was left out.

    `parts` repeats the triples of named graphs as N-Quads, each graph named by `part_name`.
    """

    triples: str
    count: int
    transformer: str
    notes: tuple[str, ...] = ()
    parts: str = ""


class Graph:
    """A collector of one document's triples. Raises ReadingError(too-large) beyond the bounds.

    A term that no RDF can hold costs its triple and no other; how many it were becomes a note.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.notes: list[str] = []
        self._triples: dict[pyoxigraph.Triple, None] = {}
        self._parts: defaultdict[pyoxigraph.NamedNode, dict[pyoxigraph.Triple, None]] = defaultdict(dict)
        self._nameless = 0
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

    def read(self, data: bytes, form: pyoxigraph.RdfFormat, *, tolerant: bool = False) -> None:
        """Add RDF of this format. The triples of its named graphs are also kept by the names.

        A bad term costs its triple, a bad line of N-Triples or N-Quads that line. Raises SyntaxError for any
        other mistake, and when there are fewer than MIN_RIGHT_PER_BAD right triples for each bad one or, if
        `tolerant`, none at all; ValueError as the parser does.
        """
        # Parsers take a byte order mark for a character of the first term.
        data = data.removeprefix(codecs.BOM_UTF8)
        _check_depth(data, form)
        max_triples = MAX_TRIPLES + 1
        try:
            # One more than allowed tells that there are more.
            parsed = list(islice(pyoxigraph.parse(data, format=form, base_iri=self.url), max_triples))
        except (SyntaxError, ValueError):
            parsed, bad = _read_leniently(data, form, self.url, max_triples)
            valid = [quad for quad in parsed if self._is_valid(quad)]
            bad += len(parsed) - len(valid)
            needed = 1 if tolerant else bad * MIN_RIGHT_PER_BAD
            if not bad or len(valid) < needed:
                raise
            self._bad += bad
            parsed = valid
        self._put_all(parsed)

    def read_xml(self, body: bytes, content_type: str = "", *, tolerant: bool = False) -> None:
        """Add RDF/XML that others wrote. Raises SyntaxError and ValueError as `read` does."""
        self.read(plain_xml(body, content_type, self.url), pyoxigraph.RdfFormat.RDF_XML, tolerant=tolerant)

    def take(self, quads: Iterable[pyoxigraph.Quad]) -> None:
        """Add quads that were read leniently. A bad term costs its triple.

        Raises SyntaxError and ValueError as the iterator does.
        """
        parsed = list(islice(quads, MAX_TRIPLES + 1))
        valid = [quad for quad in parsed if self._is_valid(quad)]
        self._bad += len(parsed) - len(valid)
        self._put_all(valid)

    def take_lines(self, data: bytes, form: pyoxigraph.RdfFormat) -> None:
        """Add lines of N-Triples or N-Quads. A bad line, or a bad term, costs its triple."""
        quads, bad = read_lines(data, form, MAX_TRIPLES + 1, lenient=True)
        self._bad += bad
        self.take(quads)

    def _put_all(self, parsed: Sequence[pyoxigraph.Quad]) -> None:
        if len(parsed) > MAX_TRIPLES:
            self.notes.append(f"the rest after {MAX_TRIPLES} triples was not read")
        nodes: dict[object, Node | None] = {}
        parts: dict[object, pyoxigraph.NamedNode | None] = {}
        for quad in parsed:
            terms = (quad.subject, quad.predicate, quad.object)
            graph = None if isinstance(quad.graph_name, pyoxigraph.DefaultGraph) else quad.graph_name
            for term in terms if graph is None else (*terms, graph):
                if term not in nodes:
                    nodes[term] = self._own(term)
            triple = self._put(*(nodes[term] for term in terms))
            if graph is not None and triple is not None:
                if graph not in parts:
                    parts[graph] = self._part(nodes[graph])
                self._put_into_part(parts[graph], triple)

    def _part(self, name: Node | None) -> pyoxigraph.NamedNode | None:
        """Return the address of a named graph, None for one that is the document's own."""
        if name is None or (isinstance(name, pyoxigraph.NamedNode) and name.value == self.url):
            return None
        is_blank = isinstance(name, pyoxigraph.BlankNode)
        return pyoxigraph.NamedNode(
            part_name(self.url, str(name.value)[:MAX_IRI_CHARACTERS], is_blank=is_blank)
        )

    def _put_into_part(self, part: pyoxigraph.NamedNode | None, triple: pyoxigraph.Triple) -> None:
        """Keep a triple under the name of its graph, too."""
        if part is None:
            return
        if part not in self._parts and len(self._parts) >= MAX_NAMED_GRAPHS:
            self._nameless += 1
            return
        if triple not in self._parts[part]:
            terms: tuple[Node, ...] = (triple.subject, triple.predicate, triple.object, part)
            self._grow(sum(len(term.value) for term in terms))
            self._parts[part][triple] = None

    def _is_valid(self, quad: pyoxigraph.Quad) -> bool:
        """Return whether RDF can hold the terms of a triple that was read leniently."""
        try:
            return all(self._node(term_of_node(part)) for part in (quad.subject, quad.predicate, quad.object))
        except ValueError:
            return False

    def done(self, transformer: str) -> Transformed:
        """Return the whole graph."""
        if self._bad:
            self.notes.append(f"{self._bad} triples were left out: no RDF can hold them")
        if self._nameless:
            self.notes.append(
                f"{self._nameless} triples lost their graphs' names, which are more than {MAX_NAMED_GRAPHS}"
            )
        lines = pyoxigraph.serialize(self._triples, format=pyoxigraph.RdfFormat.N_TRIPLES) or b""
        quads = (
            pyoxigraph.Quad(triple.subject, triple.predicate, triple.object, name)
            for name, triples in self._parts.items()
            for triple in triples
        )
        parts = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.N_QUADS) or b""
        return Transformed(
            lines.decode().rstrip("\n"),
            len(self._triples),
            transformer,
            tuple(self.notes),
            parts.decode().rstrip("\n"),
        )

    def _put(self, *terms: Node) -> pyoxigraph.Triple | None:
        """Add a triple of nodes, None for invalid terms. Counts it as bad if it is not valid."""
        try:
            triple = pyoxigraph.Triple(*terms)
        except TypeError:  # one of them is none, or a literal where none may stand
            self._bad += 1
            return None
        if triple in self._triples:
            return triple
        self._grow(sum(len(term.value) for term in terms))
        if len(self._triples) >= MAX_TRIPLES:
            raise ReadingError("too-large", _TOO_LARGE)
        self._triples[triple] = None
        return triple

    def _grow(self, characters: int) -> None:
        """Count characters of the output. Raises ReadingError(too-large) beyond MAX_OUTPUT."""
        self._size += characters
        if self._size > MAX_OUTPUT:
            raise ReadingError("too-large", _TOO_LARGE)

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
        # Labels of two parts of a page may be the same for different things.
        if isinstance(value, pyoxigraph.BlankNode):
            return self._node(self.blank())
        if isinstance(value, pyoxigraph.NamedNode):
            if len(value.value) > MAX_LITERAL_CHARACTERS:
                return None
            # Sites write both; queries know one.
            is_https = value.value.startswith(_SCHEMA)
            return self._node(iri("http" + value.value.removeprefix("https"))) if is_https else value
        if not isinstance(value, pyoxigraph.Literal):
            return None  # a triple where a term belongs
        if len(cut := _cut(value.value)) < len(value.value):
            self.notes.append(f"a literal of {len(value.value)} characters was cut")
            return self._node(Term(Kind.LITERAL, plain(cut), lang=value.language or ""))
        return value


def _read_leniently(
    data: bytes, form: pyoxigraph.RdfFormat, url: str, max_triples: int
) -> tuple[list[pyoxigraph.Quad], int]:
    """Parse with terms that are not checked. Returns the quads and the number of invalid lines."""
    if form in _LINES:
        return read_lines(data, form, max_triples, lenient=True)
    return list(islice(pyoxigraph.parse(data, format=form, base_iri=url, lenient=True), max_triples)), 0


def part_name(url: str, name: str, *, is_blank: bool = False) -> str:
    """Return the address of a graph named `name` within the document at `url`.

    A name is a claim of its document alone, so that no document can add to the graph of another.
    """
    escaped_name = ("_:" if is_blank else "") + quote(name, safe=":/?=&;@,+~.-_")
    return safe(part_prefix(url) + escaped_name)


def part_prefix(url: str) -> str:
    """Return the beginning of the addresses of all named graphs within the document at `url`."""
    return f"{url}{'&' if '#' in url else '#'}graph="


def iri(url: str) -> Term:
    """Return an absolute IRI; what no IRI may hold is escaped as in URLs."""
    return Term(Kind.IRI, safe(url))


def resolved(base: str, reference: str) -> str:
    """Return an absolute web address, safe as an IRI. Returns an empty text for an invalid one."""
    try:
        return safe(join(base, reference))
    except BadUrl:
        return ""


def literal(text: str, datatype: str = "", *, language: str = "") -> Term:
    """Return a literal of bounded length, with its datatype or language, without NUL and lone surrogates."""
    return Term(Kind.LITERAL, plain(_cut(text)), lang=language, datatype=datatype)


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

    parser = expat.ParserCreate("utf-8")  # Oxigraph reads no other encoding
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
