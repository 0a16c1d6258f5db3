"""One stylesheet on one document for a person who waits: a program of the web server's processes."""

from __future__ import annotations

from typing import Any

from crawler.fetching.sandboxed.programs import READING
from crawler.isolation.calls import ProgramError, register

TRIAL = "stylesheet"


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return N-Triples: the statements that a stylesheet makes of a document. Raises ProgramError.

    The body is the stylesheet, of `request["sheet"]` bytes, and the document behind it.
    """
    # Loaded here: the process that forks this one is to stay small.
    from lxml import etree  # noqa: PLC0415

    from crawler.pipeline.terms import safe  # noqa: PLC0415
    from crawler.pipeline.transform.graph import Graph  # noqa: PLC0415
    from crawler.pipeline.transform.xslt_child import transformed  # noqa: PLC0415
    from crawler.reading.errors import ReadingError  # noqa: PLC0415

    graph = Graph(safe(request["url"]))
    sheet, document = body[: request["sheet"]], body[request["sheet"] :]
    try:
        text = transformed(sheet, document, request["html"], graph.url)
        if text.strip():
            graph.read_xml(text, tolerant=True)
    except (etree.LxmlError, ReadingError, SyntaxError, ValueError, RecursionError) as error:
        raise ProgramError("malformed", str(error)[:500]) from error
    return graph.done(TRIAL).triples.encode()


register(TRIAL, run, READING)
