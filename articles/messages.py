"""What controller and terminals say to each other about stored pages that are read again."""

from __future__ import annotations

from crawler.messages import Harvest
from crawler.text.records import Record

PAGE_READING = "2"
"""Version of what terminals read from article pages: main text, language, metadata."""


class StoredPage(Record, frozen=True):
    """An article page that is stored, to be read again: its HTML as it was received (zlib).

    Only what comes back with the `permit` is taken.
    """

    id: int
    url: str
    html: bytes
    content_type: str = ""
    permit: str = ""


class Reread(Record, frozen=True):
    """What a stored page says by today's reading, with the permit to write it down."""

    permit: str
    harvest: Harvest
