"""Tables as text: CSV whose cells no spreadsheet takes for a formula, and columns beside each other.

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
    """Whether it is written as a number, and nothing else."""
    return _NUMBER.fullmatch(text) is not None


def guarded(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula.

    That is what begins with `=`, `+`, `-` or `@`, in full width or behind blanks too, and with a tab or the
    end of a line.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def csv_row(cells: Iterable[str]) -> str:
    """A line of CSV (RFC 4180) from cells that are guarded, or numbers."""
    return ",".join(_quoted(text) for text in cells) + "\r\n"


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if _QUOTED.search(text) else text


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    )
