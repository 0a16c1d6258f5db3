"""Traces from files: in any order, compressed or not, and refused with the line that is to blame."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path

import pytest

from feeds.replay.trace import Trace, TraceError, parse_trace, read_subscribers, read_trace

GOOD = b"feed,published\na,1000\nb,90000\na,500\n"


def parse(body: bytes) -> Trace:
    return parse_trace("t.csv", BytesIO(body))


def test_posts_are_put_in_order_and_time_starts_at_midnight() -> None:
    trace = parse(GOOD)
    assert (trace.feeds, trace.owner.tolist()) == (("a", "b"), [0, 0, 1])
    assert (trace.published.tolist(), trace.start) == ([500.0, 1000.0, 90000.0], 0.0)


def test_a_compressed_file_is_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(GOOD))
    assert read_trace(tmp_path / "t.csv.gz").published.tolist() == parse(GOOD).published.tolist()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "first line must be feed,published"),
        (b"a,b\n1,2\n", "first line must be feed,published"),
        (b"feed,published\n", "no posts"),
        (b"feed,published\na,1\nb\n", "line 3: two columns"),
        (b"feed,published\na,soon\n", "line 2: 'soon' is no time"),
        (b"feed,published\na,nan\n", "line 2: 'nan' is no time"),
        (b"feed,published\na,-1\n", "line 2: '-1' is no time"),
        (b"feed,published\na,1e300\n", "line 2: '1e300' is no time"),
        (b"feed,published\na,0\na,99999999999\n", "more than 4000"),
        (gzip.compress(GOOD)[:-9], "damaged gzip"),
        (b"\x1f\x8bnothing", "damaged gzip"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_place(body: bytes, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        parse(body)


def test_subscribers_are_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("feed,subscribers\nb,7\nstranger,9\n")
    assert read_subscribers(tmp_path / "s.csv", parse(GOOD)).tolist() == [0, 7]


@pytest.mark.parametrize("row", ["b", "b,many", "b,-1", "b,inf"])
def test_a_bad_number_of_subscribers_is_refused(tmp_path: Path, row: str) -> None:
    (tmp_path / "s.csv").write_text(f"feed,subscribers\n{row}\n")
    with pytest.raises(TraceError, match="line 2"):
        read_subscribers(tmp_path / "s.csv", parse(GOOD))
