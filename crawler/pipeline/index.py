"""The index phase: graphs of a batch of documents into the store, with where they came from."""

from __future__ import annotations

import time
import uuid
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from django.db import transaction

from crawler.pipeline.documents import State, bury, note
from crawler.pipeline.messages import Outcome
from crawler.pipeline.models import Document, GraphChange
from crawler.pipeline.prefixes import PREFIXES
from crawler.pipeline.store import META, Keys, Source, read_source, replace_graphs, replace_subjects
from crawler.pipeline.terms import Kind, Term, iri, safe
from crawler.rows import update_rows

_PROV, _SCHEMA, _DCT, _OWN = (PREFIXES[name] for name in ("prov", "schema", "dct", "freshet"))
_INTEGER, _STAMP = PREFIXES["xsd"] + "integer", PREFIXES["xsd"] + "dateTime"

Terms = list[tuple[Term, Term, Term]]


def context_of(document: Document) -> Term:
    """The name of a document's graph: its URL as an IRI."""
    return iri(safe(document.url))


@transaction.atomic
def index(lease: uuid.UUID, worker: str) -> int:
    """Replace the graphs of the documents under this lease. How many; run twice it changes nothing."""
    began = time.perf_counter()
    rows = list(
        Document.objects.select_for_update().filter(lease=lease, state=State.TRANSFORMED).order_by("id")
    )
    graphs: dict[int, Source] = {}
    outcomes = []
    for row in rows:
        try:
            graphs[row.pk] = _source(row)
            outcomes.append(Outcome(row.pk))
        except (ValueError, zlib.error) as error:
            bury(row, "index", "malformed", str(error))
            outcomes.append(Outcome(row.pk, "malformed", str(error)))
    live = [row for row in rows if row.pk in graphs]
    if live:
        _replace(live, graphs)
    for row in rows:
        row.lease = row.leased_until = None
        row.attempts = 0
        row.changed = datetime.now(UTC)
    update_rows(Document, rows, _CHANGED)
    each = (time.perf_counter() - began) / max(len(rows), 1)
    note("index", worker, [Outcome(one.id, one.failure, seconds=each) for one in outcomes])
    return len(rows)


_CHANGED = [
    "state", "triples", "quads", "version", "failed_phase", "failure", "detail", "lease", "leased_until",
    "attempts", "changed",
]  # fmt: skip


def _source(row: Document) -> Source:
    """Its triples; the document's key goes before blank nodes' labels, so that no two graphs share one."""
    text = zlib.decompress(bytes(row.triples)).decode()
    return read_source(text.split("\n") if text else [], f"d{row.key.hex}")


def _replace(rows: Sequence[Document], graphs: Mapping[int, Source]) -> None:
    keys = Keys()
    meta: dict[int, Terms] = {}
    for row in rows:
        meta[row.pk] = _provenance(row, len(set(graphs[row.pk].triples)))
        keys.add(graphs[row.pk].terms.values())
        keys.add(term for triple in meta[row.pk] for term in triple)
    keys.add([META, *map(context_of, rows)])
    keys.save()
    contexts = {row.pk: keys[context_of(row)] for row in rows}
    new = {contexts[row.pk]: graphs[row.pk].keyed(keys) for row in rows}
    replaced = replace_graphs(new, set(new))
    told = {contexts[row.pk]: {(keys[s], keys[p], keys[o]) for s, p, o in meta[row.pk]} for row in rows}
    origins = replace_subjects(keys[META], told)
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


def _provenance(row: Document, count: int) -> Terms:
    """What is known of a graph itself."""
    own = context_of(row)
    said = [
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
    return [(own, iri(name), value) for name, value in said if value.value]


def _stamp(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
