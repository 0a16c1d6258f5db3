"""One query on one snapshot, in a process that may be killed: forked by a fork server for this query alone.

Reads JSON {"query", "formats", "rows", "bytes", "default_graphs", "named_graphs"} and writes a line of
JSON {"type", "cut"} or {"error"}, then the result (`sealed`). It knows no Django and closes the network to
itself.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

import pyoxigraph

from crawler.isolation.fork_server import PROGRAMS, Program
from crawler.isolation.walls import no_more_files, shut
from crawler.text.cells import csv_row, guarded, is_number
from crawler.text.matching import matcher
from crawler.text.search import SearchError, parse_search

_SCHEMA = "http://www.w3.org/2001/XMLSchema#"
MEMORY = 2_000_000_000
LENGTH = 8
MATCHES = "urn:freshet:matches"
"""A function of queries: full-text search in a text."""
RESULTS = {
    "application/sparql-results+json": pyoxigraph.QueryResultsFormat.JSON,
    "application/sparql-results+xml": pyoxigraph.QueryResultsFormat.XML,
    "text/csv": pyoxigraph.QueryResultsFormat.CSV,
    "text/tab-separated-values": pyoxigraph.QueryResultsFormat.TSV,
}
GRAPHS = {
    "application/n-triples": pyoxigraph.RdfFormat.N_TRIPLES,
    "application/ld+json": pyoxigraph.RdfFormat.JSON_LD,
    "text/turtle": pyoxigraph.RdfFormat.TURTLE,
    "application/rdf+xml": pyoxigraph.RdfFormat.RDF_XML,
}


def serve(words: dict[str, Any], descriptors: list[int]) -> None:
    """Answer the query or write its error, within a limit of processor time.

    The walls stand before the query is read.
    """
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 2)  # what Oxigraph prints when a query breaks it
    seconds = words["seconds"]
    wall = shut()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    with os.fdopen(descriptors[0], "rb") as requests, os.fdopen(descriptors[1], "wb") as answers:
        try:
            store = pyoxigraph.Store.read_only(words["snapshot"])
            if not wall:
                no_more_files()  # the store has its own open by now
            question = json.load(requests)
            header, body = answer(store, question)
            if len(body) > question["bytes"]:
                header, body = {"error": f"a result of more than {question['bytes']} bytes"}, b""
        except (SyntaxError, ValueError, OSError, RuntimeError, MemoryError) as error:
            header, body = {"error": f"{type(error).__name__}: {error}"[:2000]}, b""
        answers.write(sealed(header, body))


def sealed(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Prefix the result with its length (8 bytes), so that a truncated one is recognised."""
    whole = json.dumps(header).encode() + b"\n" + body
    return len(whole).to_bytes(LENGTH, "little") + whole


def answer(store: pyoxigraph.Store, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return the media type and the result. A result of too many rows is cut, as the header then says."""
    defaults: list[Any] = [pyoxigraph.NamedNode(name) for name in request["default_graphs"]]
    named_graphs: list[Any] = [pyoxigraph.NamedNode(name) for name in request["named_graphs"]]
    results = store.query(
        request["query"],
        use_default_graph_as_union=not defaults,
        default_graph=defaults or None,
        named_graphs=named_graphs or None,
        custom_functions={pyoxigraph.NamedNode(MATCHES): _matches},
    )
    formats, rows = request["formats"], request["rows"]
    if isinstance(results, pyoxigraph.QueryTriples):
        media = next((name for name in formats if name in GRAPHS), "application/n-triples")
        triples = list(islice(results, rows + 1))
        body = pyoxigraph.serialize(triples[:rows], format=GRAPHS[media])
        return {"type": media, "cut": len(triples) > rows}, body or b""
    media = next((name for name in formats if name in RESULTS), "application/sparql-results+json")
    if isinstance(results, pyoxigraph.QueryBoolean):
        return {"type": media, "cut": False}, results.serialize(format=RESULTS[media]) or b""
    names = [variable.value for variable in results.variables]
    bindings = []
    for solution in islice(results, rows + 1):
        bound = ((name, solution[name]) for name in names)
        bindings.append({name: _term(value) for name, value in bound if value is not None})
    if media == "text/csv":
        return {"type": media, "cut": len(bindings) > rows}, _csv(names, bindings[:rows])
    plain = {"head": {"vars": names}, "results": {"bindings": bindings[:rows]}}
    body = json.dumps(plain).encode()
    if media != "application/sparql-results+json":
        again = pyoxigraph.parse_query_results(body, format=pyoxigraph.QueryResultsFormat.JSON)
        body = again.serialize(format=RESULTS[media]) or b""
    return {"type": media, "cut": len(bindings) > rows}, body


def _matches(*terms: Any) -> pyoxigraph.Literal | None:
    """Say whether a text has the words of a search: `freshet:matches(?text, "words")`; else an error."""
    if len(terms) != 2 or not all(isinstance(term, pyoxigraph.Literal) for term in terms):
        return None
    text, words = terms
    match = _matcher(words.value)
    return pyoxigraph.Literal(match(text.value)) if match else None


@cache
def _matcher(words: str) -> Callable[[str], bool] | None:
    """Return the function that matches a search, None for one too long."""
    try:
        return matcher(parse_search(words))
    except SearchError:
        return None


def _csv(names: list[str], bindings: list[dict[str, dict[str, str]]]) -> bytes:
    """Write rows as SPARQL's CSV, guarding cells that a spreadsheet would take for a formula."""
    lines = [csv_row(names)]
    lines += [csv_row(_cell(row[name]) if name in row else "" for name in names) for row in bindings]
    return "".join(lines).encode()


def _cell(term: dict[str, str]) -> str:
    value = term["value"]
    if term["type"] == "bnode":
        return f"_:{value}"
    number = term.get("datatype", "").startswith(_SCHEMA) and is_number(value)
    return value if number else guarded(value)


def _term(value: Any) -> dict[str, str]:
    """Convert a term to the form of SPARQL's JSON."""
    if isinstance(value, pyoxigraph.NamedNode):
        return {"type": "uri", "value": value.value}
    if isinstance(value, pyoxigraph.BlankNode):
        return {"type": "bnode", "value": value.value}
    term = {"type": "literal", "value": value.value}
    if value.language:
        return term | {"xml:lang": value.language}
    plain = value.datatype.value == f"{_SCHEMA}string"
    return term if plain else term | {"datatype": value.datatype.value}


PROGRAMS["query"] = Program(serve)
