"""The program that makes a copy of a page to click in, without a way to the network."""

from __future__ import annotations

from typing import Any

from crawler.fetching.sandboxed.programs import READING
from crawler.isolation.calls import register
from crawler.reading.pages.copies import page_copy

COPY = "page-copy"


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return the copy of a page. Raises ReadingError."""
    return page_copy(body, request["content_type"]).encode("utf-8", "replace")


register(COPY, run, READING)
