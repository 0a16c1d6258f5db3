"""Transformers behind HTTP: what they answer for a document is added to what our own ways made of it.

The call itself is the caller's, so that this stays pure. What goes wrong with one is a note on its document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyoxigraph

from crawler.pipeline.messages import Plugin
from crawler.pipeline.transform import jsonld
from crawler.pipeline.transform.fitting import fits
from crawler.pipeline.transform.graph import ENTITY, Graph, SourceDocument
from crawler.reading.charset import decode
from crawler.reading.errors import ReadingError
from crawler.reading.mime import parse_mime_type

FORMATS = {
    "application/n-triples": pyoxigraph.RdfFormat.N_TRIPLES,
    "text/turtle": pyoxigraph.RdfFormat.TURTLE,
    "application/n-quads": pyoxigraph.RdfFormat.N_QUADS,
}
RDF_XML = "application/rdf+xml"
JSON_LD = "application/ld+json"
ACCEPT = ", ".join([*FORMATS, RDF_XML, JSON_LD])
PATIENCE = 2
"""Failures of one plug-in in a batch after which the rest of the batch goes without it."""


class PluginError(Exception):
    """A plug-in that did not answer as it should, with the reason."""


Call = Callable[[str, SourceDocument], tuple[str, bytes]]
"""Sends a document to an address; the answer's Content-Type and body. Raises PluginError."""


@dataclass(slots=True)
class Plugins:
    """The plug-ins of one batch, how to call them, and how often each has failed."""

    rules: Sequence[Plugin]
    call: Call
    failed: Counter[str] = field(default_factory=Counter)

    def add(self, document: SourceDocument, graph: Graph) -> int:
        """Call the plug-ins that fit the document and add their triples. Returns their number."""
        fitting = 0
        for plugin in self.rules:
            if not fits(plugin.types, plugin.pattern, document):
                continue
            fitting += 1
            if self.failed[plugin.name] >= PATIENCE:
                graph.notes.append(f"the plug-in {plugin.name} was left out: it failed {PATIENCE} times")
                continue
            try:
                content_type, body = self.call(plugin.address, document)
            except PluginError as error:
                self.failed[plugin.name] += 1
                graph.notes.append(f"the plug-in {plugin.name} failed: {str(error)[:200]}")
                continue
            try:
                _take(content_type, body, graph)
            except (ReadingError, SyntaxError, ValueError) as error:
                graph.notes.append(f"the answer of the plug-in {plugin.name} was skipped: {str(error)[:200]}")
        return fitting


def _take(content_type: str, body: bytes, graph: Graph) -> None:
    """Add a plug-in's response. Raises ValueError if its type is no RDF, and the parsers' errors."""
    if not body.strip():
        return
    mime = parse_mime_type(content_type)
    kind = mime.essence if mime else ""
    if kind == JSON_LD:
        jsonld.document(decode(body, content_type), graph)
    elif kind == RDF_XML:
        if ENTITY.search(body):
            raise ValueError("it declares entities")
        graph.read_xml(body, content_type, tolerant=True)
    elif kind in FORMATS:
        graph.read(body, FORMATS[kind], tolerant=True)
    else:
        raise ValueError(f"{content_type[:60]!r} is none of {ACCEPT}")
