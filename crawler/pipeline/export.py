"""Graphs as files: N-Quads, TriG or JSON-LD of a document, a site, a feed or a day."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import pyoxigraph
from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from crawler.pipeline.documents import key_of
from crawler.pipeline.index import context_of
from crawler.pipeline.models import Document
from crawler.pipeline.oxigraph import valid
from crawler.pipeline.store import Quad, parts_of, quads, read_terms
from crawler.pipeline.terms import Term

MAX_OF_GRAPH = 1_000_000


class ExportError(ValueError):
    """An error about an invalid selection, with the reason."""


@dataclass(frozen=True, slots=True)
class Form:
    """A file format of exports."""

    media_type: str
    format: pyoxigraph.RdfFormat


FORMS = {
    "nq": Form("application/n-quads", pyoxigraph.RdfFormat.N_QUADS),
    "trig": Form("application/trig", pyoxigraph.RdfFormat.TRIG),
    "jsonld": Form("application/ld+json", pyoxigraph.RdfFormat.JSON_LD),
}


SELECTIONS: dict[str, Callable[[str], list[uuid.UUID]]] = {}
"""Ways to choose documents that apps bring, by the name of their parameter; each raises ExportError."""


def chosen(parameters: Mapping[str, str]) -> QuerySet[Document]:
    """Select documents by one of `url`, `host`, `feed` (its number), `day` (ISO). Raises ExportError."""
    documents = Document.objects.filter(quads__gt=0).order_by("id")
    if parameters.get("url"):
        return documents.filter(key=key_of(parameters["url"]))
    if parameters.get("host"):
        return documents.filter(host__name=parameters["host"])
    for name, keys in SELECTIONS.items():
        if parameters.get(name):
            return documents.filter(key__in=keys(parameters[name]))
    if parameters.get("day"):
        try:
            return documents.filter(fetched__date=date.fromisoformat(parameters["day"]))
        except ValueError as error:
            raise ExportError(f"day: {error}") from error
    raise ExportError("name a url, a host, a feed or a day")


def chunks(documents: QuerySet[Document], form: Form) -> Iterator[bytes]:
    """Yield the file's bytes, one graph at a time."""
    is_json_ld = form.format == pyoxigraph.RdfFormat.JSON_LD
    first = True
    if is_json_ld:
        yield b"["
    for row in documents.only("url").iterator(chunk_size=500):
        graph = _all_quads(context_of(row))
        text = pyoxigraph.serialize(valid(graph), format=form.format) or b""
        if is_json_ld:
            inner = text.strip().removeprefix(b"[").removesuffix(b"]").strip()
            if inner:
                yield inner if first else b",\n" + inner
                first = False
        else:
            yield text
    if is_json_ld:
        yield b"]\n"


def _all_quads(context: Term) -> list[Quad]:
    """Return the quads of a document and of the named graphs within it."""
    parts = read_terms(set(parts_of([context.key()]).get(context.key(), [])))
    return [quad for name in (context, *parts.values()) for quad in quads(context=name, limit=MAX_OF_GRAPH)]


def export_response(parameters: Mapping[str, str], form: str) -> StreamingHttpResponse:
    """Return the requested file. Raises ExportError."""
    if form not in FORMS:
        raise ExportError(f"the formats are {', '.join(FORMS)}")
    headers = {"Content-Disposition": f'attachment; filename="graph.{form}"'}
    content = chunks(chosen(parameters), FORMS[form])
    return StreamingHttpResponse(content, content_type=FORMS[form].media_type, headers=headers)
