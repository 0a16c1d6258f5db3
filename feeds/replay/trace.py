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

_MAX_LINE_CHARACTERS = 10_000


class TraceError(ValueError):
    """Error of an unusable trace, with the line at fault where known."""


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """Size limits of a trace."""

    posts: int = 20_000_000
    feeds: int = 200_000
    days: int = 4_000


LIMITS = TraceLimits()


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace: `feeds` names; `owner` (p,) feed of each post, `published` (p,) epoch seconds, in order of
    time.

    `start` is the first midnight UTC at or before the earliest post.
    """

    name: str
    feeds: tuple[str, ...]
    owner: Integers
    published: Floats

    @classmethod
    def of(cls, name: str, posts: Iterable[tuple[str, float]], limits: TraceLimits = LIMITS) -> Trace:
        """Build from (feed, published) in any order. Raises TraceError for no posts, or for more than the
        limits allow.
        """
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
        """Days from the start to the last post."""
        return float(self.published[-1] - self.start) / DAY


def read_trace(path: Path) -> Trace:
    """Read a .csv or .csv.gz file. Raises TraceError that names the line, OSError when the file cannot be
    read.
    """
    with path.open("rb") as file:
        return parse_trace(path.name, file)


def parse_trace(name: str, file: BinaryIO, limits: TraceLimits = LIMITS) -> Trace:
    """Parse a trace from an open file, compressed or not. Raises TraceError."""
    try:
        # A line without an end must not fill the memory.
        lines = iter(partial(unpacked(file).readline, _MAX_LINE_CHARACTERS), b"")
        decoded = (line.decode("utf-8", "replace").replace("\0", "") for line in lines)
        posts = _pairs(name, decoded, "published", "time in epoch seconds", below=1e11)
        return Trace.of(name, posts, limits)
    except DAMAGED as error:
        raise TraceError(f"{name}: damaged gzip: {error}") from error


def pack_trace(trace: Trace) -> bytes:
    """Pack a trace into bytes for `unpack_trace`: compressed arrays without executable content."""
    packed = io.BytesIO()
    names = np.frombuffer(json.dumps([trace.name, *trace.feeds]).encode(), dtype=np.uint8)
    np.savez_compressed(packed, names=names, owner=trace.owner, published=trace.published)
    return packed.getvalue()


def unpack_trace(packed: bytes) -> Trace:
    """Unpack the result of `pack_trace`."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        name, *feeds = json.loads(arrays["names"].tobytes())
        return Trace(name, tuple(feeds), arrays["owner"], arrays["published"])


def read_subscribers(path: Path, trace: Trace) -> Floats:
    """Read (n,) subscribers from a CSV file feed,subscribers. Feeds not in the file get 0.

    Raises TraceError that names the line.
    """
    counts = dict.fromkeys(trace.feeds, 0.0)
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        for feed, count in _pairs(path.name, file, "subscribers", "number of subscribers", below=math.inf):
            if feed in counts:
                counts[feed] = count
    return np.array(list(counts.values()))


def _pairs(
    name: str, lines: Iterable[str], column: str, noun: str, *, below: float
) -> Iterator[tuple[str, float]]:
    """Yield feeds with a number from 0 to `below`, from a CSV file with the columns feed and `column`."""
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
            raise TraceError(f"{name}, line {rows.line_num}: {row[1][:40]!r} is no {noun}")
        yield row[0], value
