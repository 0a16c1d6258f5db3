"""The run of an experiment: one replay at a time, each in a separate task, so that any of them may die."""

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
from django.utils.translation import gettext as _

from feeds.laboratory.models import STALE, Experiment, Outcome, has_budget
from feeds.laboratory.own_history import own_trace
from feeds.replay.comparison import Options, budgeted_retrievals, replay
from feeds.replay.sample import sample_trace
from feeds.replay.simulation import flat_optimum
from feeds.replay.trace import Trace, TraceError, TraceLimits, pack_trace, parse_trace, unpack_trace
from feeds.visiting.rules import rules

LIMITS = TraceLimits(posts=1_000_000, feeds=2_000, days=400)
MAX_BYTES = 20_000_000
CURVE = (1.0, 0.25, 0.5, 2.0, 4.0)
"""Multiples of the budget, the budget itself first."""
MAX_ATTEMPTS = 3
TASK = "feeds.laboratory.tasks.experiment"
"""The task's name, because the tasks module imports this one."""
_SIGN_EVERY = 2.0  # seconds


class _LostError(Exception):
    """Error of a replay whose experiment was stopped, deleted, or taken by another worker."""


def checked_trace(name: str, content: bytes) -> Trace:
    """Parse an uploaded trace. Raises TraceError that says what is wrong with it."""
    if len(content) > MAX_BYTES:
        raise TraceError(
            _("%(name)s is larger than %(bytes)s MB") % {"name": name, "bytes": MAX_BYTES // 1000000}
        )
    return parse_trace(name[:200], io.BytesIO(content), LIMITS)


def begin(
    experiment: Experiment, upload: Trace | None = None, *, active_only: bool | None = None
) -> Experiment:
    """Store the experiment and enqueue its first replay. Raises TraceError when nothing can be measured.

    Reads the deployment's own history once, so that all replays use the same posts.
    `active_only` says which subscribers weigh there; None: as the rules in force have it.
    """
    if experiment.source == Experiment.Source.HISTORY:
        trace, subscribers = own_trace(
            datetime.now(UTC), active_only=rules().active_only if active_only is None else active_only
        )
        experiment.subscribers = subscribers.tolist() if experiment.audience else None
    else:
        trace = upload or sample_trace()
    experiment.name = trace.name
    experiment.feeds, experiment.articles, experiment.days = len(trace.feeds), len(trace.owner), trace.days
    if experiment.learned_days() >= trace.days:
        raise TraceError(
            _(
                "%(name)s is %(days)s days long: with %(learned_days)s days of learning nothing is "
                "left to measure"
            )
            % {
                "name": trace.name,
                "days": f"{trace.days:.1f}",
                "learned_days": f"{experiment.learned_days():g}",
            }
        )
    experiment.flat_optimum = flat_optimum(trace, experiment.setup())
    experiment.trace = pack_trace(trace)
    experiment.save()
    send(experiment.pk)
    return experiment


def send(pk: int, after: float = 0.0) -> None:
    """Enqueue the experiment's next replay. A later tick repeats a lost message."""
    transaction.on_commit(
        lambda: current_app.send_task(TASK, (pk,), countdown=after, retry=False), robust=True
    )


def stop(experiment: Experiment) -> bool:
    """Stop an experiment: start no further replay, and end the running one at its next progress report.

    Returns False when the experiment had already ended.
    """
    return _close(Experiment.objects.open().filter(pk=experiment.pk), Experiment.State.STOPPED)


def forgotten(now: datetime) -> list[int]:
    """Return open experiments whose worker has died or whose message was lost."""
    return list(Experiment.objects.free(now).filter(created__lt=now - STALE).values_list("pk", flat=True))


def planned(experiment: Experiment) -> list[tuple[str, float]]:
    """Return all (policy, budget) pairs of an experiment, in replay order."""
    factors = CURVE if experiment.curve else CURVE[:1]
    return [
        (name, experiment.budget * factor)
        for factor in factors
        for name in experiment.policies
        # A policy without a budget gives the same result at every factor.
        if factor == 1.0 or has_budget(name)
    ]


def advance(pk: int) -> float | None:
    """Run the next replay of an experiment. Returns the seconds until the next call, None at the end.

    1. claim the experiment: one worker at a time, unless the last one died
    2. replay the next policy at the next budget, with a sign of life every two seconds
    3. write its outcome and give the claim back; after the last one, let the trace go
    """
    claim = uuid.uuid4()
    mine = Experiment.objects.free(datetime.now(UTC)).filter(pk=pk)
    if not mine.update(claim=claim, heard=datetime.now(UTC), share=0.0, attempts=F("attempts") + 1):
        return STALE.total_seconds() if Experiment.objects.open().filter(pk=pk).exists() else None
    experiment = Experiment.objects.get(pk=pk)
    completed = set(experiment.outcomes.values_list("policy", "budget"))
    remaining = [replay for replay in planned(experiment) if replay not in completed]
    claimed = Experiment.objects.open().filter(pk=pk, claim=claim)
    if remaining:
        try:
            _store(claimed, _outcome(experiment, *remaining[0], _signs(claimed)))
        except _LostError:
            return None
    if len(remaining) <= 1:
        _close(claimed, Experiment.State.DONE)
        return None
    claimed.update(heard=None, claim=None)
    return 0.0


def _outcome(
    experiment: Experiment, policy: str, budget: float, progress: Callable[[float], None]
) -> Outcome:
    """Replay one policy at one budget. Stores a failure in the outcome instead of raising it."""
    outcome = Outcome(experiment=experiment, policy=policy, budget=budget)
    if experiment.attempts > MAX_ATTEMPTS:
        outcome.error = f"its worker died {MAX_ATTEMPTS} times"
        return outcome
    began = time.monotonic()
    try:
        trace = unpack_trace(bytes(experiment.trace))
        subscribers = None if experiment.subscribers is None else np.array(experiment.subscribers)
        setup = replace(experiment.setup(), budget=budget, subscribers=subscribers)
        weight = experiment.audience_weight
        if weight is None:
            weight = rules().audience_weight
        weight = weight if subscribers is not None else 0.0
        result = replay(trace, policy, setup, Options(experiment.beta, weight), progress)
        outcome.spent = budget * result.metrics.retrievals / budgeted_retrievals(trace, setup)
    except SoftTimeLimitExceeded:
        outcome.error = f"took longer than {settings.CELERY_TASK_SOFT_TIME_LIMIT} s"
    except ValueError as error:
        outcome.error = str(error)
    else:
        outcome.metrics = asdict(result.metrics)
        outcome.pending_by_hour, outcome.delays = result.pending_by_hour, result.delays
    outcome.seconds = time.monotonic() - began
    return outcome


def _signs(claimed: Any) -> Callable[[float], None]:
    """Return a callback that stores the replay's progress, and raises _LostError once the claim is lost."""
    last_sign = time.monotonic()

    def tell(share: float) -> None:
        nonlocal last_sign
        if time.monotonic() - last_sign < _SIGN_EVERY:
            return
        last_sign = time.monotonic()
        if not claimed.update(heard=datetime.now(UTC), share=share):
            raise _LostError

    return tell


def _store(claimed: Any, outcome: Outcome) -> None:
    """Store the outcome. Raises _LostError when the experiment is no longer this worker's."""
    with transaction.atomic():
        if not claimed.update(heard=datetime.now(UTC), share=0.0, attempts=0):
            raise _LostError
        Outcome.objects.bulk_create([outcome], ignore_conflicts=True)


def _close(experiments: Any, state: str) -> bool:
    """End open experiments: keep their outcomes, delete their traces. Returns whether any was open."""
    ended = experiments.update(state=state, finished=datetime.now(UTC), trace=b"", claim=None, heard=None)
    return bool(ended)
