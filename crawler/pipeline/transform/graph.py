"""Triples of one document as lines of N-Triples: each once, blank nodes named in order, sizes bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import pyoxigraph

from crawler.http.urls import BadUrl, join
from crawler.pipeline.terms import escaped, safe

MOST_TRIPLES = 50_000
MOST_OUTPUT = 20_000_000
LONGEST_LITERAL = 65_536

ErrorKind = Literal["unsupported-type", "malformed", "too-large", "too-deep", "entities"]

ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
"""Where a document declares an entity."""

_BLANK = re.compile(r"^_:\S+| _:\S+(?= \.$)")
_SCHEMA = "<https://schema.org/"


class TransformError(Exception):
    """A document that gives no graph: `kind` names the cause, `detail` is for people."""

    def __init__(self, kind: ErrorKind, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind: ErrorKind = kind
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Document:
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
    """Collects the triples of one document. Raises TransformError(too-large) beyond the bounds."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.notes: list[str] = []
        self._lines: dict[str, None] = {}
        self._blanks: dict[tuple[int, str], str] = {}
        self._parts = 0
        self._size = 0

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, subject: str, predicate: str, value: str) -> None:
        """A triple of terms as `iri`, `literal` and `blank` spell them."""
        self._line(f"{subject} {predicate} {value} .")

    def blank(self) -> str:
        """A new blank node."""
        label = f"_:b{len(self._blanks)}"
        self._blanks[-1, label] = label
        return label

    def take(self, quads: Iterable[pyoxigraph.Quad], *, named: bool = False) -> None:
        """Add what a parser gives. With `named` there may be names of graphs, which are left out.

        Raises SyntaxError as the parser does.
        """
        self._parts += 1
        few = islice(quads, MOST_TRIPLES + 1)
        lines = pyoxigraph.RdfFormat.N_TRIPLES if named else pyoxigraph.RdfFormat.N_QUADS
        text = pyoxigraph.serialize((one.triple for one in few) if named else few, format=lines) or b""
        for line in text.decode().split("\n"):
            if line:
                self._line(self._own(line))

    def done(self, transformer: str) -> Transformed:
        """All of it."""
        return Transformed("\n".join(self._lines), len(self._lines), transformer, tuple(self.notes))

    def _line(self, line: str) -> None:
        if line in self._lines:
            return
        self._size += len(line)
        if len(self._lines) >= MOST_TRIPLES or self._size > MOST_OUTPUT:
            raise TransformError("too-large", f"more than {MOST_TRIPLES} triples or {MOST_OUTPUT} characters")
        self._lines[line] = None

    def _own(self, line: str) -> str:
        """Blank nodes under our names, schema.org in one spelling, literals of bounded length."""
        if "_:" in line:
            line = _BLANK.sub(self._named, line)
        if _SCHEMA in line:
            head, quote, literal = line.partition('"')
            line = head.replace(_SCHEMA, "<http://schema.org/") + quote + literal
        return line if len(line) <= LONGEST_LITERAL else self._shortened(line)

    def _named(self, match: re.Match[str]) -> str:
        label = match[0].strip()
        name = self._blanks.get((self._parts, label))
        if name is None:
            name = self._blanks[self._parts, label] = f"_:b{len(self._blanks)}"
        return match[0].replace(label, name)

    def _shortened(self, line: str) -> str:
        head, quote, literal = line.partition('"')
        if not quote:
            raise TransformError("malformed", "an IRI of absurd length")
        self.notes.append(f"a literal of {len(literal)} characters was cut")
        text = literal[:LONGEST_LITERAL]
        cut = text[: len(text) - (len(text) - len(text.rstrip("\\"))) % 2]
        return f'{head}"{cut}" .'


def iri(url: str) -> str:
    """An absolute IRI as N-Triples spells it; what no IRI may hold is escaped as in URLs."""
    return f"<{safe(url)}>"


def resolved(base: str, reference: str) -> str:
    """A web address found in a document, absolute and safe as an IRI; empty for what is none."""
    try:
        return safe(join(base, reference))
    except BadUrl:
        return ""


def literal(text: str, datatype: str = "") -> str:
    """A plain or typed literal as N-Triples spells it, cut at its longest length."""
    quoted = f'"{escaped(text[:LONGEST_LITERAL])}"'
    return f"{quoted}^^<{datatype}>" if datatype else quoted
