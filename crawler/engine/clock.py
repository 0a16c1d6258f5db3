"""Mending after the clock was turned back: times that were noted before it lie ahead.

Without mending, nothing would be due until the clock had caught up. A clock that jumps forward needs nothing:
leases end early, their work is handed out again, and everything is due.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.apps import apps
from django.db import models
from django.db.models import Case, F, Value, When

from crawler.engine.leased import LeasedRow
from crawler.engine.models import Host, Pulse

TOLERANCE = timedelta(minutes=10)
"""How far a noted time may lie ahead: machines differ a little."""

log = logging.getLogger(__name__)


def turn_back(now: datetime, newest: datetime, age: timedelta = timedelta()) -> bool:
    """Move noted times that lie ahead back by as much as the clock was turned, where it was.

    `newest` is the newest time that was certainly noted in the past, at most `age` before now. Times of
    hosts, pulses and of all that is handed out are moved; what is planned for later stays as much later, or
    comes by up to `age` earlier. The pauses of hosts are never made shorter. Returns whether there was any.
    """
    if not lies_ahead(newest, now):
        return False
    # By the whole jump, so that pauses keep their lengths; hosts never come earlier.
    jump = newest - now
    log.warning("the clock was turned back by %s: what was planned is moved with it", jump)
    move_back(Host, now, jump)
    move_back(Pulse, now, jump)
    for model in apps.get_models():
        if issubclass(model, LeasedRow):
            move_back(model, now, jump + age)
    return True


def lies_ahead(noted: datetime, now: datetime) -> bool:
    """Return whether a time that was noted in the past lies ahead, as after the clock was turned back."""
    return noted - now > TOLERANCE


def move_back(model: type[models.Model], now: datetime, jump: timedelta) -> int:
    """Move all times of a model's rows that lie ahead back. Returns the number of rows."""
    fields = model._meta.concrete_fields
    names = [field.attname for field in fields if isinstance(field, models.DateTimeField)]
    ahead = models.Q()
    moved = {}
    for name in names:
        is_ahead = models.Q(**{f"{name}__gt": now})
        ahead |= is_ahead
        # Each column by itself: a row may have one time ahead and others in the past.
        moved[name] = Case(When(is_ahead, then=F(name) - Value(jump)), default=F(name))
    return model._base_manager.filter(ahead).update(**moved) if names else 0
