"""Controller and terminal in one process: hand out, serve and check in until no work is left now.

Used by commands when no worker runs, by tests and by benchmarks; it calls the same functions as the tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out
from crawler.messages import Batch, Report, decode, encode
from crawler.terminals.client import terminal_client, terminal_threads
from crawler.terminals.serve import serve, serve_host

TEND_SECONDS = 2.0
"""Interval at which crawls and visits are tended in this process."""
IDLE_SECONDS = 0.1


def work_off(progress: Callable[[int], None] | None = None) -> int:
    """Serve all selected and waiting work. Returns the number of reports.

    Messages are encoded as on a queue.
    """
    served = 0
    while batches := [decode(Batch, encode(batch)) for batch in hand_out(datetime.now(UTC))]:
        for reports in serve(terminal_client(), batches, terminal_threads()):
            check_in([decode(Report, encode(report)) for report in reports])
            served += len(reports)
            if progress is not None:
                progress(served)
    return served


class Rounds:
    """A loop that hands out and checks in while hosts are being served, so that a slow host delays no other.

    `threads` hosts are served in parallel; each `step` does what can be done now.
    """

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="host")
        self._room = threads
        self._out: set[Future[Report]] = set()

    def __enter__(self) -> Rounds:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)

    def step(self, patience: float) -> int:
        """Hand out work, wait up to `patience` seconds for reports and check them in.

        Returns their number.
        """
        room = self._room - len(self._out)
        if room > 0:
            for batch in hand_out(datetime.now(UTC), room):
                self._out.add(self._threads.submit(serve_host, terminal_client(), batch))
        if not self._out:
            return 0
        finished, self._out = wait(self._out, timeout=patience, return_when=FIRST_COMPLETED)
        if finished:
            check_in([future.result() for future in finished])
        return len(finished)

    @property
    def busy(self) -> bool:
        """True while hosts are being served."""
        return bool(self._out)
