"""Marks for texts that are translated where they are shown; for modules that know no language."""

from __future__ import annotations


def gettext_noop(message: str) -> str:
    """Return the message as it is. `make messages` gathers it for translators."""
    return message
