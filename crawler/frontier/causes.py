"""Why pages were not crawled, in the paper's words (table I) and in ours."""

from __future__ import annotations

from crawler.http.failures import Failure

PAPER_CRAWLED = 97.10
"""Per cent of the pages of Baker and Akcayol's crawl that were crawled."""


def cause(failure: str) -> str:
    """The paper's class of a failure label such as `http-404` or `dns`."""
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
