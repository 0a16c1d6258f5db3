"""Queries of strangers: read only, on a snapshot, in a child with limits of time, memory, rows and bytes.

The child (`child.py`) is forked by a kept process, which `client.py` starts and speaks to.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crawler.pipeline.sparql import client
from crawler.pipeline.sparql.lexer import refusal
from crawler.process.light import light_environment

SECONDS = 10
MOST_ROWS = 10_000
MOST_BYTES = 50_000_000
LONGEST_QUERY = 100_000

_ROOT = Path(__file__).resolve().parents[3]


class QueryError(ValueError):
    """A query that is refused or fails, with the reason."""


class QueryTooLong(QueryError):
    """A query that took too much time."""


class QueryTurnedAway(QueryError):
    """A query that has not been asked: too many are being answered, or the process for them is away."""


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """A result in its media type; `cut` when there were more rows than allowed."""

    type: str
    body: bytes
    cut: bool


def ask(
    snapshot: Path,
    query: str,
    wanted: str,
    *,
    default_graphs: Sequence[str] = (),
    named_graphs: Sequence[str] = (),
    seconds: int = SECONDS,
    rows: int = MOST_ROWS,
) -> QueryAnswer:
    """The answer to a query. Raises QueryError; QueryTooLong after so many seconds, QueryTurnedAway."""
    if len(query) > LONGEST_QUERY:
        raise QueryError(f"a query of more than {LONGEST_QUERY} characters")
    if why := refusal(query):
        raise QueryError(why)
    asked = {
        "query": query, "format": wanted, "rows": rows, "bytes": MOST_BYTES,
        "default_graphs": list(default_graphs), "named_graphs": list(named_graphs),
    }  # fmt: skip
    try:
        whole = client.server().answer(snapshot, json.dumps(asked).encode(), seconds)
    except client.TurnedAwayError as error:
        raise QueryTurnedAway(str(error)) from error
    except TimeoutError as error:
        raise QueryTooLong(f"the query took more than {seconds} s") from error
    line, _, body = whole.partition(b"\n")
    if not line:
        raise QueryTooLong(f"the query took more than {seconds} s of processor time, or too much memory")
    told = json.loads(line)
    if "error" in told:
        raise QueryError(told["error"])
    return QueryAnswer(told["type"], body, told["cut"])


def wall() -> str:
    """What keeps children from the network on this kernel; empty where the lexer and limits alone do."""
    try:
        return _tried_wall()
    except (OSError, subprocess.SubprocessError):
        return ""


@cache
def _tried_wall() -> str:
    command = [sys.executable, "-m", "crawler.process.walls"]
    done = subprocess.run(  # noqa: S603 - this very interpreter
        command, capture_output=True, timeout=SECONDS, cwd=_ROOT, env=light_environment(), check=True
    )
    return done.stdout.decode()
