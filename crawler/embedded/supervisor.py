"""Keeps the processes of one machine running: starts them together, replaces the dead, ends all at once.

Each child has a process group of its own, so that a Ctrl-C in the terminal reaches the supervisor alone
and the end is orderly: first those who use the database, then the database.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.embedded.credentials import EmbeddedError
from crawler.embedded.postgresql import PostgreSQL
from crawler.process import lifeline
from crawler.process.forks import Process, fork

LOOK_SECONDS = 0.2
SAY_SECONDS = 15.0
LONGEST_PAUSE_SECONDS = 60.0
# A child that ran this long was healthy: its next restart does not wait for the failures before.
HEALTHY_SECONDS = 60.0


class Stop(BaseException):
    """Raised in the main thread by SIGINT and SIGTERM; no handler of Exception swallows it."""


Launch = Callable[[Mapping[str, str], int], Process]
"""Starts a process with these words added to its environment; it keeps the descriptor open.

Raises OSError when it cannot be started now.
"""


@dataclass
class Child:
    """One process to keep alive, and how it is started.

    `queues` are those that only this child consumes. `later` ones are started when the others serve. `ready`
    is a monotonic time, None until it says so; `worked` is the processor time that it had used when it was
    last seen to have used more, at `seen`.
    """

    name: str
    launch: Launch
    queues: tuple[str, ...] = ()
    later: bool = False
    process: Process | None = None
    started: float = 0.0
    ready: float | None = None
    failures: int = 0
    due: float = 0.0
    worked: int = 0
    seen: float = 0.0

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self, ready_fd: int) -> None:
        """Start the process, with a pipe on which it says that it is ready."""
        self.started, self.ready = time.monotonic(), None
        self.worked, self.seen = 0, self.started
        words = {lifeline.READY_FD: str(ready_fd), lifeline.PROCESS_NAME: self.name}
        self.process = self.launch(words, ready_fd)

    def idle(self, now: float) -> float:
        """Seconds for which neither it nor its own children have used the processor."""
        if self.process is None or not self.process.pid:  # its fork server is not that far
            return 0.0
        worked = _processor_time(self.process.pid)
        if worked > self.worked:
            self.worked, self.seen = worked, now
        return now - self.seen

    def plan_restart(self, now: float) -> float:
        """Count the failure and return the pause before the next start: 0.5 s, doubling to a minute."""
        self.failures = 1 if now - self.started > HEALTHY_SECONDS else self.failures + 1
        pause: float = min(0.5 * 2.0 ** (self.failures - 1), LONGEST_PAUSE_SECONDS)
        self.due = now + pause
        return pause


class Supervisor:
    """Watches children, and the embedded server where there is one, until Stop is raised."""

    def __init__(
        self,
        children: Sequence[Child],
        say: Callable[[str], None],
        server: PostgreSQL | None = None,
        release: Callable[[tuple[str, ...]], int] | None = None,
    ) -> None:
        self.children = children
        self._say = say
        self._server = server
        self._release = release
        self._pipe, self._ready_fd = os.pipe()
        os.set_blocking(self._pipe, False)

    def start(self, patience: float, up: Callable[[Child], None], *, later: bool = False) -> None:
        """Start the first children, or the `later` ones, together and return when each is ready.

        On a slow machine that takes as long as it takes, and now and then a line says what is awaited; `up`
        hears of each as it comes. Raises EmbeddedError when one of the first ends before, or does nothing for
        `patience` seconds; a later one that ends is started again by `watch`.
        """
        chosen = [child for child in self.children if child.later == later]
        for child in chosen:
            self._start(child)
        said = time.monotonic()
        while waiting := [child for child in chosen if child.ready is None and not child.failures]:
            for child in waiting:
                self._check(child, patience)
            for child in self.children:
                if child.started and child not in waiting:
                    self._look_after(child)
            self._revive_server()
            for child in self._heard(LOOK_SECONDS):
                up(child)
            if time.monotonic() - said >= SAY_SECONDS:
                said = time.monotonic()
                names = ", ".join(child.name for child in waiting)
                seconds = said - min(child.started for child in waiting)
                self._say(f"still waiting for {names} after {seconds:.0f} s; this machine is slow or busy")

    def _check(self, child: Child, patience: float) -> None:
        """Whether a child that is awaited may still come."""
        if child.running and child.idle(time.monotonic()) < patience:
            return
        if child.running:
            problem = f"{child.name} has done nothing for {patience:.0f} s"
        else:
            problem = f"{child.name} ended at once; what it said stands above"
        if not child.later:
            raise EmbeddedError(problem)
        self._say(problem)
        self._kill(child)
        self._look_after(child)

    def watch(self) -> None:
        """Replace whatever dies, for ever; only Stop (or a bug) ends it."""
        while True:
            self._revive_server()
            for child in self.children:
                self._look_after(child)
            for child in self._heard(LOOK_SECONDS):
                self._say(f"{child.name} is back after {time.monotonic() - child.started:.1f} s")

    def stop(self, patience: float = 10.0) -> None:
        """Ask all children to end, kill those that do not within `patience` seconds, then end the server."""
        for child in self.children:
            if child.process is not None and child.running:
                child.process.terminate()
        deadline = time.monotonic() + patience
        for child in self.children:
            if child.process is not None:
                try:
                    child.process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    self._say(f"{child.name} does not end; killed")
                    self._kill(child)
        if self._server is not None:
            self._server.stop()

    def _kill(self, child: Child) -> None:
        """End it with all that it started."""
        if child.process is not None:
            child.process.kill()
            child.process.wait()

    def _look_after(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is not None and not child.running:
            code, child.process = child.process.poll() or 0, None
            pause = child.plan_restart(now)
            reason = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            self._say(f"{child.name} ended ({reason}); starting it again in {pause:.1f} s")
        if child.process is None and now >= child.due:
            self._start(child)

    def _start(self, child: Child) -> None:
        """Start it, after what a run that was killed had taken from its queues is back in them."""
        count = self._release(child.queues) if self._release is not None and child.queues else 0
        if count:
            self._say(f"{count} unfinished tasks of {child.name} go back to their queues")
        try:
            child.start(self._ready_fd)
        except OSError as error:
            pause = child.plan_restart(time.monotonic())
            self._say(f"{child.name} cannot be started ({error}); trying again in {pause:.1f} s")

    def _revive_server(self) -> None:
        if self._server is not None and not self._server.running:
            began = time.monotonic()
            self._say("PostgreSQL ended; starting it again")
            self._server.recover()
            self._say(f"PostgreSQL is back after {time.monotonic() - began:.1f} s")

    def _heard(self, timeout: float) -> list[Child]:
        """Children that said they are ready, for the first time since their start; waits for a word."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            if not selector.select(timeout):
                return []
        names = set(os.read(self._pipe, 4096).decode().split())
        heard = [child for child in self.children if child.name in names and child.ready is None]
        for child in heard:
            child.ready = time.monotonic()
        return heard


def raise_stop_on_signals() -> None:
    """The first SIGINT or SIGTERM raises Stop; the ones after it are ignored while all is being ended."""

    def handle(number: int, frame: object) -> None:
        for known in (signal.SIGINT, signal.SIGTERM):
            signal.signal(known, signal.SIG_IGN)
        raise Stop(signal.Signals(number).name)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)


def forked(run: Callable[[], object]) -> Launch:
    """A fork of this process, which runs the function."""

    def launch(words: Mapping[str, str], ready_fd: int) -> Process:
        def begin() -> None:
            os.environ.update(words)
            run()

        return fork(begin, words[lifeline.PROCESS_NAME], [ready_fd])

    return launch


def _processor_time(group: int) -> int:
    """What the processes of a group have used so far, those that ended included (clock ticks)."""
    used = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # proc(5): after the name in parentheses come state, ppid, pgrp; utime to cstime are 12th to 15th.
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                used += sum(int(ticks) for ticks in fields[11:15])
    return used
