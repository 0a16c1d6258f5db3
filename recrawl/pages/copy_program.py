"""The process that makes a copy of a page to click in, without a way to the network."""

from __future__ import annotations

from typing import Any

from crawler.fetching.walled.programs import OK, failure, read_alone
from crawler.isolation.fork_server import PROGRAMS, Program
from crawler.reading.errors import ReadingError
from crawler.reading.pages.copies import page_copy

COPY = "page-copy"


def run(words: dict[str, Any], descriptors: list[int]) -> None:
    """Read a page from a pipe, and write OK and its copy to another; or the failure."""

    def read_body(body: bytes) -> bytes:
        try:
            return OK + page_copy(body, words["content_type"]).encode("utf-8", "replace")
        except ReadingError as error:
            return failure(error.kind, error.detail)
        except Exception as error:  # nothing says what readers raise on bytes that were made to break them
            return failure("malformed", type(error).__name__)

    read_alone(descriptors, read_body)


PROGRAMS[COPY] = Program(run)
