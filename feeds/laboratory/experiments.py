"""How an experiment goes: one replay at a time, each a task of its own, so that any of them may die."""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from celery import current_app
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import transaction
from django.db.models import F

from feeds.laboratory.models import STALE, Experiment, Outcome, has_budget
from feeds.laboratory.own_history import own_trace
from feeds.replay.comparison import Options, budgeted_retrievals, replay
from feeds.replay.sample import sample_trace
from feeds.replay.simulation import flat_optimum
from feeds.replay.trace import Trace, TraceError, TraceLimits, pack_trace, parse_trace, unpack_trace

LIMITS = TraceLimits(posts=1_000_000, feeds=2_000, days=400)
MOST_BYTES = 20_000_000
CURVE = (1.0, 0.25, 0.5, 2.0, 4.0)
"""Multiples of the budget, the budget itself first."""
MOST_ATTEMPTS = 3
TASK = "feeds.laboratory.tasks.experiment"
"""By name: what does an experiment knows the task only as what brings it here."""
_SIGN_EVERY = 2.0  # seconds


class _LostError(Exception):
    """The experiment was stopped, deleted, or taken by another worker."""


def checked_trace(name: str, content: bytes) -> Trace:
    """An uploaded trace. Raises TraceError that says what is wrong with it."""
    if len(content) > MOST_BYTES:
        raise TraceError(f"{name} is larger than {MOST_BYTES // 1_000_000} MB")
    return parse_trace(name[:200], io.BytesIO(content), LIMITS)


def begin(experiment: Experiment, upload: Trace | None = None) -> Experiment:
    """Store the experiment and send for its first replay. Raises TraceError where nothing can be measured.

    The own history is read here, so that all replays see the same.
    """
    if experiment.source == Experiment.Source.HISTORY:
        trace, subscribers = own_trace(datetime.now(UTC))
        experiment.subscribers = subscribers.tolist() if experiment.audience else None
    else:
        trace = upload or sample_trace()
    experiment.name = trace.name
    experiment.feeds, experiment.articles, experiment.days = len(trace.feeds), len(trace.owner), trace.days
    if experiment.learned_days() >= trace.days:
        raise TraceError(
            f"{trace.name} is {trace.days:.1f} days long: with {experiment.learned_days():g} days of "
            "learning nothing is left to measure"
        )
    experiment.flat_optimum = flat_optimum(trace, experiment.setup())
    experiment.trace = pack_trace(trace)
    experiment.save()
    send(experiment.pk)
    return experiment


def send(pk: int, after: float = 0.0) -> None:
    """Ask a worker for the experiment's next replay; a lost message is sent again by a later tick."""
    transaction.on_commit(
        lambda: current_app.send_task(TASK, (pk,), countdown=after, retry=False), robust=True
    )


def stop(experiment: Experiment) -> bool:
    """Let no further replay begin, and end the one that runs at its next sign; False when it had ended."""
    return _close(Experiment.objects.open().filter(pk=experiment.pk), Experiment.State.STOPPED)


def forgotten(now: datetime) -> list[int]:
    """Open experiments whose worker has died, or whose message was lost."""
    return list(Experiment.objects.free(now).filter(created__lt=now - STALE).values_list("pk", flat=True))


def planned(experiment: Experiment) -> list[tuple[str, float]]:
    """All (policy, budget) of an experiment, in the order in which they are replayed."""
    factors = CURVE if experiment.curve else CURVE[:1]
    return [
        (name, experiment.budget * factor)
        for factor in factors
        for name in experiment.policies
        # What is due is retrieved whatever the budget: once is enough.
        if factor == 1.0 or has_budget(name)
    ]


def advance(pk: int) -> float | None:
    """Do the next replay of an experiment; in how many seconds to go on, None when there is nothing more.

    1. claim the experiment: one worker at a time, unless the last one died
    2. replay the next policy at the next budget, with a sign of life every two seconds
    3. write its outcome and give the claim back; after the last one, let the trace go
    """
    claim = uuid.uuid4()
    mine = Experiment.objects.free(datetime.now(UTC)).filter(pk=pk)
    if not mine.update(claim=claim, heard=datetime.now(UTC), share=0.0, attempts=F("attempts") + 1):
        return STALE.total_seconds() if Experiment.objects.open().filter(pk=pk).exists() else None
    experiment = Experiment.objects.get(pk=pk)
    done = set(experiment.outcomes.values_list("policy", "budget"))
    left = [one for one in planned(experiment) if one not in done]
    held = Experiment.objects.open().filter(pk=pk, claim=claim)
    if left:
        try:
            _store(held, _outcome(experiment, *left[0], _signs(held)))
        except _LostError:
            return None
    if len(left) <= 1:
        _close(held, Experiment.State.DONE)
        return None
    held.update(heard=None, claim=None)
    return 0.0


def _outcome(
    experiment: Experiment, policy: str, budget: float, progress: Callable[[float], None]
) -> Outcome:
    """Replay one policy at one budget; what goes wrong is an outcome, too."""
    made = Outcome(experiment=experiment, policy=policy, budget=budget)
    if experiment.attempts > MOST_ATTEMPTS:
        made.error = f"its worker died {MOST_ATTEMPTS} times"
        return made
    began = time.monotonic()
    try:
        trace = unpack_trace(bytes(experiment.trace))
        subscribers = None if experiment.subscribers is None else np.array(experiment.subscribers)
        setup = replace(experiment.setup(), budget=budget, subscribers=subscribers)
        weight = settings.CRAWL_AUDIENCE_WEIGHT if subscribers is not None else 0.0
        result = replay(trace, policy, setup, Options(experiment.beta, weight), progress)
        made.spent = budget * result.metrics.retrievals / budgeted_retrievals(trace, setup)
    except SoftTimeLimitExceeded:
        made.error = f"took longer than {settings.CELERY_TASK_SOFT_TIME_LIMIT} s"
    except ValueError as error:
        made.error = str(error)
    else:
        made.metrics = asdict(result.metrics)
        made.pending_by_hour, made.delays = result.pending_by_hour, result.delays
    made.seconds = time.monotonic() - began
    return made


def _signs(held: Any) -> Callable[[float], None]:
    """Writes down how far the replay is, and ends it when the experiment is no longer this worker's."""
    said = time.monotonic()

    def tell(share: float) -> None:
        nonlocal said
        if time.monotonic() - said < _SIGN_EVERY:
            return
        said = time.monotonic()
        if not held.update(heard=datetime.now(UTC), share=share):
            raise _LostError

    return tell


def _store(held: Any, outcome: Outcome) -> None:
    """Write the outcome, if the experiment is still this worker's."""
    with transaction.atomic():
        if not held.update(heard=datetime.now(UTC), share=0.0, attempts=0):
            raise _LostError
        Outcome.objects.bulk_create([outcome], ignore_conflicts=True)


def _close(experiments: Any, state: str) -> bool:
    """End an open experiment; its outcomes stay, its trace goes."""
    ended = experiments.update(state=state, finished=datetime.now(UTC), trace=b"", claim=None, heard=None)
    return bool(ended)
