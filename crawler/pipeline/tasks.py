"""The phases of the pipeline: detect and transform without a database, index and extract with it."""

# ruff: noqa: PLC0415 - each phase loads what it does

from __future__ import annotations

import os
import socket
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import asked, tended
from crawler.messages import decode_all, encode


def pump() -> None:
    """Send the next batches of documents to their phases."""
    from crawler.pipeline.handing import hand_out

    tasks: dict[str, Any] = {"detect": detect, "transform": transform, "index": index, "extract": extract}
    for message in hand_out(datetime.now(UTC)):
        tasks[message.phase].delay(message.content)


@receiver(tended)
def go_on(now: datetime, **_: object) -> None:
    """Documents that were lost with their worker, and the next batches."""
    from crawler.pipeline import documents

    documents.sweep(now)
    pump()


@receiver(asked)
def any_document_waits(**_: object) -> bool:
    """One that is not through."""
    from crawler.pipeline.documents import WAITING_FOR
    from crawler.pipeline.models import Document

    return Document.objects.filter(state__in=WAITING_FOR.values()).exists()


@shared_task
def detect(work: str) -> None:
    """What documents are."""
    _phase(work)


@shared_task
def transform(work: str) -> None:
    """Documents to triples."""
    _phase(work)


@shared_task
def settle(done: str) -> None:
    """Write down what detect or transform made of a batch, and send on what comes next."""
    from crawler.pipeline import documents
    from crawler.pipeline.messages import Done

    for batch in decode_all(Done, [done]):
        documents.settle(batch)
    pump()


@shared_task
def index(lease: str) -> None:
    """Triples into the graph."""
    from crawler.pipeline import index as phase

    phase.index(uuid.UUID(lease), _worker())
    pump()


@shared_task
def extract(lease: str) -> None:
    """The next addresses out of the graph; crawls that got some are handed out at once."""
    from crawler.engine.tasks import dispatch
    from crawler.pipeline import extract as phase

    if phase.extract(uuid.UUID(lease), _worker()):
        dispatch()
    pump()


def _phase(work: str) -> None:
    """A batch of detect or transform, without a database; one whose lease is over is left alone."""
    from crawler.pipeline.messages import PhaseWork
    from crawler.pipeline.phases import run
    from crawler.pipeline.plugins import call

    for batch in decode_all(PhaseWork, [work]):
        if time.time() < batch.expires:
            settle.delay(encode(run(batch, _worker(), call)))


def _worker() -> str:
    """This process's name in figures of the pipeline."""
    return f"{socket.gethostname()}-{os.getpid()}"
