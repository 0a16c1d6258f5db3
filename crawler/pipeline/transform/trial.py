"""One stylesheet on one document for a person who waits: a program of the web server's processes."""

from __future__ import annotations

from typing import Any

from crawler.fetching.walled.programs import OK, failure, read_alone
from crawler.isolation.fork_server import PROGRAMS, Program

TRIAL = "stylesheet"


def run(words: dict[str, Any], descriptors: list[int]) -> None:
    """Write OK and N-Triples: the statements that a stylesheet makes of a document; or the failure.

    The body is the stylesheet, of `words["sheet"]` bytes, and the document behind it.
    """
    # Loaded here: the process that forks this one is to stay small.
    from lxml import etree  # noqa: PLC0415

    from crawler.pipeline.terms import safe  # noqa: PLC0415
    from crawler.pipeline.transform.graph import Graph  # noqa: PLC0415
    from crawler.pipeline.transform.xslt_child import transformed  # noqa: PLC0415
    from crawler.reading.errors import ReadingError  # noqa: PLC0415

    def read(body: bytes) -> bytes:
        graph = Graph(safe(words["url"]))
        sheet, document = body[: words["sheet"]], body[words["sheet"] :]
        try:
            text = transformed(sheet, document, words["html"], graph.url)
            if text.strip():
                graph.read_xml(text, tolerant=True)
        except (etree.LxmlError, ReadingError, SyntaxError, ValueError, RecursionError) as error:
            return failure("malformed", str(error)[:500])
        return OK + graph.done(TRIAL).triples.encode()

    read_alone(descriptors, read)


PROGRAMS[TRIAL] = Program(run)
