"""A gate that lets one request at a time to a host, with a pause between two, across all processes.

A lock file per slot of hosts; `flock` is dropped by the kernel when a worker is killed, so no
host stays closed. Times are noted on the monotonic clock, which processes of one boot share.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crawler.failures import Failure, FetchError

SLOTS = 4096
"""Lock files in the directory at most; hosts that share one also wait for each other's requests to end."""

_HOSTS_PER_SLOT = 32
_NOTE = struct.Struct("<8sd")
_FIRST_PAUSE = 0.002
_MAX_PAUSE_SECONDS = 0.05


class HostGate:
    """A gate whose lock files are in `directory`; `spacing` (seconds) lies between requests, end to start."""

    def __init__(self, directory: Path | str, spacing: float = 1.0) -> None:
        self._directory = Path(directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._spacing = spacing
        self._threads = [threading.Lock() for _ in range(SLOTS)]

    @contextmanager
    def turn(self, host: str, deadline: float, spacing: float | None = None) -> Iterator[None]:
        """Hold the host for one request until the block ends.

        `deadline` is on the monotonic clock, `spacing` (seconds) replaces the usual one. Raises
        FetchError (busy) when the turn would come after the deadline.
        """
        digest = hashlib.blake2b(host.encode("utf-8", "replace"), digest_size=8).digest()
        slot = int.from_bytes(digest[:4], "little") % SLOTS
        # Threads of one process share a lock first: flock belongs to the open file, and polling costs sleeps.
        if not self._threads[slot].acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise _busy(host)
        try:
            notes = self._open(f"{slot:03x}")
            try:
                _lock(notes, host, deadline)
                # Also noted before the request: a worker that is killed in it must not free the host at once.
                _wait_and_note(notes, digest, host, deadline, self._spacing if spacing is None else spacing)
                try:
                    yield
                finally:
                    # Spacing counts from the answer: how long a request took to get through is not known.
                    _note(notes, digest)
            finally:
                os.close(notes)
        finally:
            self._threads[slot].release()

    def _open(self, name: str) -> int:
        """Open a slot's file, in a directory that is made again if it is gone.

        Raises FetchError (busy) if that fails: nothing was asked, and no publisher is to blame.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            # A folder of empty files looks as if it could be deleted; the next request makes it again.
            try:
                return os.open(self._directory / name, flags, 0o644)
            except FileNotFoundError:
                self._directory.mkdir(parents=True, exist_ok=True)
                return os.open(self._directory / name, flags, 0o644)
        except OSError as error:
            detail = f"this machine's folder of locks cannot be used: {error.strerror}"
            raise FetchError(Failure.BUSY, detail) from error


def _lock(file: int, host: str, deadline: float) -> None:
    """Lock the slot against other processes. `flock` knows no timeout, hence the short sleeps."""
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            remaining_seconds = deadline - time.monotonic()
            if remaining_seconds <= 0:
                raise _busy(host) from None
            time.sleep(min(pause, remaining_seconds))
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)


def _wait_and_note(file: int, digest: bytes, host: str, deadline: float, spacing: float) -> None:
    """Sleep until the host's last request is `spacing` ago, then note this start (it may be killed)."""
    now = time.monotonic()
    last = _read(file).get(digest)
    # a time in the future was noted before the machine's last boot
    due = now if last is None or last > now else max(now, last + spacing)
    if due > deadline:
        raise _busy(host)
    if due > now:
        time.sleep(due - now)
    _note(file, digest)


def _note(file: int, digest: bytes) -> None:
    """Record that the host is busy now, beside the latest of the other hosts in this slot."""
    times = _read(file)
    times.pop(digest, None)
    others = sorted(times.items(), key=lambda note: note[1])[1 - _HOSTS_PER_SLOT :]
    os.pwrite(file, b"".join(_NOTE.pack(*note) for note in [*others, (digest, time.monotonic())]), 0)


def _read(file: int) -> dict[bytes, float]:
    raw = os.pread(file, _HOSTS_PER_SLOT * _NOTE.size, 0)
    return dict(_NOTE.iter_unpack(raw[: len(raw) - len(raw) % _NOTE.size]))


def _busy(host: str) -> FetchError:
    return FetchError(Failure.BUSY, f"no turn for {host} before the deadline")
