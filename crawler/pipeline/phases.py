"""The phases that touch bytes of the web, on batches: detect and transform, without a database.

A phase takes documents and gives an outcome for each; `settle` (documents.py) writes it down.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from crawler.pipeline.messages import Done, PhaseOutcome, PhaseWork, Task
from crawler.pipeline.terms import plain
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument, Transformed
from crawler.pipeline.transform.plugins import Call, Plugins
from crawler.pipeline.transform.rdf import FORMATS
from crawler.reading.detect import BINARY, EMPTY, detect
from crawler.reading.errors import ReadingError
from crawler.telemetry import logs

MARGIN = 30.0
"""Seconds before a lease ends at which no further document of its batch is begun."""


def run(work: PhaseWork, worker: str, call: Call | None = None) -> Done:
    """Process the batch, isolating each document's failure. Plug-ins take part where `call` is given."""
    plugins = Plugins(work.plugins, call) if call is not None and work.plugins else None
    phase_function: Callable[[Task], PhaseOutcome] = (
        (lambda task: _detected(task, work))
        if work.phase == "detect"
        else lambda task: _transformed(task, work, plugins)
    )
    outcomes: list[PhaseOutcome] = []
    for task in work.tasks:
        if work.expires and outcomes and time.time() > work.expires - MARGIN:
            break  # what is done counts; the rest comes back when the lease is over, one document at a time
        with logs.named(lease=work.lease, document=str(task.id)):
            outcomes.append(_timed(phase_function, task))
    return Done(work.phase, work.lease, worker, tuple(outcomes))


def _timed(phase: Callable[[Task], PhaseOutcome], task: Task) -> PhaseOutcome:
    began = time.perf_counter()
    try:
        outcome = phase(task)
    except ReadingError as error:
        outcome = PhaseOutcome(task.id, error.kind.value, plain(error.detail)[:1000])
    except Exception as error:  # whatever it is, no other document may pay for it
        outcome = _fault(task, error)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a fault within Oxigraph raises, no Exception
            raise
        outcome = _fault(task, error)
    return replace(outcome, seconds=time.perf_counter() - began)


def _fault(task: Task, error: BaseException) -> PhaseOutcome:
    """Report an internal error on a document as its outcome, named so that it can be found."""
    return PhaseOutcome(task.id, "error", plain(f"{type(error).__name__}: {error}")[:1000])


def _detected(task: Task, work: PhaseWork) -> PhaseOutcome:
    verdict = detect(task.body, task.content_type, task.url)
    if verdict.type == EMPTY or (verdict.type == BINARY and not work.binaries):
        return PhaseOutcome(
            task.id, "unsupported-type", verdict.reason, type=verdict.type, reason=verdict.reason
        )
    return PhaseOutcome(task.id, type=verdict.type, reason=verdict.reason)


def _transformed(task: Task, work: PhaseWork, plugins: Plugins | None) -> PhaseOutcome:
    if not task.body and task.type not in FORMATS:  # an empty graph would take the place of its own
        raise ReadingError("unsupported-type", "its content is not stored any more")
    document = SourceDocument(task.url, task.type, task.body, task.content_type)
    result = transform(
        document, hash_mail=work.hash_mail, rdfa=work.rdfa, sheets=work.sheets, plugins=plugins
    )
    return PhaseOutcome(
        task.id,
        sha256=hashlib.sha256(task.body).hexdigest(),
        transformer=result.transformer,
        notes=_short(result.notes),
        count=result.count,
        triples=zlib.compress(_lines(result).encode(), 1),
    )


def _lines(result: Transformed) -> str:
    """Return the graph and its named parts as N-Quads."""
    return f"{result.triples}\n{result.parts}" if result.parts else result.triples


def _short(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(plain(note)[:300] for note in notes[:20])
