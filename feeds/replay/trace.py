"""Traces of posting times: a CSV file with the columns feed and published (epoch seconds)."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from crawler.text.gzipped import DAMAGED, unpacked
from feeds.scheduling.rates import DAY, Floats, Integers

_LONGEST_LINE = 10_000


class TraceError(ValueError):
    """A trace that cannot be used, with the line that is to blame."""


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """How much a trace may hold."""

    posts: int = 20_000_000
    feeds: int = 200_000
    days: int = 4_000


LIMITS = TraceLimits()


@dataclass(frozen=True, slots=True)
class Trace:
    """`feeds` names; `owner` (p,) feed of each post, `published` (p,) epoch seconds, in order of time.

    `start` is the first midnight UTC at or before the earliest post.
    """

    name: str
    feeds: tuple[str, ...]
    owner: Integers
    published: Floats

    @classmethod
    def of(cls, name: str, posts: Iterable[tuple[str, float]], limits: TraceLimits = LIMITS) -> Trace:
        """From (feed, published) in any order. Raises TraceError for none, or for too much of anything."""
        numbers: dict[str, int] = {}
        owner: list[int] = []
        published: list[float] = []
        for feed, time in posts:
            owner.append(numbers.setdefault(feed, len(numbers)))
            published.append(time)
            if len(owner) > limits.posts or len(numbers) > limits.feeds:
                raise TraceError(f"{name}: more than {limits.posts} posts or {limits.feeds} feeds")
        if not owner:
            raise TraceError(f"{name}: no posts")
        times = np.array(published)
        if np.ptp(times) > limits.days * DAY:
            raise TraceError(f"{name}: {np.ptp(times) / DAY:.0f} days, more than {limits.days}")
        order = np.argsort(times, kind="stable")
        return cls(name, tuple(numbers), np.array(owner, dtype=np.int64)[order], times[order])

    @property
    def start(self) -> float:
        """Epoch seconds of the first day's midnight, UTC."""
        return float(self.published[0] // DAY * DAY)

    @property
    def days(self) -> float:
        """From the start to the last post."""
        return float(self.published[-1] - self.start) / DAY


def read_trace(path: Path) -> Trace:
    """A .csv or .csv.gz file. Raises TraceError that names the line, OSError when it cannot be read."""
    with path.open("rb") as file:
        return parse_trace(path.name, file)


def parse_trace(name: str, file: BinaryIO, limits: TraceLimits = LIMITS) -> Trace:
    """The same from an open file, compressed or not."""
    try:
        # A line without an end must not fill the memory.
        lines = iter(partial(unpacked(file).readline, _LONGEST_LINE), b"")
        decoded = (line.decode("utf-8", "replace").replace("\0", "") for line in lines)
        posts = _pairs(name, decoded, "published", "time in epoch seconds", below=1e11)
        return Trace.of(name, posts, limits)
    except DAMAGED as error:
        raise TraceError(f"{name}: damaged gzip: {error}") from error


def pack_trace(trace: Trace) -> bytes:
    """A trace as bytes that `unpack_trace` reads: compressed arrays, nothing that runs."""
    packed = io.BytesIO()
    names = np.frombuffer(json.dumps([trace.name, *trace.feeds]).encode(), dtype=np.uint8)
    np.savez_compressed(packed, names=names, owner=trace.owner, published=trace.published)
    return packed.getvalue()


def unpack_trace(packed: bytes) -> Trace:
    """What `pack_trace` packed."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        name, *feeds = json.loads(arrays["names"].tobytes())
        return Trace(name, tuple(feeds), arrays["owner"], arrays["published"])


def read_subscribers(path: Path, trace: Trace) -> Floats:
    """(n,) subscribers from a CSV file feed,subscribers; 0 for feeds that it does not name.

    Raises TraceError that names the line.
    """
    counts = dict.fromkeys(trace.feeds, 0.0)
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        for feed, count in _pairs(path.name, file, "subscribers", "number of subscribers", below=math.inf):
            if feed in counts:
                counts[feed] = count
    return np.array(list(counts.values()))


def _pairs(
    name: str, lines: Iterable[str], column: str, what: str, *, below: float
) -> Iterator[tuple[str, float]]:
    """Feeds with a number from 0 to `below`, from a CSV file with the columns feed and `column`."""
    rows = csv.reader(lines)
    header = [cell.strip().lower() for cell in next(rows, [])]
    if header[:2] != ["feed", column]:
        raise TraceError(f"{name}: the first line must be feed,{column}, not {','.join(header)[:80]!r}")
    for row in rows:
        if not row:
            continue
        if len(row) < 2:
            raise TraceError(f"{name}, line {rows.line_num}: two columns are needed, feed and {column}")
        try:
            value = float(row[1])
        except ValueError:
            value = math.nan
        if not 0 <= value < below:
            raise TraceError(f"{name}, line {rows.line_num}: {row[1][:40]!r} is no {what}")
        yield row[0], value
