"""The wording of reasons in the language of the person who reads them."""

from __future__ import annotations

from django.utils.translation import get_language, gettext

from crawler.text.reasons import Reason


def translated(text: str) -> str:
    """Return a reason or a sentence in the active language; a text without a translation as it is."""
    if not text or get_language() in (None, "en"):
        return text
    if isinstance(text, Reason):
        return gettext(text.code).format(*(_argument(each) for each in text.arguments))
    return gettext(text)


def _argument(value: str | int | float) -> str | int | float:
    return translated(value) if isinstance(value, str) else value
