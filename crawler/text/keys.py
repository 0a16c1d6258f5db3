"""Fixed-size keys of texts of any length, for unique indexes."""

from __future__ import annotations

import hashlib
import uuid


def digest(text: str) -> uuid.UUID:
    """Return 128 bits of BLAKE2b of a text."""
    return digest_of_bytes(text.encode("utf-8", "surrogatepass"))


def digest_of_bytes(content: bytes) -> uuid.UUID:
    """Return 128 bits of BLAKE2b of bytes."""
    return uuid.UUID(bytes=hashlib.blake2b(content, digest_size=16).digest())
