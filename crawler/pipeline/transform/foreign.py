"""Stylesheets that people gave us, and those that documents name (GRDDL): each in a child with limits.

What goes wrong with one is a note on its document, which keeps the graph that our own stylesheets made.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph
import regex

from crawler.pipeline.detect import HTML, XHTML
from crawler.pipeline.messages import Sheet
from crawler.pipeline.transform.children import run_child
from crawler.pipeline.transform.graph import Document, Graph, TransformError

PATTERN_SECONDS = 0.05


def add_foreign(sheets: Sequence[Sheet], document: Document, graph: Graph) -> None:
    """Add what the stylesheets that fit the document make of it."""
    for sheet in sheets:
        if not fits(sheet, document):
            continue
        try:
            text = _run(sheet, document, graph.url)
            if text.strip():
                parsed = pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.RDF_XML, base_iri=graph.url)
                graph.take(parsed)
        except (TransformError, SyntaxError, ValueError) as error:
            graph.notes.append(f"the stylesheet {sheet.name} was skipped: {str(error)[:200]}")


def fits(sheet: Sheet, document: Document) -> bool:
    """Whether a stylesheet is meant for a document: by type, by address, for GRDDL by its being named."""
    if sheet.types and document.type not in sheet.types:
        return False
    if sheet.grddl and not (b"transformation" in document.body and sheet.grddl.encode() in document.body):
        return False
    try:
        return regex.search(sheet.pattern, document.url, timeout=PATTERN_SECONDS) is not None
    except (regex.error, TimeoutError):
        return False


def _run(sheet: Sheet, document: Document, url: str) -> bytes:
    """RDF/XML. Raises TransformError with the reason."""
    content = sheet.content.encode()
    asked = {"html": document.type in {HTML, XHTML}, "url": url, "sheet": len(content)}
    return run_child("xslt_child", asked, content + document.body)
