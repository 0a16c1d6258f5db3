"""JSON-LD: blocks in pages and whole documents. One bad block costs no other; no context is ever fetched."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson
import pyoxigraph

from crawler.pipeline.terms import plain as without_halves
from crawler.pipeline.transform.graph import Graph, resolved
from crawler.pipeline.transform.schemaorg import ADDRESSES, CONTEXT
from crawler.reading.errors import ReadingError

MAX_SIGNS = 2_000_000
DEEPEST = 60
_SCHEMA = re.compile(
    r"(?:https?:)?//(?:www\.)?schema\.org/?(?:docs/jsonldcontext\.jsonld?)?#?", re.IGNORECASE
)
_WRAPPING = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/)?(.*?)(?:-->|//\s*\]\]>|\]\]>)?;?\s*$",
    re.DOTALL,
)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_IDENTIFIERS = {"@id", "id"}
_CONTEXT_BYTES = orjson.dumps(CONTEXT)


class _TooDeep(ValueError):
    """An error for a document nested too deeply."""


def is_jsonld(kind: str) -> bool:
    """Return whether a script of this type holds JSON-LD."""
    return kind.partition(";")[0].strip().lower() == "application/ld+json"


def add(text: str, graph: Graph) -> None:
    """Add a block of JSON-LD. Its errors become notes."""
    try:
        _add(text, graph)
    except (ValueError, SyntaxError, RecursionError) as error:
        graph.notes.append(f"a JSON-LD block was skipped: {str(error)[:200]}")


def document(text: str, graph: Graph) -> None:
    """Add a whole document. Raises ReadingError."""
    try:
        _add(text, graph)
    except _TooDeep as error:
        raise ReadingError("too-deep", str(error)) from error
    except (ValueError, SyntaxError, RecursionError) as error:
        raise ReadingError("malformed", str(error)[:300]) from error


def _add(text: str, graph: Graph) -> None:
    if len(text) > MAX_SIGNS:
        raise ValueError(f"more than {MAX_SIGNS} characters")
    _check_depth(text)
    inner = _WRAPPING.match(text)
    try:
        value = _whole(json.loads(inner[1] if inner else text, strict=False))
    except RecursionError as error:
        raise _TooDeep("nested too deeply") from error
    if not isinstance(value, dict | list):
        raise ValueError("neither an object nor a list")
    left_out: set[str] = set()
    plain = orjson.dumps(_own(value, graph.url, left_out))
    graph.notes += [f"the context {name[:200]} is not fetched" for name in sorted(left_out)]
    graph.read(plain, pyoxigraph.RdfFormat.JSON_LD)


def _whole(value: Any) -> Any:
    """Remove lone surrogates, which JSON may escape and UTF-8 cannot carry."""
    if isinstance(value, str):
        return without_halves(value)
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    if isinstance(value, dict):
        return {without_halves(key): _whole(inner) for key, inner in value.items()}
    return value


def _check_depth(text: str) -> None:
    """Check nesting by counting brackets outside strings, without recursion."""
    depth = 0
    for sign in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text):
        if sign[0] in "[{":
            depth += 1
            if depth > DEEPEST:
                raise _TooDeep(f"nested deeper than {DEEPEST} levels")
        elif sign[0] in "]}":
            depth -= 1


def _own(value: Any, url: str, left_out: set[str]) -> Any:
    """Return the value with our context for schema.org, and with absolute, safe addresses."""
    if isinstance(value, list):
        return [_own(inner, url, left_out) for inner in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if not isinstance(value, dict):
        return value if not isinstance(value, int) or abs(value) < 2**53 else str(value)
    converted = {}
    url = _base(value.get("@context"), url)
    for key, inner in value.items():
        name = key.encode("utf-8", "replace").decode()
        if name == "@context":
            converted[name] = _context(inner, left_out)
        elif name in _IDENTIFIERS and isinstance(inner, str):
            converted[name] = _address(inner, url)
        elif name in ADDRESSES:
            converted[name] = _addresses(inner, url, left_out)
        else:
            converted[name] = _own(inner, url, left_out)
    return converted


def _base(context: Any, url: str) -> str:
    """Return the base of relative addresses under this context; empty where the parser knows it."""
    for part in context if isinstance(context, list) else [context]:
        if isinstance(part, dict) and "@base" in part:
            base = part["@base"]
            url = resolved(url, base.strip()) if isinstance(base, str) else ""
    return url


def _addresses(value: Any, url: str, left_out: set[str]) -> Any:
    if isinstance(value, str):
        return _address(value, url)
    if isinstance(value, list):
        return [_addresses(inner, url, left_out) for inner in value]
    return _own(value, url, left_out)


def _address(text: str, url: str) -> str:
    """Return web addresses in the form of our IRIs, blank nodes and other schemes unchanged."""
    text = text.strip()
    if text.startswith("_:") or (_ABSOLUTE.match(text) and not text[:5].lower().startswith("http")):
        return text
    page, mark, fragment = text.partition("#")
    address = resolved(url, page) if page else url
    return f"{address}{mark}{fragment.replace(' ', '%20')}" if address else text


def _context(value: Any, left_out: set[str]) -> Any:
    if isinstance(value, list):
        return [part for part in (_context(part, left_out) for part in value) if part is not None]
    if isinstance(value, str):
        if _SCHEMA.fullmatch(value.strip()):
            return orjson.Fragment(_CONTEXT_BYTES)
        left_out.add(value)
        return None
    if isinstance(value, dict):
        return {key: part for key, part in value.items() if key != "@import"}
    return None
