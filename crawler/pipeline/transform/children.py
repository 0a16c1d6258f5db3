"""Work on hostile input that may take for ever, in processes with limits that are killed then."""

from __future__ import annotations

from typing import Any

from crawler.isolation.calls import ProgramError, Programs
from crawler.isolation.limits import ProcessLimits
from crawler.reading.errors import ReadingError

CPU_SECONDS = 5
WALL_SECONDS = 10.0
OUTPUT = 5_000_000
LIMITS = ProcessLimits(cpu_seconds=CPU_SECONDS, memory_bytes=1_000_000_000, writes=False)

_programs = Programs(
    [f"crawler.pipeline.transform.{name}_child" for name in ("xslt", "rdfa", "jsonld", "files")],
    idle_seconds=60.0,
)


def run_child(program: str, request: dict[str, Any], content: bytes) -> bytes:
    """Run a program of this package on some bytes. Returns its output.

    Raises ReadingError with what it says, or the limit that it ran into.
    """
    try:
        whole = {**request, "cpu_seconds": CPU_SECONDS}
        return _programs.call(program, whole, content, seconds=WALL_SECONDS, max_bytes=OUTPUT)
    except ProgramError as error:
        limits = {
            "too-slow": f"it took more than {WALL_SECONDS:g} s",
            "too-costly": f"it took more than {CPU_SECONDS} s of processor time, or too much memory",
            "too-large": f"more than {OUTPUT} bytes of output",
        }
        if error.kind in limits:
            raise ReadingError("too-large", limits[error.kind]) from error
        raise ReadingError("malformed", error.detail[-300:] or "it failed") from error
