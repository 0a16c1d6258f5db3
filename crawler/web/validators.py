"""Checks of what people write into fields, for forms, the admin and the API alike."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator

from crawler.text.patterns import PatternError, compiled


def between(least: float, most: float) -> list[MinValueValidator | MaxValueValidator]:
    """For a field of numbers: both bounds are allowed."""
    return [MinValueValidator(least), MaxValueValidator(most)]


def is_pattern(value: str) -> None:
    """Refuse what is no regular expression. Raises ValidationError."""
    try:
        compiled(value)
    except PatternError as error:
        raise ValidationError(str(error), code="pattern") from error


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong with a row's fields, as a command says it."""
    name, words = next(iter(error.message_dict.items()))
    return f"--{name.replace('_', '-')}: {words[0]}"
