"""Small frozen records, as they travel between processes. Pure."""

from __future__ import annotations

from msgspec import Struct


class Record(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Fields that have their defaults are not sent; what has others than these is refused."""
