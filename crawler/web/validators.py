"""Validators of user input, for forms, the admin and the API alike."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator

from crawler.text.patterns import PatternError, compiled


def between(min_value: float, max_value: float) -> list[MinValueValidator | MaxValueValidator]:
    """Return validators of a number between two bounds, both of them allowed."""
    return [MinValueValidator(min_value), MaxValueValidator(max_value)]


def is_pattern(value: str) -> None:
    """Refuse an invalid regular expression. Raises ValidationError."""
    try:
        compiled(value)
    except PatternError as error:
        raise ValidationError(str(error), code="pattern") from error


def first_fault(error: ValidationError) -> str:
    """Return the first error of a row's fields, in the form that commands print."""
    name, words = next(iter(error.message_dict.items()))
    return f"--{name.replace('_', '-')}: {words[0]}"
