"""A terminal whose work really hangs ends itself, once: the message that comes back finds its lease over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from crawler.messages import Batch, encode
from crawler.settings import BASE_DIR
from tests.crawler.terminals.conftest import batch

FETCH = """
import sys, time
import crawler.celery
from crawler.terminals import serve
serve.STUCK_SECONDS = 0.5
serve.serve_host = lambda *_: time.sleep(3600)
from crawler.terminals import tasks
tasks.fetch.run([sys.stdin.read()])
"""


def fetched(given: Batch) -> int:
    """What a terminal ends with that is given this batch, and hangs."""
    known = os.environ | {"DATABASE_URL": "none", "SECRET_KEY": "x", "CELERY_BROKER_URL": "memory://"}
    done = subprocess.run(
        [sys.executable, "-c", FETCH],
        input=encode(given).encode(),
        env=known,
        cwd=BASE_DIR,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    return done.returncode


def test_work_that_hangs_kills_its_terminal_once_and_not_when_it_comes_again() -> None:
    given = batch(seconds=8.0, host="news.example")
    assert fetched(given) == -signal.SIGKILL
    assert time.time() > given.expires, "not before its lease ended"
    assert fetched(given) == 0
