"""Whether failures are ours: when most hosts cannot be reached at once, the fault is on this side."""

from __future__ import annotations

from collections.abc import Iterable

# Fewer hosts than this fail together by chance too often.
LEAST_HOSTS = 4
MOST = 0.75


def it_is_us(outcomes: Iterable[tuple[str, bool]]) -> bool:
    """From (host, network failure?) of the last tick's retrievals: did most hosts fail by the network?

    A host counts as reached when one of its retrievals was answered, be it with an error: many feeds
    of one broken host are one failure.
    """
    reached: dict[str, bool] = {}
    for host, failed in outcomes:
        reached[host] = reached.get(host, False) or not failed
    unreached = sum(not answered for answered in reached.values())
    return len(reached) >= LEAST_HOSTS and unreached >= MOST * len(reached)
