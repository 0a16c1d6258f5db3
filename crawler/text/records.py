"""Small frozen records that travel between processes. Pure."""

from __future__ import annotations

from msgspec import Struct


class Record(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A frozen record. Fields with default values are not sent, unknown fields are refused."""
