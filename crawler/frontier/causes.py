"""Causes of pages not crawled, mapped from our failure labels to the paper's (table I)."""

from __future__ import annotations

from crawler.failures import Failure

PAPER_CRAWLED = 97.10
"""Percentage of pages crawled in Baker and Akcayol's crawl."""

HTTP_CAUSES = frozenset({"404", "403", "503", "other HTTP"})
"""Causes that are errors of HTTP (tables II and III)."""


def cause(failure: str) -> str:
    """Return the paper's class of a failure label such as `http-404` or `dns`."""
    if failure in {"http-404", "http-403", "http-503"}:
        return failure.removeprefix("http-")
    kind = Failure.of(failure)
    if kind is Failure.UNSUPPORTED_TYPE:
        return "unsupported MIME type"
    if kind in {Failure.TIMEOUT, Failure.TOO_SLOW, Failure.BUSY}:
        return "timeout"
    if kind in {Failure.HTTP_4XX, Failure.HTTP_5XX, Failure.HTTP_OTHER, Failure.GONE, Failure.THROTTLED}:
        return "other HTTP"
    return "robots" if kind is Failure.ROBOTS else "unknown"
