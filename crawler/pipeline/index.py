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
from crawler.pipeline.prefixes import PREFIXES
from crawler.pipeline.store import META, Keys, Triple, replace_graphs, replace_subjects
from crawler.pipeline.terms import Kind, Term, iri, node, read_triples, safe
from crawler.pipeline.transform.graph import MAX_OUTPUT
from crawler.reading.inflate import inflated

_PROV, _SCHEMA, _DCT, _OWN = (PREFIXES[name] for name in ("prov", "schema", "dct", "freshet"))
_INTEGER, _STAMP = PREFIXES["xsd"] + "integer", PREFIXES["xsd"] + "dateTime"

Terms = list[tuple[Term, Term, Term]]


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
    graphs: dict[int, Terms] = {}
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


def _put(rows: Sequence[Document], graphs: Mapping[int, Terms]) -> list[PhaseOutcome]:
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
        for row, version in zip(rows, before, strict=True):
            row.version = version
        if len(rows) > 1:
            return [outcome for row in rows for outcome in _put([row], graphs)]
        bury(rows[0], "index", "error", f"{type(error).__name__}: {error}")
        return [PhaseOutcome(rows[0].pk, "error", str(error))]
    return [PhaseOutcome(row.pk) for row in rows]


def _source(row: Document) -> Terms:
    """Return a document's triples, with its key before blank nodes' labels to keep them distinct.

    Invalid lines are left out and noted. Raises ValueError when no line is valid.
    """
    node(context_of(row))  # raises ValueError for an address that cannot name a graph
    text = inflated(bytes(row.triples), 4 * MAX_OUTPUT)
    triples, bad = read_triples(text, f"d{row.key.hex}")
    if bad and not triples:
        raise ValueError("none of its lines is a triple")
    if bad:
        row.notes = [*row.notes, f"{bad} lines were left out: they are no triples"]
    return triples


def _replace(rows: Sequence[Document], graphs: Mapping[int, Terms]) -> None:
    keys = Keys()
    meta: dict[int, Terms] = {}
    for row in rows:
        meta[row.pk] = _provenance(row, len(graphs[row.pk]))
        keys.add(term for triple in graphs[row.pk] for term in triple)
        keys.add(term for triple in meta[row.pk] for term in triple)
    keys.add([META, *map(context_of, rows)])
    keys.save()
    contexts = {row.pk: keys[context_of(row)] for row in rows}
    new = {contexts[row.pk]: _keyed(graphs[row.pk], keys) for row in rows}
    replaced = replace_graphs(new, set(new))
    provenance = {contexts[row.pk]: _keyed(meta[row.pk], keys) for row in rows}
    origins = replace_subjects(keys[META], provenance)
    changes = []
    for row in rows:
        change = replaced[contexts[row.pk]]
        row.version += bool(change.added or change.removed)
        if change.added or change.removed or contexts[row.pk] in origins:
            changes.append(
                GraphChange(
                    context=contexts[row.pk],
                    url=row.url,
                    version=row.version,
                    added=change.added,
                    removed=change.removed,
                )
            )
        row.quads = len(new[contexts[row.pk]])
        row.state, row.triples = State.INDEXED, b""
    GraphChange.objects.bulk_create(changes)


def _keyed(triples: Terms, keys: Keys) -> set[Triple]:
    return {(keys[s], keys[p], keys[o]) for s, p, o in triples}


def _provenance(row: Document, count: int) -> Terms:
    """Return the statements about a graph itself."""
    context = context_of(row)
    statements = [
        (_PROV + "generatedAtTime", Term(Kind.LITERAL, _stamp(row.fetched), datatype=_STAMP)),
        (_SCHEMA + "encodingFormat", Term(Kind.LITERAL, row.content_type)),
        (_OWN + "status", Term(Kind.LITERAL, str(row.status), datatype=_INTEGER)),
        (_DCT + "modified", Term(Kind.LITERAL, row.last_modified)),
        (_OWN + "etag", Term(Kind.LITERAL, row.etag)),
        (_OWN + "sha256", Term(Kind.LITERAL, row.sha256)),
        (_OWN + "type", Term(Kind.LITERAL, row.type)),
        (_OWN + "transformer", Term(Kind.LITERAL, row.transformer)),
        (_OWN + "quads", Term(Kind.LITERAL, str(count), datatype=_INTEGER)),
        *((_OWN + "note", Term(Kind.LITERAL, note)) for note in row.notes),
    ]
    return [(context, iri(name), value) for name, value in statements if value.value]


def _stamp(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
