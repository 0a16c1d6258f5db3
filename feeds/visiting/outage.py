"""Detection of outages on our side: most hosts unreachable at once, so that no feed is at fault."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from crawler.engine.ticking import tick_seconds
from crawler.failures import Failure
from crawler.messages import Harvest
from feeds.models import Retrieval

# Fewer hosts than this fail together by chance too often.
MIN_HOSTS = 4
# Not all: hosts in the own network may still answer while the line is down.
MOST = 0.75
MIN_WINDOW = timedelta(minutes=10)
"""Shortest time in which the answers of hosts are compared for the health page."""


def outage(harvests: Iterable[Harvest]) -> bool:
    """Return whether these harvests and those of the last two ticks failed by the network on most hosts."""
    current = [(urlsplit(h.url).hostname or "", _by_network(h.failure)) for h in harvests if h.kind == "feed"]
    # The usual tick: no query.
    if not any(failed for _, failed in current):
        return False
    since = datetime.now(UTC) - timedelta(seconds=2 * tick_seconds())
    # A push comes to us and says nothing of our way out.
    recent = Retrieval.objects.filter(at__gte=since, pushed=False).values_list("feed__host__name", "failure")
    return it_is_us([*current, *((host, _by_network(failure)) for host, failure in recent)])


def silent_hosts(now: datetime) -> int:
    """Return how many hosts do not answer at once, 0 while there is no outage on our side."""
    since = now - max(3 * timedelta(seconds=tick_seconds()), MIN_WINDOW)
    recent = Retrieval.objects.filter(at__gte=since, at__lte=now, pushed=False)
    rows = recent.order_by().values_list("feed__host__name", "failure").distinct()
    outcomes = [(host, _by_network(failure)) for host, failure in rows]
    if not it_is_us(outcomes):
        return 0
    return len({host for host, _ in outcomes} - {host for host, failed in outcomes if not failed})


def it_is_us(outcomes: Iterable[tuple[str, bool]]) -> bool:
    """Return whether most hosts failed by the network, from pairs (host, whether it failed by the network).

    A host counts as reached when one of its retrievals got any response, even an error: many feeds of one
    broken host are one failure.
    """
    reached: dict[str, bool] = {}
    for host, failed in outcomes:
        reached[host] = reached.get(host, False) or not failed
    unreached = sum(not answered for answered in reached.values())
    return len(reached) >= MIN_HOSTS and unreached >= MOST * len(reached)


def _by_network(failure: str) -> bool:
    return bool(failure) and Failure.of(failure).ours
