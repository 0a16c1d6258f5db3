"""Queries of strangers: read only, on a snapshot, in a child with limits of time, memory, rows and bytes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 10
MOST_ROWS = 10_000
MOST_BYTES = 50_000_000
LONGEST_QUERY = 100_000

_SILENT = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*\'\'\''
    r'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|<[^<>"{}|^`\\\s]*>|#[^\n]*',
    re.DOTALL,
)
_SERVICE = re.compile(r"\bSERVICE\b", re.IGNORECASE)


class QueryError(ValueError):
    """A query that is refused or fails, with the reason."""


class QueryTooLong(QueryError):
    """A query that took too much time."""


@dataclass(frozen=True, slots=True)
class Answer:
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
) -> Answer:
    """The answer to a query. Raises QueryError; QueryTooLong after so many seconds."""
    if len(query) > LONGEST_QUERY:
        raise QueryError(f"a query of more than {LONGEST_QUERY} characters")
    if _SERVICE.search(_SILENT.sub(" ", query)):
        raise QueryError("SERVICE would ask other servers: that is not allowed here")
    asked = {
        "snapshot": str(snapshot), "query": query, "format": wanted, "rows": rows, "seconds": seconds,
        "default_graphs": list(default_graphs), "named_graphs": list(named_graphs),
    }  # fmt: skip
    command = [sys.executable, "-m", "crawler.pipeline.sparql.child"]
    root = Path(__file__).resolve().parents[3]
    try:
        done = subprocess.run(  # noqa: S603 - this very interpreter, and a query on its standard input
            command,
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=seconds,
            cwd=root,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise QueryTooLong(f"the query took more than {seconds} s") from error
    line, _, body = done.stdout.partition(b"\n")
    if done.returncode or not line:
        raise QueryTooLong(f"the query took more than {seconds} s of processor time, or too much memory")
    told = json.loads(line)
    if "error" in told:
        raise QueryError(told["error"])
    if len(body) > MOST_BYTES:
        raise QueryError(f"a result of more than {MOST_BYTES} bytes")
    return Answer(told["type"], body, told["cut"])
