"""Tasks of moves from other feed readers: the next step of each that is due."""

# ruff: noqa: PLC0415 - what they need is loaded by those who do it

from __future__ import annotations

import time
from datetime import UTC, datetime

from celery import shared_task
from django.conf import settings
from django.db.models import Q
from django.dispatch import receiver

from crawler.engine.signals import ticked

SECONDS = 20.0
"""Time of one task, after which others of its queue have their turn."""
MAX_BEGUN = 20
"""Moves that a tick goes on with."""


@receiver(ticked)
def go_on_with_moves(now: datetime, **_: object) -> None:
    """Enqueue the moves that are due: the process that was at them may have ended."""
    from articles.moving.models import Move

    rows = Move.objects.filter(Q(state=Move.State.READING) | Q(state=Move.State.STORING), not_before__lte=now)
    for key in rows.order_by("pk").values_list("pk", flat=True)[:MAX_BEGUN]:
        # Of no use later: the next tick enqueues it again.
        take_move.apply_async((key,), expires=settings.FEED_TICK_SECONDS)


@shared_task
def take_move(move_id: int) -> None:
    """Do some steps of a move, then enqueue the next ones while there are more."""
    from articles.moving.taking import go_on

    began, pause = time.monotonic(), 0.0
    while time.monotonic() - began < SECONDS:
        next_pause = go_on(move_id, datetime.now(UTC))
        if next_pause is None:
            return
        if next_pause > 0:
            pause = next_pause
            break
    take_move.apply_async((move_id,), countdown=pause)
