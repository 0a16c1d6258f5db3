"""The index phase: stores the graphs of a batch of documents with their provenance."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from django.db import DatabaseError, OperationalError, transaction

from crawler.database.bulk import update_rows
from crawler.pipeline.documents import RESULTS, State, bury, note
from crawler.pipeline.messages import PhaseOutcome
from crawler.pipeline.models import Document, GraphChange
from crawler.pipeline.prefixes import PREFIXES, moment, number
from crawler.pipeline.store import (
    IS_PART_OF,
    META,
    Keys,
    Triple,
    parts_of,
    read_terms,
    replace_graphs,
    replace_subjects,
)
from crawler.pipeline.terms import Kind, Term, iri, node, read_graphs, safe
from crawler.pipeline.transform.graph import MAX_OUTPUT, part_prefix
from crawler.reading.inflate import inflated

_PROV, _SCHEMA, _DCT, _OWN = (PREFIXES[name] for name in ("prov", "schema", "dct", "freshet"))

Terms = list[tuple[Term, Term, Term]]
Graphs = dict[str, Terms]
"""A document's triples, under an empty name, and those of its named graphs by their addresses."""


def context_of(document: Document) -> Term:
    """Return the name of a document's graph: its URL as an IRI."""
    return iri(safe(document.url))


@transaction.atomic
def index(lease: uuid.UUID, worker: str) -> int:
    """Replace the graphs of the documents under this lease. Idempotent. Returns their number."""
    began = time.perf_counter()
    rows = list(
        Document.objects.select_for_update().filter(lease=lease, state=State.TRANSFORMED).order_by("id")
    )
    graphs: dict[int, Graphs] = {}
    outcomes = []
    for row in rows:
        try:
            graphs[row.pk] = _source(row)
        except ValueError as error:
            bury(row, "index", "malformed", str(error))
            outcomes.append(PhaseOutcome(row.pk, "malformed", str(error)))
    live = [row for row in rows if row.pk in graphs]
    outcomes += _put(live, graphs)
    for row in rows:
        row.lease = row.leased_until = None
        row.losses = 0
        row.changed = datetime.now(UTC)
    update_rows(Document, rows, RESULTS)
    each = (time.perf_counter() - began) / max(len(rows), 1)
    note("index", worker, [PhaseOutcome(outcome.id, outcome.failure, seconds=each) for outcome in outcomes])
    return len(rows)


def _put(rows: Sequence[Document], graphs: Mapping[int, Graphs]) -> list[PhaseOutcome]:
    """Replace the graphs of these documents, one by one where that fails, to isolate a bad one."""
    if not rows:
        return []
    before = [row.version for row in rows]
    try:
        with transaction.atomic():
            _replace(rows, graphs)
    except OperationalError:
        raise  # the database is away or wants all of it once more: that is nobody's fault here
    except (DatabaseError, ValueError, RuntimeError) as error:
        # The rolled-back attempt has counted versions on the objects.
        for row, version in zip(rows, before, strict=True):
            row.version = version
        if len(rows) > 1:
            return [outcome for row in rows for outcome in _put([row], graphs)]
        bury(rows[0], "index", "error", f"{type(error).__name__}: {error}")
        return [PhaseOutcome(rows[0].pk, "error", str(error))]
    return [PhaseOutcome(row.pk) for row in rows]


def _source(row: Document) -> Graphs:
    """Return a document's graphs, with its key before blank nodes' labels to keep them distinct.

    Invalid lines are left out and noted. Raises ValueError when no line is valid.
    """
    context = context_of(row)
    node(context)  # raises ValueError for an address that cannot name a graph
    text = inflated(bytes(row.triples), 4 * MAX_OUTPUT)
    graphs, bad = read_graphs(text, f"d{row.key.hex}")
    if bad and not any(graphs.values()):
        raise ValueError("none of its lines is a triple")
    if bad:
        row.notes = [*row.notes, f"{bad} lines were left out: they are no triples"]
    # A document must not write into the graph of another one.
    within = part_prefix(context.value)
    return {name: triples for name, triples in graphs.items() if not name or name.startswith(within)}


def _replace(rows: Sequence[Document], graphs: Mapping[int, Graphs]) -> None:
    keys = Keys()
    meta: dict[Term, Terms] = {}
    for row in rows:
        context = context_of(row)
        for name, triples in graphs[row.pk].items():
            graph = iri(name) if name else context
            meta[graph] = _part(context, graph, len(triples)) if name else _provenance(row, len(triples))
            keys.add(term for triple in triples for term in triple)
            keys.add(term for triple in meta[graph] for term in triple)
    keys.add([META, IS_PART_OF, *meta])
    keys.save()
    contexts = {row.pk: keys[context_of(row)] for row in rows}
    parts = parts_of(contexts.values())
    new: dict[int, set[Triple]] = {part: set() for old_parts in parts.values() for part in old_parts}
    for row in rows:
        for name, triples in graphs[row.pk].items():
            new[keys[iri(name)] if name else contexts[row.pk]] = _keyed(triples, keys)
    replaced = replace_graphs(new, set(new))
    provenance: dict[int, set[Triple]] = {context: set() for context in new}
    provenance |= {keys[graph]: _keyed(statements, keys) for graph, statements in meta.items()}
    origins = replace_subjects(keys[META], provenance)
    names = {keys[graph]: graph.value for graph in meta}
    names |= {key: term.value for key, term in read_terms(new.keys() - names.keys()).items()}
    changes = []
    for row in rows:
        own_contexts = [contexts[row.pk], *(keys[iri(name)] for name in graphs[row.pk] if name)]
        own_contexts += [part for part in parts.get(contexts[row.pk], []) if part not in own_contexts]
        # Only what changed counts as a new version: replicas and mirrors go by it.
        row.version += any(replaced[context].added or replaced[context].removed for context in own_contexts)
        changes += [
            GraphChange(
                context=context,
                url=names[context] if context != contexts[row.pk] else row.url,
                version=row.version,
                added=replaced[context].added,
                removed=replaced[context].removed,
            )
            for context in own_contexts
            if replaced[context].added or replaced[context].removed or context in origins
        ]
        row.quads = len(new[contexts[row.pk]])
        row.state, row.triples = State.INDEXED, b""
    GraphChange.objects.bulk_create(changes)


def _keyed(triples: Terms, keys: Keys) -> set[Triple]:
    return {(keys[s], keys[p], keys[o]) for s, p, o in triples}


def _provenance(row: Document, count: int) -> Terms:
    """Return the statements about a graph itself."""
    context = context_of(row)
    statements = [
        (_PROV + "generatedAtTime", moment(row.fetched)),
        (_SCHEMA + "encodingFormat", Term(Kind.LITERAL, row.content_type)),
        (_OWN + "status", number(row.status)),
        (_DCT + "modified", Term(Kind.LITERAL, row.last_modified)),
        (_OWN + "etag", Term(Kind.LITERAL, row.etag)),
        (_OWN + "sha256", Term(Kind.LITERAL, row.sha256)),
        (_OWN + "type", Term(Kind.LITERAL, row.type)),
        (_OWN + "transformer", Term(Kind.LITERAL, row.transformer)),
        (_OWN + "quads", number(count)),
        *((_OWN + "note", Term(Kind.LITERAL, note)) for note in row.notes),
    ]
    return [(context, iri(name), value) for name, value in statements if value.value]


def _part(whole: Term, graph: Term, count: int) -> Terms:
    """Return the statements about a named graph within a document."""
    return [
        (graph, IS_PART_OF, whole),
        (graph, iri(_OWN + "quads"), number(count)),
    ]
