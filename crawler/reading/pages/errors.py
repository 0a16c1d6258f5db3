"""How a page is refused."""

from __future__ import annotations

from typing import Literal

from crawler.text.characters import storable

ErrorKind = Literal["unsupported-type", "too-deep", "too-large", "malformed"]


class ExtractionError(Exception):
    """A body that gives no page: `kind` for the failure taxonomy, `detail` for people."""

    def __init__(self, kind: ErrorKind, detail: str) -> None:
        super().__init__(f"{kind}: {storable(detail)[:500]}")
        self.kind: ErrorKind = kind
        self.detail = storable(detail)[:500]
