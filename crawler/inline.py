"""Both sides in one process: hand out, serve, check in until nothing is left to do now.

For the command line when no worker runs, for tests and for benchmarks; the same functions as the tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from crawler.controller.check_in import check_in
from crawler.controller.leases import hand_out
from crawler.messages import Batch, Report, decode, encode
from crawler.terminals.client import terminal_client, terminal_threads
from crawler.terminals.serve import serve


def work_off(progress: Callable[[int], None] | None = None) -> int:
    """Serve everything selected or waiting; how many reports came. Messages are encoded as on a queue."""
    served = 0
    while batches := [decode(Batch, encode(batch)) for batch in hand_out(datetime.now(UTC))]:
        for reports in serve(terminal_client(), batches, terminal_threads()):
            check_in([decode(Report, encode(report)) for report in reports])
            served += len(reports)
            if progress is not None:
                progress(served)
    return served
