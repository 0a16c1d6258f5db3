"""RDFa 1.1 by pyRdfa3 in a child, for pages that a cheap test lets through."""

from __future__ import annotations

import re

import pyoxigraph

from crawler.pipeline.transform.children import run_child
from crawler.pipeline.transform.graph import Graph, SourceDocument
from crawler.reading.detect import HTML, XHTML
from crawler.reading.errors import ReadingError

_SOCIAL = "og|article|fb|twitter|book|profile|music|video|al|product|website|place"
_ATTRIBUTES = re.compile(
    rf"""<[a-z][^<>]*[\s"'](?:
        (?:typeof|about|resource|inlist)\s*=
        | vocab\s*=\s*["']?+(?!https?://(?:ogp\.me|opengraphprotocol\.org)/)
        | property\s*=\s*["']?+\s*(?!(?:{_SOCIAL})\b)[^\s"'<>]*:
        | prefix\s*=\s*["']?+(?!(?:\s*(?:{_SOCIAL}):\s+[^\s"'>]+)+\s*["'>])
    )""".encode(),
    re.IGNORECASE | re.VERBOSE,
)
"""An attribute of RDFa that says more than pages say to social networks, which is read without it."""


def has_rdfa(document: SourceDocument) -> bool:
    """Return whether a page holds RDFa beyond what pages say to social networks in their heads."""
    return document.type in {HTML, XHTML} and _ATTRIBUTES.search(document.body) is not None


def add_rdfa(document: SourceDocument, graph: Graph) -> None:
    """Add the page's RDFa; what goes wrong is a note."""
    if not has_rdfa(document):
        return
    try:
        text = run_child("rdfa", {"url": graph.url}, document.body)
        graph.take_lines(text, pyoxigraph.RdfFormat.N_TRIPLES)
    except (ReadingError, SyntaxError, ValueError) as error:
        graph.notes.append(f"RDFa was skipped: {str(error)[:200]}")
