"""A small Celery application of its own for the broker's tests, run as `celery -A <this> worker`.

TEST_BROKER_URL and TEST_VISIBILITY (seconds) come from the environment; a finished task leaves a file.
"""

import os
import time
from pathlib import Path

from celery import Celery
from celery.signals import worker_shutting_down
from kombu.transport import TRANSPORT_ALIASES

from crawler import environment
from crawler.isolation.lifeline import ending

TRANSPORT_ALIASES["pgmq"] = "crawler.postgresql.transport:Transport"
URL = os.environ["TEST_BROKER_URL"]

app = Celery("broker_worker", broker=URL, set_as_current=False)
app.conf.update(
    broker_transport_options=environment.transport_options(URL, int(os.environ["TEST_VISIBILITY"])),
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_lost_wait=0.5,
    worker_enable_remote_control=False,
    task_ignore_result=True,
    task_default_queue="freshet_test",
)


@worker_shutting_down.connect
def end(**_):
    """As crawler.celery does."""
    ending.set()


@app.task(name="work")
def work(directory: str, number: int, seconds: float) -> None:
    """Write `begun` and, when the work is over, `done`."""
    Path(directory, f"begun-{number}").touch()
    time.sleep(seconds)
    Path(directory, f"done-{number}").touch()
