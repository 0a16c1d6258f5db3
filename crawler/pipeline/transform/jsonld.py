"""JSON-LD: blocks in pages and whole documents. One bad block costs no other; no context is ever fetched.

Oxigraph reads what is written with the context of schema.org, as most pages are; PyLD, slower and complete,
reads the rest in a separate process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
import pyoxigraph

from crawler.pipeline.terms import plain as without_halves
from crawler.pipeline.transform.children import run_child
from crawler.pipeline.transform.contexts import is_schema_org
from crawler.pipeline.transform.graph import Graph, resolved
from crawler.pipeline.transform.schemaorg import ADDRESSES, CONTEXT
from crawler.reading.errors import ReadingError
from crawler.reading.json_ld import MAX_SIGNS, read_json_ld

DEEPEST = 60
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_IDENTIFIERS = {"@id", "id"}
_CONTEXT_BYTES = orjson.dumps(CONTEXT)
_SIMPLE_KEYS = {"@vocab", "@base", "@language"}


class _TooDeep(ValueError):
    """An error for a document nested too deeply."""


def add(text: str, graph: Graph) -> None:
    """Add a block of JSON-LD. Its errors become notes."""
    try:
        _add(text, graph, is_block=True)
    except (ReadingError, ValueError, SyntaxError, RecursionError) as error:
        if isinstance(error, ReadingError) and error.kind == "too-large":
            raise
        graph.notes.append(f"a JSON-LD block was skipped: {str(error)[:200]}")


def document(text: str, graph: Graph) -> None:
    """Add a whole document. Raises ReadingError."""
    try:
        _add(text, graph, is_block=False)
    except _TooDeep as error:
        raise ReadingError("too-deep", str(error)) from error
    except (ValueError, SyntaxError, RecursionError) as error:
        raise ReadingError("malformed", str(error)[:300]) from error


def _add(text: str, graph: Graph, *, is_block: bool) -> None:
    if len(text) > MAX_SIGNS:
        raise ValueError(f"more than {MAX_SIGNS} characters")
    _check_depth(text)
    try:
        value = _whole(read_json_ld(text))
    except RecursionError as error:
        raise _TooDeep("nested too deeply") from error
    if not isinstance(value, dict | list):
        raise ValueError("neither an object nor a list")
    contexts = list(_contexts(value))
    if (contexts or is_block) and all(_is_simple(context) for context in contexts):
        plain = orjson.dumps(_own(value, graph.url))
        parsed = pyoxigraph.parse(
            plain, format=pyoxigraph.RdfFormat.JSON_LD, base_iri=graph.url, lenient=True
        )
        graph.take(parsed)
    else:
        _convert(value, graph)


def _convert(value: Any, graph: Graph) -> None:
    """Convert with PyLD in a process of its own. Raises ReadingError."""
    output = run_child("jsonld", {"url": graph.url}, json.dumps(value).encode())
    notes, _, lines = output.partition(b"\n")
    graph.notes += json.loads(notes)
    graph.take_lines(lines, pyoxigraph.RdfFormat.N_QUADS)


def _contexts(value: Any) -> Iterator[Any]:
    """Yield every context in a document."""
    if isinstance(value, list):
        for inner in value:
            yield from _contexts(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key == "@context":
                yield inner
            else:
                yield from _contexts(inner)


def _is_simple(context: Any) -> bool:
    """Return whether a context is that of schema.org, with a base, a vocabulary or a language at most."""
    if isinstance(context, list):
        return all(_is_simple(part) for part in context)
    if isinstance(context, dict):
        return context.keys() <= _SIMPLE_KEYS
    return isinstance(context, str) and is_schema_org(context)


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
    for sign in re.finditer(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', text, re.DOTALL):
        if sign[0] in "[{":
            depth += 1
            if depth > DEEPEST:
                raise _TooDeep(f"nested deeper than {DEEPEST} levels")
        elif sign[0] in "]}":
            depth -= 1


def _own(value: Any, url: str) -> Any:
    """Return the value with our context for schema.org, and with absolute, safe addresses."""
    if isinstance(value, list):
        return [_own(inner, url) for inner in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if not isinstance(value, dict):
        return value if not isinstance(value, int) or abs(value) < 2**53 else str(value)
    converted = {}
    url = _base(value.get("@context"), url)
    for key, inner in value.items():
        name = key.encode("utf-8", "replace").decode()
        if name == "@context":
            converted[name] = _context(inner)
        elif name in _IDENTIFIERS and isinstance(inner, str):
            converted[name] = _address(inner, url)
        elif name in ADDRESSES:
            converted[name] = _addresses(inner, url)
        else:
            converted[name] = _own(inner, url)
    return converted


def _base(context: Any, url: str) -> str:
    """Return the base of relative addresses under this context; empty if the parser knows it."""
    for part in context if isinstance(context, list) else [context]:
        if isinstance(part, dict) and "@base" in part:
            base = part["@base"]
            url = resolved(url, base.strip()) if isinstance(base, str) else ""
    return url


def _addresses(value: Any, url: str) -> Any:
    if isinstance(value, str):
        return _address(value, url)
    if isinstance(value, list):
        return [_addresses(inner, url) for inner in value]
    return _own(value, url)


def _address(text: str, url: str) -> str:
    """Return web addresses in the form of our IRIs, blank nodes and other schemes unchanged."""
    text = text.strip()
    if text.startswith("_:") or (_ABSOLUTE.match(text) and not text[:5].lower().startswith("http")):
        return text
    page, mark, fragment = text.partition("#")
    address = resolved(url, page) if page else url
    return f"{address}{mark}{fragment.replace(' ', '%20')}" if address else text


def _context(value: Any) -> Any:
    """Return a simple context with that of schema.org in place of its address."""
    if isinstance(value, list):
        return [_context(part) for part in value]
    return orjson.Fragment(_CONTEXT_BYTES) if isinstance(value, str) else value
