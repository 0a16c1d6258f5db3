"""Shares of documents whose type is detected, with right, missing, generic and wrong headers."""

from __future__ import annotations

import pytest

from crawler.reading import detect as types
from crawler.reading.detect import detect
from tests.crawler.pipeline.corpus import DOCUMENTS

HEADERS = {
    types.HTML: "text/html", types.XHTML: "application/xhtml+xml", types.XML: "application/xml",
    types.RSS_0: "application/rss+xml", types.RSS_1: "application/rdf+xml",
    types.RSS_2: "application/rss+xml", types.ATOM: "application/atom+xml",
    types.JSON_FEED: "application/feed+json", types.RDF_XML: "application/rdf+xml",
    types.JSON_LD: "application/ld+json", types.TURTLE: "text/turtle", types.TRIG: "application/trig",
    types.N_TRIPLES: "application/n-triples", types.N_QUADS: "application/n-quads",
    types.OPML: "text/x-opml", types.SITEMAP: "application/xml", types.WSDL: "application/wsdl+xml",
    types.JSON: "application/json",
    types.TEXT: "text/plain", types.BINARY: "application/octet-stream",
}  # fmt: skip
WRONG = ["text/html; charset=utf-8", "application/rss+xml", "application/json", "text/turtle"]
ALIKE = {types.XHTML: {types.XHTML, types.HTML}, types.N_TRIPLES: {types.N_TRIPLES, types.TURTLE}}
"""XHTML is read as HTML where no header says XML; lines of triples are Turtle where the header says so."""


def failed(header: dict[str, str] | str) -> list[str]:
    """The documents whose type is not detected under a header for all, or one for each type."""
    lines = []
    for kind, body in DOCUMENTS:
        sent = header if isinstance(header, str) else header[kind]
        verdict = detect(body, sent)
        right = {kind} if sent == HEADERS[kind] else ALIKE.get(kind, {kind})
        if verdict.type not in right:
            lines.append(f"{kind} as {sent!r} is {verdict.type}: {body[:80]!r}")
    return lines


def test_there_are_enough_documents_of_every_type() -> None:
    kinds = [kind for kind, _ in DOCUMENTS]
    assert len(kinds) >= 170
    assert {kind for kind in types.TYPES if kinds.count(kind) < 5} == {types.EMPTY}


@pytest.mark.parametrize("header", [HEADERS, "", "application/octet-stream", "text/plain", "application/xml"])
def test_right_missing_and_generic_headers(header: dict[str, str] | str) -> None:
    wrong = failed(header)
    assert len(wrong) <= 0.03 * len(DOCUMENTS), "\n".join(wrong)


@pytest.mark.parametrize("header", WRONG)
def test_wrong_headers(header: str) -> None:
    others = sum(HEADERS[kind] != header for kind, _ in DOCUMENTS)
    wrong = failed(header)
    assert len(wrong) <= 0.1 * others, "\n".join(wrong)
