"""Queries of strangers: read-only, on a snapshot, in a child with limits of time, memory, rows and bytes.

Each is answered in a process of its own (`child.py`), which `client.py` asks for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crawler.isolation.calls import ProgramError
from crawler.isolation.walls import environment as bare_environment
from crawler.pipeline.sparql import client
from crawler.pipeline.sparql.lexer import refusal
from crawler.pipeline.sparql.n3ql import N3qlError, as_sparql, is_n3ql

SECONDS = 10
MAX_ROWS = 10_000
MAX_BYTES = 50_000_000
MAX_QUERY_CHARACTERS = 100_000

_ROOT = Path(__file__).resolve().parents[3]


class QueryError(ValueError):
    """A query that is refused or fails, with the reason."""


class QueryTooLong(QueryError):
    """A query that took too much time."""


class QueryTurnedAway(QueryError):
    """A query that was not run: too many are running, or the server for them is down."""


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """A result in its media type; `cut` when there were more rows than allowed."""

    type: str
    body: bytes
    cut: bool


def ask(
    snapshot: Path,
    query: str,
    formats: Sequence[str],
    *,
    default_graphs: Sequence[str] = (),
    named_graphs: Sequence[str] = (),
    seconds: int = SECONDS,
    rows: int = MAX_ROWS,
) -> QueryAnswer:
    """Run a query and answer in the first of `formats` that fits its kind.

    Raises QueryError; QueryTooLong when it exceeds its time, QueryTurnedAway.
    """
    if len(query) > MAX_QUERY_CHARACTERS:
        raise QueryError(f"a query of more than {MAX_QUERY_CHARACTERS} characters")
    if is_n3ql(query):
        try:
            query = as_sparql(query)
        except N3qlError as error:
            raise QueryError(f"N3QL: {error}") from error
    if why := refusal(query):
        raise QueryError(why)
    request = {
        "query": query, "formats": list(formats), "rows": rows, "bytes": MAX_BYTES,
        "default_graphs": list(default_graphs), "named_graphs": list(named_graphs),
    }  # fmt: skip
    try:
        whole = client.server().answer(snapshot, json.dumps(request).encode(), seconds, 2 * MAX_BYTES)
    except ProgramError as error:
        raise _query_error(error, seconds) from error
    line, _, body = whole.partition(b"\n")
    header = json.loads(line)
    return QueryAnswer(header["type"], body, header["cut"])


def _query_error(error: ProgramError, seconds: int) -> QueryError:
    """Return what a person is told of a query without an answer."""
    if error.kind == "busy":
        return QueryTurnedAway(error.detail)
    if error.kind == "too-slow":
        return QueryTooLong(f"the query took more than {seconds} s")
    if error.kind == "too-costly":
        return QueryTooLong(f"the query took more than {seconds} s of processor time, or too much memory")
    if error.kind == "too-large":
        return QueryError(f"a result of more than {MAX_BYTES} bytes")
    return QueryError(error.detail)


def wall() -> str:
    """Return the name of the children's network sandbox on this kernel, empty without one."""
    try:
        return _tried_wall()
    except (OSError, subprocess.SubprocessError):
        return ""


@cache
def _tried_wall() -> str:
    command = [sys.executable, "-m", "crawler.isolation.walls"]
    completed = subprocess.run(  # noqa: S603 - this very interpreter
        command, capture_output=True, timeout=SECONDS, cwd=_ROOT, env=bare_environment(), check=True
    )
    return completed.stdout.decode()
