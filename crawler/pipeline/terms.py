"""Terms of RDF and their 64-bit keys: a hash of what they are, so that no dictionary has to be asked.

Two terms with one key are told apart by a second hash, the `mark`; the later one takes a salted key.
"""

from __future__ import annotations

import hashlib
import re
import struct
from dataclasses import dataclass
from enum import IntEnum

MOST_SALTS = 4
LONGEST_IRI = 4_096

_UNSAFE = re.compile(
    r"[\x00-\x20<>\"{}|\\^`\x7f-\x9f\ud800-\uf8ff\ufdd0-\ufdef\ufff0-\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
    r"|[\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe\U0003ffff]|%(?![0-9A-Fa-f]{2})"
)
_UNSAFE_ASCII = re.compile(r"[\x00-\x20<>\"{}|\\^`\x7f]|%(?![0-9A-Fa-f]{2})")

_UNESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile(r'[\\"\n\r]')


class Kind(IntEnum):
    """What a term is."""

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
        """The signed 64-bit key under which it is stored."""
        return self.keys(salt)[0]

    def keys(self, salt: int = 0) -> tuple[int, int]:
        """Key and mark (signed 32 bits)."""
        text = f"{self.kind}\x00{self.lang}\x00{self.datatype}\x00{self.value}"
        raw = hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), digest_size=12, salt=bytes([salt])
        ).digest()
        key, mark = struct.unpack(">qi", raw)
        return key, mark

    def n3(self) -> str:
        """As N-Triples spells it."""
        if self.kind == Kind.IRI:
            return f"<{self.value}>"
        if self.kind == Kind.BLANK:
            return f"_:{self.value}"
        text = escaped(self.value)
        if self.lang:
            return f'"{text}"@{self.lang}'
        return f'"{text}"^^<{self.datatype}>' if self.datatype else f'"{text}"'


def escaped(text: str) -> str:
    """The text of a literal as N-Triples spells it, without the quotes."""
    return _ESCAPED.sub(lambda sign: _ESCAPES[sign[0]], text)


def iri(value: str) -> Term:
    """The term of an IRI."""
    return Term(Kind.IRI, value)


def parse_term(text: str, scope: str = "") -> Term:
    """A term from N-Triples; labels of blank nodes get `scope` before them. Raises ValueError."""
    if text.startswith("<") and text.endswith(">"):
        return Term(Kind.IRI, _plain(text[1:-1]))
    if text.startswith("_:") and len(text) > 2:
        return Term(Kind.BLANK, scope + text[2:])
    if text.startswith('"'):
        value, quote, tail = text[1:].rpartition('"')
        if quote and not tail:
            return Term(Kind.LITERAL, _plain(value))
        if quote and tail.startswith("@"):
            return Term(Kind.LITERAL, _plain(value), lang=tail[1:])
        if quote and tail.startswith("^^<") and tail.endswith(">"):
            return Term(Kind.LITERAL, _plain(value), datatype=_plain(tail[3:-1]))
    raise ValueError(f"no term of N-Triples: {text[:100]!r}")


def split_line(line: str) -> tuple[str, str, str]:
    """Subject, predicate and object of a line as this project writes them: single blanks between."""
    subject, predicate, rest = line.split(" ", 2)
    return subject, predicate, rest[:-2]


def _plain(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else _UNESCAPED.get(match[3], match[3])


def safe(url: str) -> str:
    """An absolute URL as an IRI: what no IRI may hold is escaped as in URLs."""
    if "[" in url or "]" in url:  # an IRI has them around the number of a host only
        head, slashes, rest = url.partition("//")
        host, slash, path = rest.partition("/")
        url = f"{head}{slashes}{host}{slash}{path.replace('[', '%5B').replace(']', '%5D')}"
    if url.isascii() and not _UNSAFE_ASCII.search(url):
        return url[:LONGEST_IRI]
    return _UNSAFE.sub(
        lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode("utf-8", "replace")), url
    )[:LONGEST_IRI]
