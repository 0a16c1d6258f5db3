"""Detection of SERVICE in queries, by the terminals of SPARQL 1.1 (section 19.8), in every reading.

Oxigraph's parser has no tokenizer. It splits `true.SERVICE` and `SERVICE:name{` if that makes the query
valid, reads `<` as "less than" where no IRI can stand, and reads a malformed long string as an empty one. So
the functions here follow each of these readings, and refuse a query if any of them may have the word. This is
the first wall; the second is the process of the query, which can open no socket (crawler/isolation/walls.py).
"""

from __future__ import annotations

import re

FORBIDDEN = re.compile("service|load", re.IGNORECASE)
"""SERVICE asks another server, LOAD (of updates, which nothing here takes) fetches a document."""

OTHER_SERVERS = "SERVICE would ask other servers: that is not allowed here"
BROKEN = "a string without end, or a backslash that begins no escape of SPARQL"

_LETTER = r"A-Za-z_\u0080-\U0010ffff"
_NAME = rf"{_LETTER}0-9\-"
_LOCAL = rf"(?:[{_NAME}:]|%[0-9A-Fa-f]{{2}}|\\[_~.\-!$&'()*+,;=/?#@%])"
_TOKEN = re.compile(
    rf"""
      (?P<blank>[ \t\r\n]+|\#[^\r\n]*)
    | (?P<string>"{{3}}(?:[^"\\]|\\.|"(?!""))*+"{{3}} | '{{3}}(?:[^'\\]|\\.|'(?!''))*+'{{3}})
    | (?P<open>"{{3}}|'{{3}})
    | (?P<short>"(?:[^"\\\r\n]|\\.)*+" | '(?:[^'\\\r\n]|\\.)*+')
    | (?P<inert>[?$][{_LETTER}0-9]+ | @[A-Za-z]+(?:-+[A-Za-z0-9]+)* | _:[{_LETTER}0-9](?:\.*[{_NAME}])*)
    | (?P<name>[{_LETTER}](?:\.*[{_NAME}])*+)?+(?P<local>:(?:{_LOCAL}(?:\.*{_LOCAL})*+)?)
    | (?P<word>[{_LETTER}](?:\.*[{_NAME}])*+)
    """,
    re.VERBOSE | re.DOTALL,
)
_IRI = re.compile(r"<(?:[^<>\"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*+>")
_GROUP = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*+\{")
_POINT = r"u(?![dD][89A-Fa-f])[0-9A-Fa-f]{4}|U000(?!0[dD][89A-Fa-f])[0-9A-Fa-f]{5}|U0010[0-9A-Fa-f]{4}"
_ESCAPE = re.compile(rf"\\(?:[tbnrf\"'\\]|{_POINT})")
_POINTS = re.compile(rf"\\({_POINT})")


class _Refused(Exception):
    """An error for a refused reading of the query, with the reason."""


def refusal(query: str) -> str:
    """Explain why a query is refused. Returns an empty text for a query that contacts no other service."""
    # The standard wants escapes of code points replaced before anything is read, Oxigraph does so in strings.
    plain = _POINTS.sub(lambda point: chr(int(point[1][1:], 16)), query)
    try:
        _scan(query)
        if plain != query:
            _scan(plain)
    except _Refused as error:
        return str(error)
    return ""


def _scan(query: str) -> None:
    """Follow every reading from the beginning; they meet again, so that this is linear. Raises _Refused.

    A reading is a position and a flag for "after a less-than". Operators stand only in brackets, so no
    pattern begins there before the next `)` or `{`. A malformed token ends a flagged reading, and a forbidden
    word does not refuse it; either one refuses any other reading.
    """
    visited: set[tuple[int, bool]] = set()
    readings = [(0, False)]
    while readings:
        at, behind = readings.pop()
        while 0 <= at < len(query) and (at, behind) not in visited:
            visited.add((at, behind))
            if query[at] == "<":
                if iri := _IRI.match(query, at):
                    readings.append((iri.end(), behind))
                at, behind = (-1 if query.startswith("/", at + 1) else at + 1), True
            else:
                sign = query[at]
                at = _behind(query, at, behind)
                behind = behind and sign not in "){"


def _behind(query: str, at: int, behind: bool) -> int:
    """Return the position behind a token or sign except `<`, -1 where the reading ends. Raises _Refused."""
    token = _TOKEN.match(query, at)
    why = _wrong(token, query) if token else BROKEN if query[at] == "\\" else ""
    if why and not behind:
        raise _Refused(why)
    if why == BROKEN or (behind and query.startswith("//", at)):
        return -1
    return token.end() if token else at + 1


def _wrong(token: re.Match[str], query: str) -> str:
    """Explain why this token is refused. Returns an empty text for other tokens."""
    kind = token.lastgroup
    if kind == "open" or (kind in {"string", "short"} and "\\" in _ESCAPE.sub("", token[0])):
        return BROKEN
    if kind == "word" and FORBIDDEN.search(token["word"]):
        return OTHER_SERVERS
    # A prefix such as `service:` is harmless, but for `SERVICE:name {`, which is also SERVICE with `:name`.
    if kind == "local" and FORBIDDEN.search(token["name"] or "") and _GROUP.match(query, token.end()):
        return OTHER_SERVERS
    return ""
