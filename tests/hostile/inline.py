"""Both sides in this process, turn by turn, with every message encoded and decoded as on a queue."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from benchmarks.hostile.api import Api
from benchmarks.hostile.cells import Run, cells_of
from benchmarks.hostile.kind import Kind, World
from benchmarks.hostile.server import Server
from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out, sweep
from crawler.frontier import crawls
from crawler.messages import Batch, Report, decode, encode
from crawler.notices import sending
from crawler.notices.models import Notification
from crawler.notices.sending import send_for
from crawler.pipeline.inline import step as pipeline_step
from crawler.pipeline.sparql.replica import Replica
from crawler.terminals.client import terminal_client, terminal_threads
from crawler.terminals.readers import read
from crawler.terminals.serve import serve
from recrawl.visiting import visits
from tests.factories import make_token, make_user

PAUSE = 0.05
SECONDS, REST, STALL = 240.0, 0.3, 25.0
SEND_SECONDS = 8.0
"""Of a message, whose programs wait longer in the product."""


class Tracebacks(logging.Handler):
    """Keeps what was logged with a traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        if record.exc_info:
            self.found.append(
                f"{record.getMessage()}\n{logging.Formatter().formatException(record.exc_info)}"
            )


class Engine:
    """Does what the workers of `manage.py run` do."""

    def __init__(self, *, graph: bool = False) -> None:
        self.replica = Replica() if graph else None
        read(len, b"")  # a reader's start takes seconds, which no lease has to spare
        self.troubles: list[str] = []

    def step(self) -> bool:
        """One turn of everything, whether there was something to do; what is raised is kept in words."""
        done = 0
        for turn in (self._fetch, self._tend, self._graph, self._send):
            try:
                done += turn()
            except Exception as error:
                self.troubles.append(f"{turn.__name__}: {type(error).__name__}: {error}"[:500])
        if not done:
            time.sleep(PAUSE)
        return bool(done)

    def _fetch(self) -> int:
        served = 0
        batches = [decode(Batch, encode(batch)) for batch in hand_out(datetime.now(UTC))]
        for reports in serve(terminal_client(), batches, terminal_threads()):
            check_in([decode(Report, encode(report)) for report in reports])
            served += len(reports)
        return served

    def _tend(self) -> int:
        now = datetime.now(UTC)
        crawls.tend(now)
        visits.tend(now)
        return sweep(now)

    def _send(self) -> int:
        due = Notification.objects.due(datetime.now(UTC)).count()
        send_for(0.1)
        return due

    def _graph(self) -> int:
        done = pipeline_step()
        if self.replica is not None:
            done += self.replica.follow()
        return done


def run_kind(kind: Kind, base: str, settings: Any) -> dict[str, list[str]]:
    """Let all cells of a kind be worked on together; what is wrong by poison, under "" what is no one's."""
    settings.FEED_ARTICLE_PAGES = kind.shape in {"page", "robots"}
    user = make_user("admin", staff=True, is_superuser=True)
    api = Api(base, make_token(user).removeprefix("Token "))
    api.sign_in("admin", "water")
    cells = cells_of([kind], quick=True)
    log = Tracebacks()
    logging.getLogger().addHandler(log)
    try:
        with Server([cell.address for cell in cells]) as server:
            run = Run(World(api, server), cells)
            engine = Engine(graph=kind.name == "graph query")
            run.begin()
            with patch.object(sending, "SECONDS", SEND_SECONDS):
                run.work(engine.step, SECONDS, REST, STALL)
    finally:
        logging.getLogger().removeHandler(log)
    found = {cell.poison.name: faults for cell, faults in run.faults.items() if faults}
    whole = [*engine.troubles, *log.found]
    return found | ({"": whole} if whole else {})


def told(found: dict[str, list[str]]) -> str:
    """What is wrong, for whoever reads a failing test: a line for each cell."""
    return "\n".join(f"{name or 'all of them'}: {'; '.join(faults)[:1500]}" for name, faults in found.items())
