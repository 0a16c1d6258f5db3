"""RDFa, where it is asked for: by pyRdfa3 in a child, for pages that a cheap test lets through."""

from __future__ import annotations

import re

import pyoxigraph

from crawler.pipeline.transform.children import run_child
from crawler.pipeline.transform.graph import Graph, SourceDocument
from crawler.reading.detect import HTML, XHTML
from crawler.reading.errors import ReadingError

_TYPED = re.compile(rb"\stypeof\s*=", re.IGNORECASE)
_NAMED = re.compile(rb"\s(?:vocab|prefix|xmlns:\w+)\s*=", re.IGNORECASE)


def has_rdfa(document: SourceDocument) -> bool:
    """Return whether a page may hold RDFa: some type, and a vocabulary or prefix to read it by."""
    if document.type not in {HTML, XHTML}:
        return False
    return bool(_TYPED.search(document.body) and _NAMED.search(document.body))


def add_rdfa(document: SourceDocument, graph: Graph) -> None:
    """Add the page's RDFa; what goes wrong is a note."""
    if not has_rdfa(document):
        return
    try:
        text = run_child("rdfa_child", {"url": graph.url}, document.body)
        graph.read(text, pyoxigraph.RdfFormat.N_TRIPLES)
    except (ReadingError, SyntaxError, ValueError) as error:
        graph.notes.append(f"RDFa was skipped: {str(error)[:200]}")
