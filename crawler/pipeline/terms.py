"""Terms of RDF and their 64-bit keys, which are hashes, so that no dictionary has to be queried.

Two terms with one key are told apart by a second hash, the `mark`; the later one takes a salted key.
"""

from __future__ import annotations

import hashlib
import re
import struct
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from typing import Any

import pyoxigraph

MAX_SALTS = 4
MAX_IRI_CHARACTERS = 4_096

_UNSAFE = re.compile(
    r"[\x00-\x20<>\"{}|\\^`\x7f-\x9f\ud800-\uf8ff\ufdd0-\ufdef\ufff0-\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
    r"|[\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe\U0003ffff]|%(?![0-9A-Fa-f]{2})"
)
_CUT_ESCAPE = re.compile(r"%[0-9A-Fa-f]?\Z")
_UNSAFE_ASCII = re.compile(r"[\x00-\x20<>\"{}|\\^`\x7f]|%(?![0-9A-Fa-f]{2})")

_UNESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U(000[0-9A-Fa-f]{5}|0010[0-9A-Fa-f]{4})|([tbnrf\"'\\]))")
_TERM = re.compile(
    rf"""<(?P<iri>(?:[^<>\\]|{_ESCAPE.pattern})*)>|_:(?P<label>\S+)"""
    rf"""|"(?P<text>(?:[^"\\]|{_ESCAPE.pattern})*+)"(?:@(?P<lang>[A-Za-z0-9-]+)|\^\^<(?P<datatype>[^<>]*)>)?"""
)
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile(r'[\\"\n\r]')

Node = Any
"""A node of pyoxigraph: NamedNode, BlankNode or Literal."""


class Kind(IntEnum):
    """The kind of a term."""

    IRI = 0
    BLANK = 1
    LITERAL = 2


@dataclass(frozen=True, slots=True)
class Term:
    """An IRI, a blank node (its label unique in the store), or a literal with its language or datatype."""

    kind: Kind
    value: str
    lang: str = ""
    datatype: str = ""

    def key(self, salt: int = 0) -> int:
        """Return the signed 64-bit key under which it is stored."""
        return self.keys(salt)[0]

    def keys(self, salt: int = 0) -> tuple[int, int]:
        """Return key and mark (signed 32 bits)."""
        text = f"{self.kind}\x00{self.lang}\x00{self.datatype}\x00{self.value}"
        raw = hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), digest_size=12, salt=bytes([salt])
        ).digest()
        key, mark = struct.unpack(">qi", raw)
        return key, mark

    def n3(self) -> str:
        """Write the term as N-Triples."""
        if self.kind == Kind.IRI:
            return f"<{self.value}>"
        if self.kind == Kind.BLANK:
            return f"_:{self.value}"
        text = escaped(self.value)
        if self.lang:
            return f'"{text}"@{self.lang}'
        return f'"{text}"^^<{self.datatype}>' if self.datatype else f'"{text}"'


def plain(text: str) -> str:
    """Remove characters that PostgreSQL cannot hold: NUL and lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def escaped(text: str) -> str:
    """Return the text of a literal as N-Triples spells it, without the quotes."""
    return _ESCAPED.sub(lambda sign: _ESCAPES[sign[0]], text)


def iri(value: str) -> Term:
    """Return the term of an IRI."""
    return Term(Kind.IRI, value)


def node(term: Term) -> Node:
    """Convert the term to Oxigraph's, which checks it. Raises ValueError for an invalid term."""
    if term.kind == Kind.IRI:
        return pyoxigraph.NamedNode(term.value)
    if term.kind == Kind.BLANK:
        return pyoxigraph.BlankNode(term.value)
    if term.lang:
        return pyoxigraph.Literal(term.value, language=term.lang)
    if term.datatype:
        return pyoxigraph.Literal(term.value, datatype=pyoxigraph.NamedNode(term.datatype))
    return pyoxigraph.Literal(term.value)


def term_of_node(node_value: object, scope: str = "") -> Term:
    """Convert a term of Oxigraph's, prefixing labels of blank nodes with `scope`.

    NUL, which PostgreSQL's texts cannot hold, is left out of literals. Raises ValueError for what is no term.
    """
    if isinstance(node_value, pyoxigraph.NamedNode):
        return Term(Kind.IRI, node_value.value)
    if isinstance(node_value, pyoxigraph.BlankNode):
        return Term(Kind.BLANK, scope + node_value.value)
    if not isinstance(node_value, pyoxigraph.Literal):
        raise ValueError("a triple stands where a term belongs")
    value = node_value.value.replace("\x00", "")
    if node_value.language:
        return Term(Kind.LITERAL, value, lang=node_value.language)
    datatype = node_value.datatype.value
    return Term(Kind.LITERAL, value, datatype="" if datatype == _STRING else datatype)


