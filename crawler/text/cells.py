"""Tables as text: CSV whose cells no spreadsheet takes for a formula, and aligned columns.

Imports nothing: children use it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_QUOTED = re.compile(r'[",;|\t\r\n]')
"""Signs that some spreadsheet takes for the end of a cell, and quotes."""


def is_number(text: str) -> bool:
    """Return whether the text is a number and nothing else."""
    return _NUMBER.fullmatch(text) is not None


def guarded(text: str) -> str:
    """Return the text, with an apostrophe before it where a spreadsheet would take it for a formula.

    Formulas begin with `=`, `+`, `-` or `@`, in full width or behind blanks too, and with a tab or line end.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def csv_row(cells: Iterable[str]) -> str:
    """Return a line of CSV (RFC 4180) from cells that are guarded, or numbers."""
    return ",".join(_quoted(text) for text in cells) + "\r\n"


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if _QUOTED.search(text) else text


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    )
