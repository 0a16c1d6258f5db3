"""Answering: one waiting question is claimed, asked in a separate process, and settled."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import msgspec
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from articles.modelled.calls import TRANSLATION_TOKENS, USUAL_TOKENS, ask_model
from articles.modelled.checking import check
from articles.modelled.kinds import KINDS
from articles.modelled.models import CHECKED, MAX_ATTEMPTS, ModelTask
from articles.modelled.program import ChatReport
from articles.modelled.sources import texts_of
from crawler.engine.chosen import chosen
from crawler.engine.leased import claimable, lease_until
from crawler.text.marking import gettext_noop

SPARE = timedelta(seconds=90)
"""Time of a lease beside that of the answer: a process begins within a minute."""
NOTE_SECONDS = 1.0
DEFAULT_WAIT_SECONDS = 60.0
MAX_WAIT_SECONDS = 600.0
GIVEN_UP = gettext_noop("The process that asks the model ended each time. The log says more.")


class _StoppedError(Exception):
    """Error for a question that was cancelled, or that another process has taken, while it is asked."""


def answer_next(now: datetime) -> bool:
    """Answer the question that waits longest. Returns False if none waits."""
    row = claim(now)
    if row is None:
        return False
    if row.attempts > MAX_ATTEMPTS:
        settle(row, ChatReport(state="failed", detail=GIVEN_UP), now)
        return True
    earlier_task = ModelTask.objects.filter(digest=row.digest, state=ModelTask.State.DONE).first()
    if earlier_task is not None:
        settle(row, ChatReport(state="done", text=earlier_task.answer), now)
        return True
    try:
        tokens = TRANSLATION_TOKENS if row.kind == "translation" else USUAL_TOKENS
        report = ask_model(row.prompt, _Progress(row).note, tokens=tokens)
    except _StoppedError:
        return True
    settle(row, report, datetime.now(UTC))
    return True


@transaction.atomic
def claim(now: datetime) -> ModelTask | None:
    """Take the question that waits longest for this process, for as long as an answer may take."""
    same = ModelTask.objects.filter(
        digest=OuterRef("digest"), state=ModelTask.State.RUNNING, leased_until__gt=now
    )
    rows = list(claimable(ModelTask.objects.due(now).filter(~Exists(same)).order_by("due", "id"))[:1])
    lease_until(
        rows,
        now + timedelta(seconds=chosen("MODEL_SECONDS")) + SPARE,
        counting="attempts",
        state=ModelTask.State.RUNNING,
        started=now,
        received=0,
    )
    return rows[0] if rows else None


def settle(row: ModelTask, report: ChatReport, now: datetime) -> None:
    """Store the outcome of a question. One that was cancelled or taken meanwhile stays as it is.

    A busy model is asked again later. An answer is given to all that wait for the same one.
    """
    if report.state == "busy" and row.attempts < MAX_ATTEMPTS:
        wait = min(report.wait or DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS)
        _still(row).update(
            state=ModelTask.State.WAITING, due=now + timedelta(seconds=wait), leased_until=None
        )
        return
    if report.state != "done":
        _still(row).update(
            state=ModelTask.State.FAILED, finished=now, leased_until=None, failure=report.detail, prompt=[]
        )
        return
    changes = {
        "state": ModelTask.State.DONE,
        "answer": report.text,
        "finished": now,
        "leased_until": None,
        "failure": "",
        "prompt": [],
    }
    has_sources = (kind := KINDS.get(row.kind)) is not None and kind.has_sources
    checked = msgspec.to_builtins(check(report.text, texts_of(row.subject))) if has_sources else None
    with transaction.atomic():
        if not _still(row).update(received=len(report.text), subject=_with(row.subject, checked), **changes):
            return
        for waiting_task in ModelTask.objects.filter(digest=row.digest, state=ModelTask.State.WAITING):
            # The same texts have the same numbers, though the articles may be others.
            ModelTask.objects.filter(pk=waiting_task.pk, state=ModelTask.State.WAITING).update(
                subject=_with(waiting_task.subject, checked), **changes
            )


def delete_old(now: datetime, days: int) -> int:
    """Delete questions that failed or were cancelled more than some days ago. Returns their number."""
    ends = [ModelTask.State.FAILED, ModelTask.State.CANCELLED]
    deleted, _rows = ModelTask.objects.filter(
        state__in=ends, finished__lt=now - timedelta(days=days)
    ).delete()
    return deleted


def _with(subject: dict[str, object], checked: object) -> dict[str, object]:
    return subject | {CHECKED: checked} if checked is not None else subject


def _still(row: ModelTask) -> QuerySet[ModelTask]:
    return ModelTask.objects.filter(pk=row.pk, state=ModelTask.State.RUNNING, attempts=row.attempts)


class _Progress:
    """The progress of a question that is asked, in its row."""

    def __init__(self, row: ModelTask) -> None:
        self._row, self._noted_at = row, 0.0

    def note(self, received: int) -> None:
        """Store how many characters have come. Raises _StoppedError if nobody wants the answer any more."""
        if time.monotonic() - self._noted_at < NOTE_SECONDS:
            return
        self._noted_at = time.monotonic()
        if not _still(self._row).update(received=received):
            raise _StoppedError