def read_lines(
    data: bytes, form: pyoxigraph.RdfFormat, limit: int | None = None, *, lenient: bool = False
) -> tuple[list[pyoxigraph.Quad], int]:
    """Parse N-Triples or N-Quads up to a maximum. Returns the quads and the number of invalid lines."""
    try:
        return list(islice(pyoxigraph.parse(data, format=form, lenient=lenient), limit)), 0
    except SyntaxError:
        quads: list[pyoxigraph.Quad] = []
        bad = 0
    for line in re.split(rb"[\r\n]+", data):
        try:
            quads += list(pyoxigraph.parse(line, format=form, lenient=lenient))
        except SyntaxError:
            bad += 1
        if limit is not None and len(quads) >= limit:
            break
    return quads[:limit], bad


def read_triples(text: bytes, scope: str = "") -> tuple[list[tuple[Term, Term, Term]], int]:
    """Parse N-Triples. Returns distinct triples and the number of invalid lines.

    Labels of blank nodes get `scope` before them.
    """
    graphs, bad = read_graphs(text, scope, form=pyoxigraph.RdfFormat.N_TRIPLES)
    return graphs[""], bad


def read_graphs(
    text: bytes, scope: str = "", *, form: pyoxigraph.RdfFormat = pyoxigraph.RdfFormat.N_QUADS
) -> tuple[dict[str, list[tuple[Term, Term, Term]]], int]:
    """Parse N-Quads. Returns the distinct triples of each graph and the number of invalid lines.

    The default graph is named by an empty text and always there. Labels of blank nodes get
    `scope` before them.
    """
    quads, bad = read_lines(text, form)
    terms: dict[object, Term] = {}
    graphs: dict[str, dict[tuple[Term, Term, Term], None]] = {"": {}}
    for quad in quads:
        parts = (quad.subject, quad.predicate, quad.object)
        try:
            for part in parts:
                if part not in terms:
                    terms[part] = term_of_node(part, scope)
        except ValueError:
            bad += 1
            continue
        name = "" if isinstance(quad.graph_name, pyoxigraph.DefaultGraph) else quad.graph_name.value
        graphs.setdefault(name, {})[terms[parts[0]], terms[parts[1]], terms[parts[2]]] = None
    return {name: list(triples) for name, triples in graphs.items()}, bad


def parse_term(text: str) -> Term:
    """Parse a term of N-Triples. Raises ValueError."""
    match = _TERM.fullmatch(text)
    if match is None:
        raise ValueError(f"no term of N-Triples: {text[:100]!r}")
    if match["label"]:
        term = Term(Kind.BLANK, match["label"])
    elif match["iri"] is not None:
        term = Term(Kind.IRI, _plain(match["iri"]))
    else:
        kind = _plain(match["datatype"] or "")
        term = Term(Kind.LITERAL, _plain(match["text"]), match["lang"] or "", "" if kind == _STRING else kind)
    try:
        node(term)
    except ValueError as error:
        raise ValueError(f"no term of N-Triples: {error}") from error
    return term


def _plain(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else _UNESCAPED[match[3]]


def safe(url: str) -> str:
    """Return an absolute URL as an IRI, escaping characters that no IRI may hold."""
    if "[" in url or "]" in url:  # an IRI has them around the number of a host only
        head, slashes, tail = url.partition("//")
        host, slash, path = tail.partition("/") if slashes else ("", "", "")
        head, path = (part.replace("[", "%5B").replace("]", "%5D") for part in (head, path))
        url = f"{head}{slashes}{host}{slash}{path}"
    if url.count("#") > 1:  # a fragment may hold none itself
        head, sign, fragment = url.partition("#")
        url = head + sign + fragment.replace("#", "%23")
    if not url.isascii() or _UNSAFE_ASCII.search(url):
        url = _UNSAFE.sub(
            lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode("utf-8", "replace")), url
        )
    return url if len(url) <= MAX_IRI_CHARACTERS else _CUT_ESCAPE.sub("", url[:MAX_IRI_CHARACTERS])
