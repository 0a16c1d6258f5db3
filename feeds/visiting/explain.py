"""Explanation of a feed's next retrieval, from the state and policy that the tick uses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from crawler.engine.ticking import tick_seconds
from crawler.reading.sources.kinds import MAIL
from crawler.web.sentences import translated
from feeds.models import Feed, Tick
from feeds.phrases import duration
from feeds.scheduling.base import Explanation, next_visit
from feeds.visiting.rules import rules
from feeds.visiting.states import blocks, live_policy

HORIZON = timedelta(days=30)
UNEXPLAINED = Explanation(key=0.0, age=0.0, formula="")


@dataclass(frozen=True, slots=True)
class NextVisit:
    """The next visit: `at` (None: not planned), the reason in words, and the numbers behind it.

    `expected` new articles by now, `age` seconds since the last successful retrieval, `audience` the factor
    for subscribers, `floor` the rule that delays the visit (empty when none does), `position` in the queue of
    its host or in the policy's order (None: not ranked).
    """

    at: datetime | None
    reason: str
    expected: float = 0.0
    age: float = 0.0
    audience: float = 1.0
    floor: str = ""
    position: int | None = None


def next_visits(feeds: Sequence[Feed], now: datetime, *, explained: bool = True) -> dict[int, NextVisit]:
    """Return the next visit of every given feed by id, in a few queries for any number of feeds.

    Without `explained`, planned visits have times and floors alone: the rest costs a third of the work.
    """
    # Feeds that are out or selected have no next time: it is now.
    idle = [feed for feed in feeds if feed.lease is None and feed.selected_at is None]
    planned = _planned(
        [feed for feed in idle if feed.status == Feed.Status.ACTIVE and feed.kind != MAIL], now, explained
    )
    return {feed.id: planned.get(feed.id) or _unplanned(feed, now) for feed in feeds}


def _unplanned(feed: Feed, now: datetime) -> NextVisit:
    """Explain feeds that are out, selected, paused or gone, so that no time is computed for them."""
    if feed.kind == MAIL:
        return NextVisit(None, _("no visit: its issues come by mail"))
    if feed.lease is not None:
        return NextVisit(
            now, _("being retrieved now (%(reason)s)") % {"reason": translated(feed.selected_because)}
        )
    if feed.status == Feed.Status.GONE:
        return NextVisit(None, _("no visit: the publisher said that the feed is gone for good (410)"))
    if feed.status == Feed.Status.PAUSED:
        return NextVisit(None, _("no visit: the feed is paused"))
    message = _("selected (%(reason)s), waiting for its host to be free")
    return NextVisit(now, message % {"reason": translated(feed.selected_because)})


def _planned(feeds: Sequence[Feed], now: datetime, explained: bool) -> dict[int, NextVisit]:
    in_force = rules()
    longest = in_force.training_max_ticks
    policy, last = live_policy(in_force), Tick.objects.order_by("-started").first()
    length = timedelta(seconds=tick_seconds())
    # An old tick says nothing of the next one: the controller was away.
    grid = last.started if last and now - last.started < 3 * length else now
    by_id = {feed.id: feed for feed in feeds}
    visits: dict[int, NextVisit] = {}
    cutoff = last.cutoff if last is not None and last.cutoff is not None else -math.inf
    for states in blocks(Feed.objects.filter(id__in=list(by_id)), policy.reads, in_force=in_force):
        rows = [by_id[int(feed)] for feed in states.id]
        floors = np.array([max(feed.not_before, now).timestamp() for feed in rows])
        # The time at which each key reaches the cut-off of the last tick.
        ranked = next_visit(policy, states, floors, cutoff, HORIZON.total_seconds())
        for i, feed in enumerate(rows):
            why = policy.explain(states, i, now.timestamp()) if explained else UNEXPLAINED
            visits[feed.id] = _visit(feed, why, float(ranked[i]), grid, now, longest=longest)
    return visits


def _visit(
    feed: Feed, why: Explanation, ranked: float, grid: datetime, now: datetime, *, longest: int
) -> NextVisit:
    """Return the visit of a feed at the first tick after it is due.

    `grid` is the time of a tick, `longest` the longest wait in training in ticks.
    """
    held_back = feed.floor if feed.not_before > now else ""
    if feed.phase == Feed.Phase.TRAINING:
        at = max(feed.not_before, feed.training_due)
        reason = _training_reason(feed, at, longest)
    elif math.isinf(ranked):
        message = _("not within %(days)d days: %(reason)s") % {
            "days": HORIZON.days,
            "reason": translated(why.formula),
        }
        return NextVisit(None, message, why.expected or 0.0, why.age)
    else:
        at = datetime.fromtimestamp(ranked, UTC)
        reason = translated(feed.floor_detail if held_back and at <= feed.not_before else why.formula)
    length = tick_seconds()
    # A visit happens at a tick; "in 3 minutes" would be a promise that no tick keeps.
    ticks = max(1, math.ceil((at - grid).total_seconds() / length))
    return NextVisit(
        at=grid + timedelta(seconds=ticks * length),
        reason=reason or _("new feed"),
        expected=why.expected or 0.0,
        age=why.age,
        audience=why.audience,
        floor=held_back,
    )


def _training_reason(feed: Feed, at: datetime, longest: int) -> str:
    if feed.last_success is None and not feed.failure_streak:
        return _("new feed: its first visit")
    if at == feed.not_before and feed.not_before > feed.training_due:
        return translated(feed.floor_detail)
    toe = math.ceil(feed.training_m - 1e-9)
    values = {
        "m": number_format(f"{feed.training_m:.2f}"),
        "t": number_format(f"{feed.training_t:.1f}"),
        "toe": min(toe, longest),
        "wanted": toe,
        "time": duration((at - feed.training_since).total_seconds()),
    }
    if toe <= longest:
        message = _("training: M = %(m)s, T = %(t)s, so ToE is %(toe)d ticks; watched for %(time)s")
    else:
        message = _(
            "training: M = %(m)s, T = %(t)s, so ToE is %(toe)d ticks (the ceiling; M asks for %(wanted)d); "
            "watched for %(time)s"
        )
    return message % values
