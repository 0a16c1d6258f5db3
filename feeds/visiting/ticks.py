"""The controller's tick, run as often as beat's row says (papers/000, sections 2 and 3)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, transaction

from crawler.engine import leases
from crawler.engine.clock import turn_back
from crawler.engine.ticking import tick_seconds
from feeds.models import Feed, Tick
from feeds.scheduling.budget import TokenBudget
from feeds.visiting.rules import rules
from feeds.visiting.selection import end_training, select_ranked, select_training
from feeds.websub.subscriptions import lapse

LOCK = 7_365_511_601  # any number that nothing else in this database uses


def tick(now: datetime, *, everything: bool = False) -> Tick | None:
    """Select the feeds to visit next; `leases.hand_out` hands them to terminals.

    1. Take the advisory lock, so that one controller runs at a time.
    2. Move what was noted ahead of a clock that was turned back. Release expired leases, and expire hub
       subscriptions, whose feeds are then visited as usual.
    3. End the training of feeds that were watched long enough.
    4. Select training feeds whose ToE has reached zero.
    5. Rank the other feeds by the policy and select as many as the budget allows.
    6. Store the tick with its remaining budget.

    Every step is a guarded update, so a tick that runs twice does nothing the second time. With
    `everything`, all feeds whose floors allow it are selected. Returns None when another controller
    runs a tick.
    """
    with transaction.atomic():
        # The lock is the transaction's: a controller that is killed frees it.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
            if not cursor.fetchone()[0]:
                return None
        newest = Tick.objects.order_by("-started").values_list("started", flat=True).first()
        if newest and turn_back(now, newest, age=timedelta(seconds=tick_seconds())):
            # Ticks ahead of the clock would be the last one for ever, and grant no budget until then.
            Tick.objects.filter(started__gt=now).delete()
        swept = leases.sweep(now)
        lapse(now)
        end_training(now)
        training = select_training(now, everything=everything)
        k, budget = _budget(now)
        ranked = select_ranked(now, k, everything=everything)

        return Tick.objects.create(
            started=now,
            finished=datetime.now(now.tzinfo),
            policy=rules().policy,
            swept=swept,
            training=training,
            ranked=ranked.taken,
            candidates=ranked.candidates,
            budget=k,
            carried=budget.tokens,
            cutoff=ranked.cutoff if ranked.cutoff not in {None, float("inf")} else None,
        )


def lately(now: datetime) -> bool:
    """Return whether a tick ran within half a tick of now, so that a repeated message is ignored.

    One that lies further ahead ran before the clock was turned back.
    """
    half = timedelta(seconds=tick_seconds() / 2)
    return Tick.objects.filter(started__range=(now - half, now + half)).exists()


def _budget(now: datetime) -> tuple[int, TokenBudget]:
    """Return the retrievals of ranked feeds in this tick, and the budget to carry over in the tick's row."""
    last = Tick.objects.order_by("-started").first()
    length = tick_seconds()
    paid = (
        # The first tick gets one tick's worth.
        TokenBudget(last.started.timestamp(), last.carried) if last else TokenBudget(now.timestamp() - length)
    )
    normal = Feed.objects.active().fetched().filter(phase=Feed.Phase.NORMAL).count()
    return paid.grant(now.timestamp(), feeds=normal, per_hour=rules().budget, tick=length)
