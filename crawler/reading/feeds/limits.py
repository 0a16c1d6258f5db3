"""What a feed may cost, and how parsing refuses one: everything here is chosen against hostile documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crawler.text.characters import storable

ErrorKind = Literal["not-a-feed", "malformed", "too-deep", "too-large"]


@dataclass(frozen=True, slots=True)
class FeedLimits:
    """Upper bounds: `bytes` of the document (inflated), counts per document or entry, and characters.

    Depth is bounded by libxml2 (256 levels). Ill-formed
    documents are mended up to `mended_bytes` only, and the slow tolerant parser gets to see the first
    `tolerant_bytes` of those that nothing else could read. `room` is by how much relative addresses may
    grow in all entries together when they are made absolute.
    """

    bytes: int = 10_000_000
    mended_bytes: int = 5_000_000
    tolerant_bytes: int = 1_000_000
    elements: int = 200_000
    attributes: int = 1_000
    entries: int = 1_000
    title: int = 1_000
    name: int = 200
    markup: int = 1_000_000
    room: int = 10_000_000
    address: int = 4_000
    categories: int = 50
    enclosures: int = 20


class FeedError(Exception):
    """A body that gives no feed: `kind` for the failure taxonomy, `detail` for people."""

    def __init__(self, kind: ErrorKind, detail: str) -> None:
        super().__init__(f"{kind}: {storable(detail)[:500]}")
        self.kind: ErrorKind = kind
        self.detail = storable(detail)[:500]
