"""Work on hostile input that may take for ever, in a process with limits that is killed then."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from crawler.isolation.walls import environment, no_more_files, shut
from crawler.reading.errors import ReadingError

CPU_SECONDS = 5
WALL_SECONDS = 10.0
MEMORY = 1_000_000_000
OUTPUT = 5_000_000

_ROOT = Path(__file__).resolve().parents[3]


def run_child(module: str, request: dict[str, Any], content: bytes) -> bytes:
    """Run a module of this package as a program on a line of JSON and some bytes; return its output.

    Raises ReadingError with what it wrote to standard error, or the limit that it ran into.
    """
    limits = {"seconds": CPU_SECONDS, "memory": MEMORY, "output": OUTPUT}
    command = [sys.executable, "-m", f"crawler.pipeline.transform.{module}"]
    whole = json.dumps(request | limits).encode() + b"\n" + content
    try:
        completed = subprocess.run(  # noqa: S603 - this very interpreter; what is foreign comes on standard input
            command,
            input=whole,
            capture_output=True,
            timeout=WALL_SECONDS,
            cwd=_ROOT,
            env=environment(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ReadingError("too-large", f"it took more than {WALL_SECONDS:g} s") from error
    if completed.returncode < 0:
        raise ReadingError(
            "too-large", f"it took more than {CPU_SECONDS} s of processor time, or too much memory"
        )
    if completed.returncode:
        raise ReadingError(
            "malformed", completed.stderr.decode("utf-8", "replace").strip()[-300:] or "it failed"
        )
    if len(completed.stdout) > OUTPUT:
        raise ReadingError("too-large", f"more than {OUTPUT} bytes of output")
    return completed.stdout


def limit(request: dict[str, Any], *, files: bool) -> None:
    """Apply the limits and close the network, in the child; `files` says whether it still opens any."""
    if not shut() and not files:
        no_more_files()
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"]))
    resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
