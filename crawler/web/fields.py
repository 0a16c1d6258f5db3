"""Fields and the base class of the API's serializers: every text and list has a maximum size.

`RowSerializer` takes the sizes from the model. A column without one gets MAX_TEXT; an indexed column gets
what an index can hold, so that PostgreSQL never refuses the row.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.utils import html

from crawler.text.characters import MAX_INDEXED_CHARACTERS
from crawler.text.reasons import code_and_arguments

MAX_TEXT = 4000
MAX_ITEMS = 100

Row = TypeVar("Row", bound=models.Model)


class TextField(serializers.CharField):
    """A text field that refuses other types: a JSON number is not converted."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class NumberField(serializers.FloatField):
    """A finite number: JSON could not show another one."""

    def to_internal_value(self, data: Any) -> float:
        number = super().to_internal_value(data)
        if isinstance(data, bool) or not math.isfinite(number):
            self.fail("invalid")
        return number


class FlagField(serializers.BooleanField):
    """A boolean field that also accepts the words of forms."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool) and not html.is_html_input(getattr(self.root, "initial_data", None)):
            self.fail("invalid", input=data)
        return bool(super().to_internal_value(data))


class RowSerializer(serializers.ModelSerializer[Row]):
    """A serializer with the model's fields, and a maximum size for each."""

    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.BooleanField: FlagField,
        models.CharField: TextField,
        models.TextField: TextField,
        models.FloatField: NumberField,
    }

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        field_class, options = super().build_standard_field(field_name, model_field)
        if issubclass(field_class, serializers.CharField):
            options.setdefault("max_length", MAX_INDEXED_CHARACTERS if _is_indexed(model_field) else MAX_TEXT)
        elif isinstance(model_field, ArrayField):
            options.setdefault("max_length", MAX_ITEMS)
            if not options.get("allow_empty", True):
                options.setdefault("min_length", 1)
        return field_class, options


def _is_indexed(field: Any) -> bool:
    """Return whether a column is in some index, by itself or with others."""
    if field.unique or field.db_index:
        return True
    meta = field.model._meta
    several = [
        *(index.fields for index in meta.indexes),
        *(getattr(index, "fields", ()) for index in meta.constraints),
    ]
    return any(field.name in {name.lstrip("-") for name in names} for names in several)


@extend_schema_field(
    {
        "type": "object",
        "nullable": True,
        "readOnly": True,
        "properties": {"code": {"type": "string"}, "arguments": {"type": "array", "items": {}}},
        "required": ["code", "arguments"],
    }
)
class ReasonCodeField(serializers.Field[str, Any, Any, Any]):
    """A reason for programs: `code`, an English sentence with {0}, {1} for its `arguments`, or null."""

    def __init__(self, source: str) -> None:
        super().__init__(read_only=True, source=source)

    def to_representation(self, value: str) -> dict[str, Any] | None:
        """Return the code and the arguments of a reason."""
        return code_and_arguments(value)
