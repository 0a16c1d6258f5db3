"""Matching of documents and users' transformers."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.pipeline.transform.graph import SourceDocument
from crawler.text.patterns import PatternError, compiled, found_in


def fits(types: Sequence[str], pattern: str, document: SourceDocument) -> bool:
    """Return whether a document matches by type (empty: all) and by a regular expression on its address."""
    if types and document.type not in types:
        return False
    try:
        return not pattern or found_in(compiled(pattern), document.url)
    except PatternError:
        return False
