"""The supervisor of one machine's processes: starts them together, restarts dead ones, ends all at once.

Each child has a process group of its own, so that Ctrl-C in the terminal reaches only the supervisor, which
ends users of the database before the database.
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

from crawler.isolation import lifeline
from crawler.isolation.forks import Process, fork
from crawler.postgresql.credentials import EmbeddedError
from crawler.postgresql.postgresql import PostgreSQL

LOOK_SECONDS = 0.2
SAY_SECONDS = 15.0
MAX_PAUSE_SECONDS = 60.0
# A child that ran this long was healthy: its next restart does not wait for the failures before.
HEALTHY_SECONDS = 60.0


class Stop(BaseException):
    """An exception raised in the main thread by SIGINT and SIGTERM.

    It does not derive from Exception, so that no `except Exception` swallows it.
    """


Launch = Callable[[Mapping[str, str], int], Process]
"""A function that starts a process with additions to its environment and a descriptor for it to keep open.

Raises OSError when the process cannot be started now.
"""


@dataclass
class Child:
    """A process to keep alive, and how to start it.

    Only this child consumes its `queues`. A child `on_demand` runs while it is `wanted`: from the first
    message that waits for it until it ends by itself because it was idle. `ready` is the monotonic time at
    which it reported that it is ready, None before. `worked` is its processor time in clock ticks when it was
    last seen to grow, at the monotonic time `seen`.
    """

    name: str
    launch: Launch
    queues: tuple[str, ...] = ()
    on_demand: bool = False
    wanted: bool = False
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
        """Start the process, with a pipe on which it reports that it is ready."""
        self.started, self.ready = time.monotonic(), None
        self.worked, self.seen = 0, self.started
        request = {lifeline.READY_FD: str(ready_fd), lifeline.PROCESS_NAME: self.name}
        self.process = self.launch(request, ready_fd)

    def idle(self, now: float) -> float:
        """Return the seconds for which neither the process nor its children have used the processor."""
        if self.process is None or not self.process.pid:  # its fork server is not that far
            return 0.0
        worked = _processor_time(self.process.pid)
        if worked > self.worked:
            self.worked, self.seen = worked, now
        return now - self.seen

    def ended_in_order(self, code: int) -> bool:
        """Return whether a child that ended with this exit code did so because it wanted to."""
        return code == 0 and self.ready is not None

    def plan_restart(self, now: float, code: int = 1) -> float:
        """Count a failure and return the pause before the next start: 0.5 s, doubling to a minute.

        A child that was ready and exited with 0 has ended because it was idle or grew too large: no failure.
        """
        if self.ended_in_order(code):
            self.due = now + 0.5
            return 0.5
        self.failures = 1 if now - self.started > HEALTHY_SECONDS else self.failures + 1
        pause: float = min(0.5 * 2.0 ** (self.failures - 1), MAX_PAUSE_SECONDS)
        self.due = now + pause
        return pause


class Supervisor:
    """The keeper of the children, and of the embedded server if there is one, until Stop is raised."""

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

    def start(self, patience: float, up: Callable[[Child], None]) -> None:
        """Start all children that are not on demand, together, and return when each is ready.

        A slow machine may take any time; now and then a line names the children that are awaited. `up` is
        called with each child as it becomes ready. Raises EmbeddedError when one ends before it is ready, or
        does nothing for `patience` seconds.
        """
        for child in self.children:
            if child.on_demand:
                self._release_tasks(child)
            else:
                self._start(child)
        last_report = time.monotonic()
        while waiting := [child for child in self._permanent() if child.ready is None and not child.failures]:
            for child in waiting:
                self._check(child, patience)
            for child in self.children:
                if child not in waiting:
                    self._look_after(child)
            self._revive_server()
            for child in self._heard(LOOK_SECONDS):
                up(child)
            if time.monotonic() - last_report >= SAY_SECONDS:
                last_report = time.monotonic()
                names = ", ".join(child.name for child in waiting)
                seconds = last_report - min(child.started for child in waiting)
                self._say(f"still waiting for {names} after {seconds:.0f} s; this machine is slow or busy")

    def _permanent(self) -> list[Child]:
        return [child for child in self.children if not child.on_demand]

    def _check(self, child: Child, patience: float) -> None:
        """Raise EmbeddedError unless an awaited child runs and works."""
        if not child.running:
            raise EmbeddedError(f"{child.name} ended at once; what it said stands above")
        if child.idle(time.monotonic()) >= patience:
            raise EmbeddedError(f"{child.name} has done nothing for {patience:.0f} s")

    def watch(self) -> None:
        """Restart dead children forever. Only Stop (or a bug) ends it."""
        while True:
            self._revive_server()
            for child in self.children:
                self._look_after(child)
            for child in self._heard(LOOK_SECONDS):
                if not child.on_demand or child.failures:
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
        """Kill the child with all its descendants."""
        if child.process is not None:
            child.process.kill()
            child.process.wait()

    def _look_after(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is not None and not child.running:
            code, child.process = child.process.poll() or 0, None
            pause = child.plan_restart(now, code)
            if child.on_demand and child.ended_in_order(code):
                # What it had taken in advance is seen again, and brings it back.
                child.wanted = self._release_tasks(child) > 0
                return
            reason = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            self._say(f"{child.name} ended ({reason}); starting it again in {pause:.1f} s")
        if child.process is None and now >= child.due and (child.wanted or not child.on_demand):
            self._start(child)

    def _release_tasks(self, child: Child) -> int:
        """Put what an ended run of the child had taken back into its queues. Returns the number of tasks."""
        count = self._release(child.queues) if self._release is not None and child.queues else 0
        if count:
            self._say(f"{count} unfinished tasks of {child.name} go back to their queues")
        return count

    def _start(self, child: Child) -> None:
        """Start the child, after the tasks that a killed run had taken are back in their queues."""
        self._release_tasks(child)
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
        """Return the children that have newly reported that they are ready, and note which are wanted.

        Waits up to `timeout` seconds for a report.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            if not selector.select(timeout):
                return []
        names = set(os.read(self._pipe, 4096).decode().splitlines())
        for child in self.children:
            child.wanted = child.wanted or lifeline.WANTED + child.name in names
        ready_children = [child for child in self.children if child.name in names and child.ready is None]
        for child in ready_children:
            child.ready = time.monotonic()
        return ready_children


def raise_stop_on_signals() -> None:
    """Raise Stop at the first SIGINT or SIGTERM, and ignore later ones while everything is being ended."""

    def handle(number: int, frame: object) -> None:
        for stop_signal in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop_signal, signal.SIG_IGN)
        raise Stop(signal.Signals(number).name)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)


def forked(run: Callable[[], object], inherited: Sequence[int] = ()) -> Launch:
    """Return a Launch that forks this process to run the function, with these descriptors open."""

    def launch(arguments: Mapping[str, str], ready_fd: int) -> Process:
        def begin() -> None:
            os.environ.update(arguments)
            run()

        return fork(begin, arguments[lifeline.PROCESS_NAME], [ready_fd, *inherited])

    return launch


def _processor_time(group: int) -> int:
    """Return the processor time of a process group in clock ticks, ended processes included."""
    used = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # proc(5): after the name in parentheses come state, ppid, pgrp; utime to cstime are 12th to 15th.
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                used += sum(int(ticks) for ticks in fields[11:15])
    return used
