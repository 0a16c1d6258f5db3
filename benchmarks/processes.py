"""Memory, processor time and writes of a process and all its descendants, from /proc (Linux)."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path


def family(root: int) -> set[int]:
    """The process and its descendants."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found, grown = {root}, True
    while grown:
        children = {child for child, parent in parents.items() if parent in found} - found
        found |= children
        grown = bool(children)
    return found & (set(parents) | {root})


def memory(processes: set[int]) -> int:
    """Bytes of memory in use: proportional set sizes, so that shared pages count once."""
    total = 0
    for process in processes:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))
    return total


def processor_seconds(processes: set[int]) -> float:
    """User and system time of these processes and their waited-for children, to 10 ms each."""
    ticks = 0
    for process in processes:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def written(processes: set[int]) -> int:
    """Bytes that these processes and their waited-for children have sent to the disk so far.

    As the kernel counts: all of the pages that it keeps together and of which a part was changed.
    """
    total = 0
    for process in processes:
        try:
            text = Path(f"/proc/{process}/io").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("write_bytes:"))
    return total


def is_postgresql(process: int) -> bool:
    """Whether it is the database server or one of its processes."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip() == "postgres"
    except OSError:
        return False


class PeakMemory:
    """Samples the memory of a process family in a thread; `peak` in bytes.

    Seldom: the kernel walks all pages of all processes for it, some 2 ms for each process.
    """

    def __init__(self, root: int, every: float = 1.0) -> None:
        self.peak = 0
        self._root, self._every = root, every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.is_set():
            self.peak = max(self.peak, memory(family(self._root)))
            time.sleep(self._every)
