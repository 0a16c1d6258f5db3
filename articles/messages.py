"""Messages between controller and terminals about stored pages to parse again."""

from __future__ import annotations

from crawler.messages import Harvest
from crawler.text.records import Record

PAGE_READING = "3"
"""Version of what terminals read from article pages: main text and content, language, metadata."""


class StoredPage(Record, frozen=True):
    """A stored article page to parse again: its HTML as it was received (zlib).

    A result is accepted only with the `permit`.
    """

    id: int
    url: str
    html: bytes
    content_type: str = ""
    permit: str = ""


class Reread(Record, frozen=True):
    """The content of a stored page parsed by the current version, with the permit to store it."""

    permit: str
    harvest: Harvest
