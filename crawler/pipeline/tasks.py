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
from crawler.frontier.signals import binaries_wanted, more_expected, query_tried
from crawler.messages import decode_all, encode


def pump() -> None:
    """Send the next batches of documents to their phases. Leaves it to tending in a burst of retrievals."""
    from crawler.engine.bursts import burst
    from crawler.pipeline.dispatching import hand_out

    if burst.should_wait():
        return
    tasks: dict[str, Any] = {"detect": detect, "transform": transform, "index": index, "extract": extract}
    for message in hand_out(datetime.now(UTC)):
        tasks[message.phase].delay(message.content)


@receiver(tended)
def go_on(now: datetime, **_: object) -> None:
    """Release documents that were lost with their worker, and send the next batches."""
    from crawler.pipeline import documents

    documents.sweep(now)
    pump()
    from crawler.pipeline.leading import led_crawls

    for pk in led_crawls():
        lead_crawl.delay(pk)


@receiver(asked)
def any_document_waits(**_: object) -> bool:
    """Return whether a document is not finished yet."""
    from crawler.pipeline.documents import WAITING_FOR
    from crawler.pipeline.models import Document

    return Document.objects.filter(state__in=WAITING_FOR.values()).exists()


@receiver(binaries_wanted)
def a_transformer_wants_binaries(**_: object) -> bool:
    """Return whether a transformer names binary documents among its types."""
    from crawler.pipeline.documents import takes_binaries

    return takes_binaries()


@receiver(more_expected)
def documents_are_under_way(crawl: Any, **_: object) -> bool:
    """Return whether a document of the crawl may still name further URLs."""
    from crawler.pipeline.models import Document

    if not crawl.into_graph:
        return False
    from crawler.pipeline.leading import may_find_more

    ended = [Document.State.DONE, Document.State.DEAD]
    is_under_way = Document.objects.filter(crawl=crawl).exclude(state__in=ended).exists()
    return is_under_way or may_find_more(crawl, datetime.now(UTC))


@receiver(query_tried)
def try_query(query: str, **_: object) -> dict[str, float] | str:
    """Return the addresses that a query names over what is stored, or why it names none."""
    from crawler.pipeline.leading import addresses
    from crawler.pipeline.sparql.run import QueryError

    try:
        return addresses(query)
    except QueryError as error:
        return str(error)


@shared_task
def lead_crawl(pk: int) -> None:
    """Ask the query that leads a crawl, and dispatch it if it got URLs."""
    from crawler.engine.tasks import dispatch
    from crawler.pipeline.leading import lead

    if lead(pk):
        dispatch()


@shared_task
def detect(work: str) -> None:
    """Detect the types of a batch of documents."""
    _phase(work)


@shared_task
def transform(work: str) -> None:
    """Convert a batch of documents to triples."""
    _phase(work)


@shared_task
def settle(message: str) -> None:
    """Store the results of detect or transform for a batch, and send the next batches."""
    from crawler.pipeline import documents
    from crawler.pipeline.messages import Done

    for batch in decode_all(Done, [message]):
        documents.settle(batch)
    pump()


@shared_task
def index(lease: str) -> None:
    """Store the triples of a batch in the graph."""
    from crawler.pipeline import index as phase

    phase.index(uuid.UUID(lease), _worker())
    pump()


@shared_task
def extract(lease: str) -> None:
    """Queue addresses found in the graph, and dispatch the crawls that got some."""
    from crawler.engine.tasks import dispatch
    from crawler.pipeline import extract as phase

    if phase.extract(uuid.UUID(lease), _worker()):
        dispatch()
    pump()


def _phase(work: str) -> None:
    """Run a batch of detect or transform without a database, unless its lease is over."""
    from crawler.pipeline.messages import PhaseWork
    from crawler.pipeline.phases import run
    from crawler.pipeline.plugins import call

    for batch in decode_all(PhaseWork, [work]):
        if time.time() < batch.expires:
            settle.delay(encode(run(batch, _worker(), call)))


def _worker() -> str:
    """Return this process's name in figures of the pipeline."""
    return f"{socket.gethostname()}-{os.getpid()}"
