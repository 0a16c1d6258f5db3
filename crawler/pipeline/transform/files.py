"""Pictures and PDF files: what EXIF and PDF say of them, read by a child.

The paper leaves such metadata to services that are "easily plugged in"; this one comes along. EXIF is written
in the terms of the W3C (http://www.w3.org/2003/12/exif/ns#) and of Dublin Core.
"""

from __future__ import annotations

import json
from typing import Any

from crawler.pipeline.prefixes import expanded, number
from crawler.pipeline.transform.children import run_child
from crawler.pipeline.transform.graph import Graph, SourceDocument, iri, literal
from crawler.reading.errors import ReadingError

PDF = b"%PDF-"
PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"RIFF", b"II*\0", b"MM\0*")
_WORDS = {
    "title": "dct:title", "creator": "dct:creator", "subject": "dct:subject",
    "description": "dct:description", "rights": "dct:rights", "language": "dct:language",
    "make": "exif:make", "model": "exif:model",
}  # fmt: skip
_TIMES = {"created": "dct:created", "modified": "dct:modified"}
_NUMBERS = {"width": "exif:width", "height": "exif:height", "pages": "schema:numberOfPages"}
_DECIMALS = {"latitude": "geo:lat", "longitude": "geo:long"}
_DATE_TIME = "http://www.w3.org/2001/XMLSchema#dateTime"
_DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"


def file_graph(document: SourceDocument, graph: Graph) -> str:
    """Add what a picture or a PDF file says of itself. Returns the way's name, "" for any other file.

    A damaged one is a note: a service may know more of it.
    """
    is_pdf = PDF in document.body[:1024]
    if not is_pdf and not document.body.startswith(PICTURES):
        return ""
    try:
        facts = json.loads(run_child("files", {"kind": "pdf" if is_pdf else "picture"}, document.body))
    except ReadingError as error:
        graph.notes.append(f"what it says of itself was skipped: {str(error)[:200]}")
        return ""
    subject = iri(graph.url)
    graph.add(subject, expanded("rdf:type"), expanded("foaf:Document" if is_pdf else "foaf:Image"))
    graph.add(subject, expanded("dct:format"), literal(str(facts.pop("format"))))
    for name, value in facts.items():
        _add(graph, name, value)
    return "files"


def _add(graph: Graph, name: str, value: Any) -> None:
    """Add one fact."""
    subject = iri(graph.url)
    if name in _NUMBERS:
        graph.add(subject, expanded(_NUMBERS[name]), number(int(value)))
    elif name in _DECIMALS:
        graph.add(subject, expanded(_DECIMALS[name]), literal(f"{float(value):.6f}", _DECIMAL))
    elif name in _TIMES:
        graph.add(subject, expanded(_TIMES[name]), literal(str(value), _DATE_TIME))
    elif name in _WORDS:
        graph.add(subject, expanded(_WORDS[name]), literal(str(value)))
