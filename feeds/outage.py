"""Is it us? When most hosts cannot be reached at once, the failures are not held against the feeds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings

from crawler.http.failures import Failure
from crawler.messages import Harvest
from feeds.models import Retrieval
from feeds.scheduling.outage import it_is_us


def outage(harvests: Iterable[Harvest]) -> bool:
    """Whether these harvests and those of the last two ticks failed by the network on most hosts."""
    current = [(urlsplit(h.url).hostname or "", _by_network(h.failure)) for h in harvests if h.kind == "feed"]
    if not any(failed for _, failed in current):
        return False
    since = datetime.now(UTC) - timedelta(seconds=2 * settings.CRAWL_TICK_SECONDS)
    recent = Retrieval.objects.filter(at__gte=since, pushed=False).values_list("feed__host__name", "failure")
    return it_is_us([*current, *((host, _by_network(failure)) for host, failure in recent)])


def _by_network(failure: str) -> bool:
    return bool(failure) and Failure.of(failure).ours
