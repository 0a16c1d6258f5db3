"""The Celery tasks: thin, idempotent, and importing their side only when they run.

A terminal process never imports the controller, and the controller never the parsers of web bytes.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from celery import shared_task

from crawler.messages import Batch, Message, Report, Reread, StoredPage, decode, encode

log = logging.getLogger(__name__)

# Hosts in one message to a terminal, which reports on each as it comes: a slow one holds up no other.
MOST_HOSTS = 32
# Stored pages that a tick lets terminals read again.
MOST_REREAD = 320
# A terminal's threads send one at a time: kombu's pool closes a channel now and then while another uses it.
_sending = threading.Lock()


def _read(kind: type[Message], messages: Sequence[str]) -> list[Message]:
    """The messages; one that is damaged, or none of ours, is dropped with a word, and harms no other."""
    read = []
    for message in messages:
        try:
            read.append(decode(kind, message))
        except ValueError as error:
            log.warning("a message was dropped: %s", error)
    return read


@shared_task(name="crawler.tasks.tick")
def tick() -> None:
    """Beat's message: one tick, then hand out, then a pulse through the queues."""
    from django.conf import settings

    from articles.pages import outdated
    from crawler.controller import pulses, retention
    from crawler.controller import tick as controller
    from crawler.models import Deployment
    from feeds import planning
    from feeds.laboratory import experiments
    from feeds.selection import look_ahead

    now = datetime.now(UTC)
    Deployment.note_settings()
    if controller.lately(now) or controller.tick(now) is None:
        return
    dispatch()
    if planning.claim(now):
        plan.delay()
    for forgotten in experiments.forgotten(now):
        experiment.delay(forgotten)
    dispatch.apply_async(countdown=look_ahead().total_seconds())
    for queue in pulses.QUEUES:
        send_pulse(queue, now)
    enrich.delay()
    pages = [encode(page) for page in outdated(MOST_REREAD)]
    for start in range(0, len(pages), MOST_HOSTS):
        # Of no use to a terminal that comes later: the next tick sends them again.
        reread.apply_async((pages[start : start + MOST_HOSTS],), expires=settings.CRAWL_TICK_SECONDS)
    retention.tidy(now)


@shared_task(name="crawler.tasks.plan")
def plan() -> None:
    """Once a day, on the queue for work that can wait: every feed's plan; contents of deleted crawls go."""
    from crawler.frontier import crawls
    from feeds import planning

    planning.plan(datetime.now(UTC))
    crawls.forget_bodies()


@shared_task(name="crawler.tasks.experiment")
def experiment(pk: int) -> None:
    """One replay of the policy laboratory, then word to do the next: none holds a worker for long."""
    from feeds.laboratory import experiments

    pause = experiments.advance(pk)
    if pause is not None:
        experiments.send(pk, pause)


@shared_task(name="crawler.tasks.tend")
def tend() -> None:
    """Every few seconds: limits and time control of crawls, leases that were lost; what goes on next."""
    from articles.enrichment.models import Enrichment
    from crawler.controller import leases, pulses
    from crawler.frontier import crawls
    from crawler.pipeline import documents
    from recrawl import visits

    now = datetime.now(UTC)
    for queue in pulses.unanswered(now):
        send_pulse(queue, now)
    going = crawls.tend(now)
    if leases.sweep(now) or going:
        dispatch()
    documents.sweep(now)
    pump()
    if visits.has_work(now):
        recrawl.delay()
    if Enrichment.objects.waiting().exists():
        enrich.delay()


@shared_task(name="crawler.tasks.recrawl")
def recrawl() -> None:
    """Visits to watched sites: begun when due, taken on by a round, ended; what they want goes out."""
    from recrawl import visits

    more = visits.tend(datetime.now(UTC))
    dispatch()
    if more:
        recrawl.delay()


@shared_task(name="crawler.tasks.enrich")
def enrich() -> None:
    """Keywords, categories, summaries and stories of articles that wait for them."""
    from articles.enrichment.enrich import enrich_for

    if enrich_for(seconds=20.0):
        enrich.delay()


@shared_task(name="crawler.tasks.reread")
def reread(pages: Sequence[str]) -> None:
    """A terminal reads stored pages again, because what it reads them with is newer than what they have."""
    from crawler.terminals.page import read_again

    again = [encode(Reread(page.permit, read_again(page))) for page in _read(StoredPage, pages)]
    with _sending:
        take_reread.delay(again)


