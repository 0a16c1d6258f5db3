"""The posting times that this deployment recorded, as a trace."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
from django.db.models import F, Max
from django.utils.translation import gettext as _

from feeds.models import Feed
from feeds.replay.trace import Trace, TraceError
from feeds.scheduling.rates import Floats

MAX_FEEDS = 1_000
MAX_POSTS = 1_000_000
DAYS = 120
NAME = "own history"


def own_trace(now: datetime, *, active_only: bool = False) -> tuple[Trace, Floats]:
    """Return the posts of active feeds, at most DAYS back, and their (n,) subscribers (with `active_only`,
    those who read them).

    Includes feeds that posted nothing, because a crawler has to visit them, too. Of more than MAX_FEEDS
    feeds, every second, third ... is taken. Only articles published after their feed was added count;
    articles without a usable date count at their retrieval. Raises TraceError when there is nothing to
    replay.
    """
    active = Feed.objects.active()
    last = active.aggregate(last=Max("id"))["last"] or 0
    step = max(1, -(-active.count() // MAX_FEEDS))
    if step > 1:
        active = active.annotate(turn=F("id") % step).filter(turn=last % step)
    audience = "active_subscribers" if active_only else "subscribers"
    feeds = list(active.order_by("id").values_list("id", "url", audience)[:MAX_FEEDS])
    place = {feed: at for at, (feed, _, _) in enumerate(feeds)}
    recent = Feed.objects.filter(
        id__in=place,
        articles__published__gte=F("added"),
        articles__published__range=(now - timedelta(days=DAYS), now),
    )
    rows = np.array(
        [
            (place[feed], published.timestamp())
            for feed, published in recent.order_by("articles__published").values_list(
                "id", "articles__published"
            )[:MAX_POSTS]
        ]
    ).reshape(-1, 2)
    if len(rows) == 0:
        raise TraceError(_("no article was published since the feeds were added: wait for some news"))
    trace = Trace(NAME, tuple(url for _, url, _ in feeds), rows[:, 0].astype(np.int64), rows[:, 1])
    return trace, np.array([float(subscribers) for _, _, subscribers in feeds])
