"""The form in which downloaded documents are stored."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from itertools import islice

from crawler.fetching.http.client import Response
from crawler.reading.documents import REQUEST, STATUS, CrawledPage
from crawler.text.characters import storable
from crawler.text.keys import digest_of_bytes

MAX_HEADERS = 64
MAX_HEADER_CHARACTERS = 8192
MAX_TYPE_CHARACTERS = 200
_FOLD = re.compile(r"[ \t]*\r?\n[ \t]*")


def stored_page(response: Response) -> CrawledPage:
    """Return the stored form of a response: request, status line, headers and body."""
    return CrawledPage(
        content_type=storable(response.content_type, MAX_TYPE_CHARACTERS),
        size=len(response.body),
        digest=digest_of_bytes(response.body).hex,
        body=zlib.compress(response.body, 1),
        headers=(
            (REQUEST, storable(response.request, MAX_HEADER_CHARACTERS)),
            (STATUS, storable(response.status_line, MAX_TYPE_CHARACTERS)),
            *stored_headers(response.headers),
        ),
    )


def stored_headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return names and values as received, but bounded, unfolded (RFC 9112, section 5.2) and storable."""
    return tuple(
        (
            storable(name, MAX_TYPE_CHARACTERS),
            storable(_FOLD.sub(" ", value[: 2 * MAX_HEADER_CHARACTERS]), MAX_HEADER_CHARACTERS),
        )
        for name, value in islice(headers.items(), MAX_HEADERS)
    )