@shared_task(name="crawler.tasks.take_reread")
def take_reread(again: Sequence[str]) -> None:
    """Store what they say now."""
    from articles.pages import take_again

    take_again(_read(Reread, again))


@shared_task(name="crawler.tasks.dispatch")
def dispatch() -> None:
    """Hand out what is selected and waiting, as far as hosts are free."""
    from crawler.controller import leases

    batches = leases.hand_out(datetime.now(UTC))
    for start in range(0, len(batches), MOST_HOSTS):
        part = batches[start : start + MOST_HOSTS]
        expires = datetime.fromtimestamp(max(batch.expires for batch in part), UTC)
        fetch.apply_async(([encode(batch) for batch in part],), expires=expires)


@shared_task(name="crawler.tasks.fetch")
def fetch(batches: Sequence[str]) -> None:
    """A terminal's work: serve the batches and send the reports on."""
    from crawler.terminals.client import terminal_client, terminal_threads
    from crawler.terminals.serve import StuckError, packed, serve

    try:
        for reports in serve(terminal_client(), _read(Batch, batches), terminal_threads()):
            encoded = [packed(report) for report in reports]
            with _sending:
                store.delay(encoded)
    except StuckError as error:
        log.critical("this terminal ends itself: %s", error)
        os.kill(os.getpid(), signal.SIGKILL)


@shared_task(name="crawler.tasks.store")
def store(reports: Sequence[str]) -> None:
    """Check reports in, and give the hosts that became free their next work."""
    from crawler.controller import pulses
    from crawler.controller.check_in import check_in

    check_in(_read(Report, reports))
    pulses.worked(datetime.now(UTC))
    dispatch()


def send_pulse(queue: str, now: datetime) -> None:
    """A pulse through the queue; one that comes late is worth nothing."""
    from crawler.controller import pulses

    pulses.sent(queue, now)
    pulse.apply_async(args=(queue,), queue=queue, expires=2 * pulses.AGAIN.total_seconds())


@shared_task(name="crawler.tasks.pulse")
def pulse(queue: str) -> None:
    """A sign of life: whoever serves `queue` answers on the queue `store`."""
    with _sending:
        pulse_answered.delay(queue)


@shared_task(name="crawler.tasks.pulse_answered")
def pulse_answered(queue: str) -> None:
    """Write down that a worker of `queue` lives."""
    from crawler.controller import pulses

    pulses.answered(queue, datetime.now(UTC))


def pump() -> None:
    """Send the next batches of documents to their phases."""
    from crawler.pipeline.handing import hand_out

    tasks: dict[str, Any] = {"detect": detect, "transform": transform, "index": index, "extract": extract}
    for message in hand_out(datetime.now(UTC)):
        tasks[message.phase].delay(message.content)


def _worker() -> str:
    """This process's name in figures of the pipeline."""
    return f"{socket.gethostname()}-{os.getpid()}"


def _phase(work: str) -> None:
    """A batch of detect or transform, without a database; one whose lease is over is left alone."""
    from crawler.pipeline.messages import Work
    from crawler.pipeline.phases import run
    from crawler.pipeline.plugins import call

    for batch in _read(Work, [work]):
        if time.time() < batch.expires:
            settle.delay(encode(run(batch, _worker(), call)))


@shared_task(name="crawler.tasks.detect")
def detect(work: str) -> None:
    """What documents are."""
    _phase(work)


@shared_task(name="crawler.tasks.transform")
def transform(work: str) -> None:
    """Documents to triples."""
    _phase(work)


@shared_task(name="crawler.tasks.settle")
def settle(done: str) -> None:
    """Write down what detect or transform made of a batch, and send on what comes next."""
    from crawler.pipeline import documents
    from crawler.pipeline.messages import Done

    for batch in _read(Done, [done]):
        documents.settle(batch)
    pump()


@shared_task(name="crawler.tasks.index")
def index(lease: str) -> None:
    """Triples into the graph."""
    from crawler.pipeline import index as phase

    phase.index(uuid.UUID(lease), _worker())
    pump()


@shared_task(name="crawler.tasks.extract")
def extract(lease: str) -> None:
    """The next addresses out of the graph; crawls that got some are handed out at once."""
    from crawler.pipeline import extract as phase

    if phase.extract(uuid.UUID(lease), _worker()):
        dispatch()
    pump()
