"""The RDFa of one page by pyRdfa3, in a process of its own (see children.py).

Reads a line of JSON {"url", ...} and the page; writes N-Triples, or the reason on standard error.
"""

from __future__ import annotations

import io
import json
import socket
import sys

from crawler.pipeline.transform.children import limit
from crawler.reading.errors import ReadingError
from crawler.reading.pages.tree import page_tree, text_of


def main() -> int:
    """Convert the page. Returns 1, with the reason on standard error, where that fails."""
    request = json.loads(sys.stdin.buffer.readline())
    body = sys.stdin.buffer.read()
    limit(request, files=True)  # its parts are loaded when they are needed
    socket.socket = None  # type: ignore[assignment, misc]  # also where the kernel has no wall
    try:
        sys.stdout.buffer.write(triples(body, request["url"]))
    except Exception as error:  # the library has errors of its own, and raises whatever its parts do
        sys.stderr.write(f"{type(error).__name__}: {error}"[:500])
        return 1
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
