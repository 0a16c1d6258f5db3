"""Stylesheets that people gave us, and those that documents name (GRDDL): each in a child with limits.

What goes wrong with one is a note on its document, which keeps the graph that our own stylesheets made.
"""

from __future__ import annotations

from collections.abc import Sequence

from crawler.pipeline.messages import Sheet
from crawler.pipeline.transform.children import run_child
from crawler.pipeline.transform.fitting import fits
from crawler.pipeline.transform.graph import Graph, SourceDocument
from crawler.reading.detect import HTML, XHTML
from crawler.reading.errors import ReadingError


def add_foreign(sheets: Sequence[Sheet], document: SourceDocument, graph: Graph) -> int:
    """Apply the stylesheets that fit the document. Returns their number."""
    fitting = 0
    for sheet in sheets:
        if not fits(sheet.types, sheet.pattern, document) or not _named(sheet.grddl, document):
            continue
        fitting += 1
        try:
            text = _run(sheet, document, graph.url)
            if text.strip():
                graph.read_xml(text, tolerant=True)
        except (ReadingError, SyntaxError, ValueError) as error:
            graph.notes.append(f"the stylesheet {sheet.name} was skipped: {str(error)[:200]}")
    return fitting


def _named(address: str, document: SourceDocument) -> bool:
    """Return whether the document names this stylesheet for GRDDL; True for stylesheets of other uses."""
    return not address or (b"transformation" in document.body and address.encode() in document.body)


def _run(sheet: Sheet, document: SourceDocument, url: str) -> bytes:
    """Run the stylesheet in a child. Returns RDF/XML. Raises ReadingError with the reason."""
    content = sheet.content.encode()
    request = {"html": document.type in {HTML, XHTML}, "url": url, "sheet": len(content)}
    return run_child("xslt", request, content + document.body)
