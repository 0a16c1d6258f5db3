"""The run of an experiment: one replay at a time, each in a separate task, so that any of them may die.

A task that runs twice, late or for an experiment that has ended adds nothing, and so sends nothing further.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from celery import current_app
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from feeds.laboratory.models import Experiment, Outcome
from feeds.laboratory.own_history import own_trace
from feeds.replay.comparison import Options, budgeted_retrievals, replay
from feeds.replay.sample import sample_trace
from feeds.replay.simulation import flat_optimum
from feeds.replay.trace import Trace, TraceError, TraceLimits, pack_trace, parse_trace, unpack_trace
from feeds.visiting.rules import rules

LIMITS = TraceLimits(posts=1_000_000, feeds=2_000, days=400)
MAX_BYTES = 20_000_000
STALE = timedelta(minutes=15)
"""How long a replay may wait before it is sent again; longer than a task may run."""
MAX_SENDS = 3
TASK = "feeds.laboratory.tasks.experiment"
"""The task's name, because the tasks module imports this one."""
_LOOK_EVERY = 2.0  # seconds


class _EndedError(Exception):
    """Error of a replay whose experiment was stopped or deleted."""


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


def send(pk: int) -> None:
    """Enqueue the experiment's next replay. A later tick repeats a lost message."""
    transaction.on_commit(lambda: current_app.send_task(TASK, (pk,), retry=False), robust=True)


def stop(experiment: Experiment) -> bool:
    """Stop an experiment: start no further replay, and end the running one when it next looks.

    Keeps its outcomes and deletes its trace. Returns False when the experiment had already ended.
    """
    open_row = Experiment.objects.open().filter(pk=experiment.pk)
    return bool(open_row.update(finished=datetime.now(UTC), trace=b""))


def advance(pk: int) -> bool:
    """Run the next replay of an experiment and add its outcome. Returns whether another is to be sent."""
    experiment = Experiment.objects.open().filter(pk=pk).first()
    if experiment is None:
        return False
    remaining = experiment.remaining()
    if not remaining:
        stop(experiment)
        return False
    try:
        outcome = _outcome(experiment, *remaining[0], _looks(pk))
    except _EndedError:
        return False
    return _add(pk, outcome)


def again(now: datetime) -> list[int]:
    """Return the experiments to be sent again, because their next replay waits for longer than STALE.

    Gives up a replay that was sent MAX_SENDS times, so that the next one has its turn.
    """
    keys = []
    for pk in Experiment.objects.open().filter(created__lt=now - STALE).values_list("pk", flat=True):
        with transaction.atomic():
            experiment = _locked(pk)
            if experiment is None or _waiting_since(experiment) > now - STALE:
                continue
            remaining, sends = experiment.remaining(), experiment.result["sends"]
            if remaining and sends >= MAX_SENDS:
                lost = Outcome(*remaining[0], error=f"no worker finished it, in {sends} attempts")
                if not _add(pk, lost):
                    continue
            else:
                experiment.result |= {"sends": sends + 1, "since": now.timestamp()}
                experiment.save(update_fields=["result"])
            keys.append(pk)
    return keys


def _waiting_since(experiment: Experiment) -> datetime:
    since = experiment.result.get("since")
    return experiment.created if since is None else datetime.fromtimestamp(since, UTC)


def _locked(pk: int) -> Experiment | None:
    """Return the experiment, locked until the transaction ends. Returns None when it has ended."""
    return Experiment.objects.open().lean().select_for_update(of=("self",)).filter(pk=pk).first()


def _add(pk: int, outcome: Outcome) -> bool:
    """Add an outcome, and finish the experiment with the last. Returns whether it was added and more remain.

    Adds nothing when the experiment has ended, or has that outcome.
    """
    with transaction.atomic():
        experiment = _locked(pk)
        if experiment is None or (outcome.policy, outcome.budget) not in experiment.remaining():
            return False
        now = datetime.now(UTC)
        outcomes = [*experiment.result["outcomes"], asdict(outcome)]
        experiment.result = {"outcomes": outcomes, "sends": 1, "since": now.timestamp()}
        experiment.save(update_fields=["result"])
        if not experiment.remaining():
            stop(experiment)
            return False
        return True


def _outcome(
    experiment: Experiment, policy: str, budget: float, progress: Callable[[float], None]
) -> Outcome:
    """Replay one policy at one budget. Returns a failure as an outcome instead of raising it."""
    began, error = time.monotonic(), ""
    try:
        trace = unpack_trace(bytes(experiment.trace))
        subscribers = None if experiment.subscribers is None else np.array(experiment.subscribers)
        setup = replace(experiment.setup(), budget=budget, subscribers=subscribers)
        weight = experiment.audience_weight
        if weight is None:
            weight = rules().audience_weight
        weight = weight if subscribers is not None else 0.0
        result = replay(trace, policy, setup, Options(experiment.beta, weight), progress)
        return Outcome(
            policy,
            budget,
            metrics=asdict(result.metrics),
            spent=budget * result.metrics.retrievals / budgeted_retrievals(trace, setup),
            pending_by_hour=result.pending_by_hour,
            delays=result.delays,
            seconds=time.monotonic() - began,
        )
    except SoftTimeLimitExceeded:
        error = f"took longer than {settings.CELERY_TASK_SOFT_TIME_LIMIT} s"
    except ValueError as failure:
        error = str(failure)
    return Outcome(policy, budget, error=error, seconds=time.monotonic() - began)


def _looks(pk: int) -> Callable[[float], None]:
    """Return a callback that raises _EndedError once the experiment has been stopped or deleted."""
    last_look = time.monotonic()

    def look(share: float) -> None:
        nonlocal last_look
        if time.monotonic() - last_look < _LOOK_EVERY:
            return
        last_look = time.monotonic()
        if not Experiment.objects.open().filter(pk=pk).exists():
            raise _EndedError

    return look
