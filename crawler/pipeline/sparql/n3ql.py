"""Translation of N3QL, the paper's query language, to SPARQL.

A query is a statement of N3: `[] ql:select (?a ?b); ql:where { ?a foaf:knows ?b }.` with `ql:` for
http://www.w3.org/2004/ql#. A list of variables selects rows, a formula in braces builds a graph. Source:
http://www.w3.org/DesignIssues/N3QL.html; the pattern itself is N3, of which SPARQL has the conjunctive part.
"""

from __future__ import annotations

import re

NAMESPACE = "http://www.w3.org/2004/ql#"
_TOKEN = re.compile(
    r'\s*("""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|<[^<>\s]*>|#[^\n]*|[{}();,]|[^\s"<#{}();,]+)',
    re.DOTALL,
)
_PREFIX = re.compile(r"@?\bprefix\s+([\w.-]*):\s*(<[^<>\s]*>)\s*\.?", re.IGNORECASE)
_CLOSING = {"{": "}", "(": ")"}


class N3qlError(ValueError):
    """An error raised for text that is no N3QL query, with the reason."""


def is_n3ql(query: str) -> bool:
    """Return whether a query names the vocabulary of N3QL in a prefix."""
    return any(space == f"<{NAMESPACE}>" for _, space in _PREFIX.findall(query))


def as_sparql(query: str) -> str:
    """Return the query in SPARQL. Raises N3qlError."""
    prefixes = dict(_PREFIX.findall(query))
    short = next((name for name, space in prefixes.items() if space == f"<{NAMESPACE}>"), None)
    if short is None:
        raise N3qlError(f"no prefix names {NAMESPACE}")
    tokens = _tokens(_PREFIX.sub(" ", query))
    selected, pattern = _clause(tokens, f"{short}:select"), _clause(tokens, f"{short}:where")
    if pattern[0] != "{":
        raise N3qlError("where takes a pattern in braces")
    lines = [f"PREFIX {name}: {space}" for name, space in prefixes.items() if name != short]
    if selected[0] == "(":
        names = selected[1:-1]
        if not names or not all(re.fullmatch(r"\?\w+", name) for name in names):
            raise N3qlError("select takes variables, such as (?a ?b)")
        lines.append(f"SELECT {' '.join(names)} WHERE {' '.join(pattern)}")
    else:
        lines.append(f"CONSTRUCT {' '.join(selected)} WHERE {' '.join(pattern)}")
    return "\n".join(lines)


def _tokens(text: str) -> list[str]:
    """Return the tokens of a query without its comments. Raises N3qlError if a text never ends."""
    tokens, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise N3qlError(f"what begins with {text[at : at + 20].strip()!r} never ends")
        if not match[1].startswith("#"):
            tokens.append(match[1])
        at = match.end()
    return tokens


def _clause(tokens: list[str], name: str) -> list[str]:
    """Return the tokens in brackets behind a property, the brackets included. Raises N3qlError."""
    if name not in tokens:
        raise N3qlError(f"there is no {name}")
    start = tokens.index(name) + 1
    if start >= len(tokens) or tokens[start] not in _CLOSING:
        raise N3qlError(f"{name} takes a list or a formula")
    depth = 0
    for end in range(start, len(tokens)):
        depth += (tokens[end] in _CLOSING) - (tokens[end] in {"}", ")"})
        if not depth:
            return tokens[start : end + 1]
    raise N3qlError(f"the {tokens[start]} behind {name} is never closed")
