"""A tick's selection of feeds: training feeds by ToE, the others by the policy's rank within the budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import connection
from django.db.models import QuerySet, Value
from django.db.models.functions import Least

from crawler.engine.chosen import chosen as chosen_setting
from crawler.engine.ticking import tick_seconds
from crawler.reading.sources.kinds import MAIL
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from feeds.models import Feed
from feeds.scheduling.base import FeedStates, Policy, select
from feeds.scheduling.rates import Floats, Integers
from feeds.visiting.rules import rules
from feeds.visiting.states import blocks, live_policy

TRAINING_POLICY = "advarss-training"


@dataclass(frozen=True, slots=True)
class Ranked:
    """The number of feeds taken of the policy's candidates, and the key at the cut-off (None: all were
    taken).
    """

    taken: int
    candidates: int
    cutoff: float | None


def look_ahead() -> timedelta:
    """Return the time by which a tick's selection reaches beyond the tick.

    A retrieval happens some seconds after its tick, so a feed whose gap is as long as the tick would miss
    every other tick. It is selected anyway, and handed out when its floor has passed.
    """
    return timedelta(seconds=min(tick_seconds() / 4, 30.0))


def allowed(now: datetime) -> QuerySet[Feed]:
    """Return idle feeds that may be visited now.

    Their floors pass by now plus the look-ahead, and they do not ask to be skipped now.
    """
    return (
        # skipHours is asked at the tick, for the time of a floor may lie in another hour than its visit.
        Feed.objects.due(now + look_ahead())
        .exclude(skip_hours__contains=[now.hour])
        .exclude(skip_days__contains=[now.weekday()])
    )


def end_training(now: datetime) -> int:
    """Move feeds after FEED_TRAINING_DAYS to the normal phase. Returns their number."""
    if rules().policy == TRAINING_POLICY:
        return 0
    old = now - timedelta(days=chosen_setting("FEED_TRAINING_DAYS"))
    # A feed that never answered has taught nothing, and stays in training.
    grown = Feed.objects.filter(
        phase=Feed.Phase.TRAINING, training_since__lte=old, last_success__isnull=False
    )
    return grown.update(phase=Feed.Phase.NORMAL)


def select_training(now: datetime, *, everything: bool = False) -> int:
    """Select training feeds whose ToE is zero, or all with `everything`. Returns their number.

    The update is guarded, so that a second run selects no feed twice.
    """
    feeds = allowed(now).filter(phase=Feed.Phase.TRAINING)
    if not everything:
        feeds = feeds.filter(training_due__lte=now)
    because = gettext_noop("asked for now") if everything else gettext_noop("training: its ToE reached zero")
    return feeds.update(selected_at=now, selected_because=because)


def select_ranked(now: datetime, k: int, *, everything: bool = False) -> Ranked:
    """Select the first k feeds of the normal phase by the policy's key, or all with `everything`."""
    at, policy = now.timestamp(), live_policy()
    ids, keys, last = _keys(policy, at, allowed(now).filter(phase=Feed.Phase.NORMAL))
    take = len(ids) if everything else k
    rows = select(FeedStates(id=ids, last=last), keys, np.ones(len(ids), dtype=bool), take)
    places = zip(ids[rows].tolist(), keys[rows].tolist(), (at - last[rows]).tolist(), strict=True)
    reasons = {feed: policy.reason(key, age) for feed, key, age in places}
    _mark(now, reasons, len(ids))
    left_out = len(rows) < len(ids)
    return Ranked(len(rows), len(ids), float(keys[rows].min(initial=math.inf)) if left_out else None)


# In blocks: the states of a million feeds with their tables are gigabytes, their keys 24 MB.
def _keys(policy: Policy, at: float, feeds: QuerySet[Feed]) -> tuple[Integers, Floats, Floats]:
    """Return the ids, keys and last retrievals of all candidates, computed block by block."""
    nobody: tuple[Integers, Floats, Floats] = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    ranked = ((states.id, policy.keys(states, at), states.last) for states in blocks(feeds, policy.reads, at))
    columns = [nobody, *ranked]
    ids, keys, last = (np.concatenate(column) for column in zip(*columns, strict=True))
    return ids, keys, last


def _mark(now: datetime, reasons: Mapping[int, str], candidates: int) -> None:
    """Select these feeds, best first, each with the number that ranked it, for the log and the page.

    The weekly forecast stood there whatever the policy was, so that under advaRSS feeds of "0.00 new articles
    expected" went first.
    """
    because = [
        Reason("rank {0} of {1}: {2}", place, candidates, reason)
        for place, reason in enumerate(reasons.values(), 1)
    ]
    with connection.cursor() as cursor:
        # One statement with arrays: its text does not grow with the number of feeds.
        cursor.execute(
            """
            UPDATE feeds_feed SET selected_at = %s, selected_because = chosen.because
            FROM unnest(%s::bigint[], %s::text[]) AS chosen(id, because)
            WHERE feeds_feed.id = chosen.id AND selected_at IS NULL AND lease IS NULL AND status = 'active'
                AND kind <> 'mail'
            """,
            [now, list(reasons), because],
        )


def retrieve_now(feeds: QuerySet[Feed], because: str) -> int:
    """Select active feeds at once, ignoring their schedule; only the minimum gap still applies.

    Returns the number of selected feeds. Newsletters are never selected.
    """
    now = datetime.now(UTC)
    gap = now - timedelta(seconds=chosen_setting("FEED_MIN_GAP_SECONDS"))
    idle = feeds.filter(status=Feed.Status.ACTIVE, selected_at__isnull=True, lease__isnull=True)
    # The minimum gap holds for people, too: a button can be pressed every second.
    chosen = idle.exclude(kind=MAIL).exclude(last_attempt__gt=gap)
    # Least: a floor of hours would hold back what a person asks for.
    return chosen.update(
        selected_at=now, selected_because=because, not_before=Least("not_before", Value(now))
    )
