"""One query on one snapshot, in a process that may be killed: forked by a fork server for this query alone.

The body of a request is JSON {"query", "formats", "rows", "bytes", "default_graphs", "named_graphs"}, the
answer a line of JSON {"type", "cut"} and the result.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

import pyoxigraph

from crawler.isolation import walls
from crawler.isolation.calls import ProgramError, register
from crawler.isolation.limits import ProcessLimits, forbid_new_descriptors
from crawler.text.cells import csv_row, guarded, is_number
from crawler.text.matching import matcher
from crawler.text.search import SearchError, parse_search

_SCHEMA = "http://www.w3.org/2001/XMLSchema#"
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


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return a line of JSON {"type", "cut"} and the result of the query in the body.

    Raises ProgramError for a result that is too large, and whatever a wrong query provokes.
    """
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 2)  # what Oxigraph prints when a query breaks it
    store = pyoxigraph.Store.read_only(request["snapshot"])
    if not walls.standing:
        forbid_new_descriptors()  # the store has its own open by now
    question = json.loads(body)
    header, result = answer(store, question)
    if len(result) > question["bytes"]:
        raise ProgramError("too-large")
    return json.dumps(header).encode() + b"\n" + result


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


register("query", run, ProcessLimits(cpu_seconds=10, memory_bytes=2_000_000_000))
