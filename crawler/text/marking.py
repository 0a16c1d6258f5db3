"""Marks for texts that are translated where they are shown; for modules that know no language."""

from __future__ import annotations


def gettext_noop(message: str) -> str:
    """Return the message as it is. `make messages` gathers it for translators."""
    return message


def pgettext(context: str, message: str) -> tuple[str, str]:
    """Return context and message as they are. `make messages` gathers them for translators."""
    return context, message
