"""The error for documents of any type that are refused."""

from __future__ import annotations

from crawler.failures import Failure
from crawler.text.characters import storable


class ReadingError(Exception):
    """An unreadable document: `kind` of the failure taxonomy, `detail` for people."""

    def __init__(self, kind: str, detail: str) -> None:
        self.kind, self.detail = Failure(kind), storable(detail)[:500]
        super().__init__(f"{self.kind}: {self.detail}")
