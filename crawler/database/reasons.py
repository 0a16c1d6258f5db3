"""Columns of reasons: rows keep the code and the arguments, so that they are worded where they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from django.db import models
from psycopg.types.string import StrDumper

from crawler.text.reasons import Reason, packed, unpacked


class ReasonDumper(StrDumper):
    """The form of a reason in statements, whoever makes them."""

    def dump(self, obj: str) -> Any:
        """Return the packed reason."""
        return super().dump(packed(obj))


psycopg.adapters.register_dumper(Reason, ReasonDumper)


class _Unpacked:
    """A part of columns of text that reads reasons as such. For migrations they are columns of text."""

    migrates_as: str

    def from_db_value(self, text: str | None, *_: object) -> str | None:
        """Return the reason that the row keeps."""
        return None if text is None else unpacked(text)

    def get_prep_value(self, value: Any) -> Any:
        """Return the packed reason: `bulk_create` sends lists, in which no two kinds may stand."""
        value = super().get_prep_value(value)  # type: ignore[misc]
        return packed(value) if isinstance(value, str) else value

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        """Describe the column as one of text."""
        name, _, arguments, options = super().deconstruct()  # type: ignore[misc]
        return name, self.migrates_as, arguments, options


class ReasonField(_Unpacked, models.TextField):  # type: ignore[type-arg]
    """A column of reasons."""

    migrates_as = "django.db.models.TextField"


class ShortReasonField(_Unpacked, models.CharField):  # type: ignore[type-arg]
    """A column of reasons whose arguments are short."""

    migrates_as = "django.db.models.CharField"
