"""The scheduling policies by their public names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from feeds.scheduling.advarss import Advarss
from feeds.scheduling.base import Policy
from feeds.scheduling.freshness import Freshness
from feeds.scheduling.full_information import FullInformation
from feeds.scheduling.min_delay import MinDelay
from feeds.scheduling.peers import CommaFeed, Miniflux, NewsBlur, NutchAdaptive
from feeds.scheduling.round_robin import RoundRobin
from feeds.scheduling.training import AdvarssTraining

POLICIES: dict[str, Callable[..., Policy]] = {
    policy.name: policy
    for policy in (
        RoundRobin,
        MinDelay,
        AdvarssTraining,
        Advarss,
        Miniflux,
        CommaFeed,
        NewsBlur,
        NutchAdaptive,
        Freshness,
        FullInformation,
    )
}


def make_policy(name: str, **settings: Any) -> Policy:
    """Return the policy of that name with its settings.

    Raises ValueError for an unknown policy or setting, with its name in the message.
    """
    if name not in POLICIES:
        raise ValueError(f"there is no policy {name!r}; choose one of {', '.join(sorted(POLICIES))}")
    try:
        return POLICIES[name](**settings)
    except TypeError as error:
        raise ValueError(f"policy {name!r} does not take these settings: {error}") from error


def weighs_audience(name: str) -> bool:
    """Return whether the policy has a weight c for subscribers. Raises ValueError for an unknown name."""
    return hasattr(make_policy(name), "c")
