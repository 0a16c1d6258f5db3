"""Checks of what people write into fields, for forms, the admin and the API alike."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from crawler.patterns import PatternError, compiled


def is_pattern(value: str) -> None:
    """Refuse what is no regular expression. Raises ValidationError."""
    try:
        compiled(value)
    except PatternError as error:
        raise ValidationError(str(error), code="pattern") from error
