"""Columns whose values are names of code, such as policies: adding one needs no migration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db import models

# Django's own class takes no type parameters at run time.
if TYPE_CHECKING:
    _Text = models.CharField[Any, Any]
else:
    _Text = models.CharField


class NameColumn(_Text):
    """A column for one of the names in a registry.

    Forms, the admin, filters and the API offer these names and refuse others. Migrations see a plain text.
    """

    def __init__(
        self, *arguments: Any, names: Iterable[str] | Iterable[tuple[str, Any]] = (), **options: Any
    ) -> None:
        """Take the names, or pairs of a name and its words for people; without any, every text is one."""
        pairs = [(name, name) if isinstance(name, str) else name for name in names]
        if pairs:
            options["choices"] = pairs
        super().__init__(*arguments, **options)

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """Return what migrations compare and write: the column of the database, which knows no names."""
        name, _, arguments, options = super().deconstruct()
        options.pop("choices", None)
        return name, "django.db.models.CharField", list(arguments), options
