"""The RDFa of one page by pyRdfa3, in a process of its own."""

from __future__ import annotations

import io
import socket
from typing import Any

from crawler.isolation.calls import register
from crawler.pipeline.transform.children import LIMITS
from crawler.reading.errors import ReadingError
from crawler.reading.pages.tree import page_tree, text_of


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return the N-Triples of the page in the body."""
    socket.socket = None  # type: ignore[assignment, misc]  # also where the kernel has no wall
    return triples(body, request["url"])


def triples(body: bytes, url: str) -> bytes:
    """Return the page's triples as lines. Raises ReadingError for pages that are too large."""
    import rdflib  # noqa: PLC0415 - slow to load, and only where it runs
    from pyRdfa import pyRdfa  # noqa: PLC0415
    from pyRdfa.options import Options  # noqa: PLC0415

    rdflib.NORMALIZE_LITERALS = False  # literals are as the page spells them
    text = text_of(body, "")
    if page_tree(text) is None:
        raise ReadingError("malformed", "there is no page in it")
    options = Options(embedded_rdf=False, vocab_expansion=False, vocab_cache=False)
    reader = pyRdfa(options=options, base=url, media_type="text/html")
    graph = reader.graph_from_source(io.StringIO(text), rdfOutput=False)
    lines: str = graph.serialize(format="nt")
    return lines.encode()


register("rdfa", run, LIMITS)  # parts of the library are loaded when they are needed
