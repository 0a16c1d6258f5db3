"""What serializers of the API are made of: every text and list that comes in has a largest size.

`RowSerializer` takes the sizes from the model. A column without one gets MOST_TEXT; one that is in an index
gets what an index can hold, so that PostgreSQL never refuses the row.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from rest_framework import serializers
from rest_framework.utils import html

from crawler.text.characters import LONGEST_INDEXED

MOST_TEXT = 4000
MOST_ITEMS = 100

Row = TypeVar("Row", bound=models.Model)


class TextField(serializers.CharField):
    """Text, and nothing that would have to be made text first: a JSON number is none."""

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
    """True or false; the words for them where a form sends them."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool) and not html.is_html_input(getattr(self.root, "initial_data", None)):
            self.fail("invalid", input=data)
        return bool(super().to_internal_value(data))


class RowSerializer(serializers.ModelSerializer[Row]):
    """Fields as the model has them, with a largest size for each."""

    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.BooleanField: FlagField,
        models.CharField: TextField,
        models.TextField: TextField,
        models.FloatField: NumberField,
    }

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        made, options = super().build_standard_field(field_name, model_field)
        if issubclass(made, serializers.CharField):
            options.setdefault("max_length", LONGEST_INDEXED if _is_indexed(model_field) else MOST_TEXT)
        elif isinstance(model_field, ArrayField):
            options.setdefault("max_length", MOST_ITEMS)
            if not options.get("allow_empty", True):
                options.setdefault("min_length", 1)
        return made, options


def _is_indexed(field: Any) -> bool:
    """Whether a column is in some index, by itself or with others."""
    if field.unique or field.db_index:
        return True
    meta = field.model._meta
    several = [
        *(one.fields for one in meta.indexes),
        *(getattr(one, "fields", ()) for one in meta.constraints),
    ]
    return any(field.name in {name.lstrip("-") for name in names} for names in several)
