"""Histories of sites, one state a week, as `manage.py recrawl_replay` reads them. Pure but for reading."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from crawler.text.gzipped import DAMAGED, unpacked
from recrawl.structure import SiteGraph

MAX_BYTES = 2_000_000_000


class HistoryError(ValueError):
    """An invalid history file, with its name, the line and the reason."""


@dataclass
class History:
    """The weekly states of a site: `weeks[t]` has the checksum and the links of every page that existed."""

    name: str
    top: str
    dates: list[str]
    weeks: list[dict[str, tuple[str, tuple[str, ...]]]]

    @cached_property
    def live(self) -> list[dict[str, str]]:
        """Return, week by week, the checksums of the pages reachable from the top page."""
        live_weeks = []
        for state in self.weeks:
            depth = SiteGraph(self.top, {path: links for path, (_, links) in state.items()}).depth
            live_weeks.append({path: state[path][0] for path in depth})
        return live_weeks

    @cached_property
    def changed(self) -> list[list[str]]:
        """Return, week by week, the pages that differ from the week before. The first week has none."""
        changed_weeks: list[list[str]] = [[]]
        for before, live in zip(self.live, self.live[1:], strict=False):
            changed_weeks.append(
                [path for path, checksum in live.items() if before.get(path, checksum) != checksum]
            )
        return changed_weeks


def group_of(name: str) -> str:
    """Return the group of sites that a history file belongs to: its name up to the first dash."""
    return name.partition("-")[0].partition(".")[0]


def read_history(path: Path) -> History:
    """Read a history from a JSON Lines file, gzipped or not. Raises HistoryError, OSError."""
    top, dates = "", []
    weeks: list[dict[str, tuple[str, tuple[str, ...]]]] = []
    state: dict[str, tuple[str, tuple[str, ...]]] = {}
    for number, record in _records(path):
        try:
            if number == 1:
                top = _text(record["top"])
            if record["week"] != number - 1:
                raise HistoryError(f"{path.name}, line {number}: week {number - 1} is expected")
            state = dict(state)
            for removed_path in record.get("removed", []):
                state.pop(_text(removed_path), None)
            for name, (checksum, links) in record["pages"].items():
                state[name] = (_text(checksum), tuple(map(_text, links)))
            dates.append(_text(record["date"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, HistoryError):
                raise
            raise HistoryError(
                f"{path.name}, line {number}: {type(error).__name__}: {str(error)[:100]}"
            ) from error
        weeks.append(state)
    if len(weeks) < 2:
        raise HistoryError(f"{path.name} has fewer than two weeks")
    if top not in weeks[0]:
        raise HistoryError(f"{path.name}: the top page {top[:100]!r} is not among the pages of week 0")
    return History(path.name, top, dates, weeks)


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line numbers, from 1, and objects. Raises HistoryError."""
    with path.open("rb") as file:
        stream = unpacked(file)
        remaining_bytes, number = MAX_BYTES, 0
        try:
            while line := stream.readline(remaining_bytes + 1):
                remaining_bytes, number = remaining_bytes - len(line), number + 1
                if remaining_bytes < 0:
                    raise HistoryError(f"{path.name} is larger than {MAX_BYTES} bytes")
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise HistoryError(f"{path.name}, line {number}: this is no object")
                yield number, record
        except (*DAMAGED, UnicodeDecodeError, RecursionError) as error:
            raise HistoryError(f"{path.name} is damaged: {error}") from error
        except json.JSONDecodeError as error:
            raise HistoryError(f"{path.name}, line {number}: {error}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:60]!r} is no text")
    return value
