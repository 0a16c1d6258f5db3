"""The interface of a kind of work, and the registry of kinds, which apps fill in their `work.py`.

A piece of work is a row of an app: something to fetch from a host. It waits, is handed out under the lease of
its host, and ends in one of three ways: settled with a terminal's result, given back because the terminal did
not get to it, or lost because no terminal answered. The engine decides when, and calls the kind to change the
rows.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from django.db.models import QuerySet
from django.utils.module_loading import autodiscover_modules

from crawler.engine.leased import BatchSpace, LeasedRow, lost
from crawler.engine.models import Host
from crawler.messages import Assignment, Batch, Harvest, Kind

Refusal = Callable[[Harvest], Exception | None]
Results = Mapping[str, Sequence[Harvest]]
"""Harvests of one check-in by kind."""


class Work:
    """A kind of work. Every method runs in the caller's transaction, and may run twice.

    `kinds` are the names that its assignments and results carry. Kinds lease and settle by ascending `order`:
    the first kinds get the first places in a host's batch. `model` is the class of its rows.
    """

    kinds: tuple[str, ...] = ()
    order: int = 100
    model: type[LeasedRow]

    def waiting(self, now: datetime) -> QuerySet[Any] | None:
        """Return the rows with a `host` that may be handed out now.

        Returns None if `choose` finds the hosts.
        """
        return None

    def choose(self, now: datetime, limit: int) -> Sequence[Host]:
        """Lock and return at most `limit` free hosts that the kind would serve now, best first."""
        return []

    def lease(
        self, leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Lease rows under the leases of these hosts, as far as there is room.

        Returns assignments by host id.
        """
        raise NotImplementedError

    def lock(self, results: Results, leases: Sequence[uuid.UUID]) -> None:
        """Lock rows that other kinds change, too.

        The engine calls this for every kind, in order, before any of them settles.
        """

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> Any:
        """Store the results of rows that are still under one of the leases.

        The return value is sent with the signal `settled`, after all kinds have settled.
        """
        raise NotImplementedError

    def mended(self, harvest: Harvest, refusal: Refusal) -> Harvest | None:
        """Return the harvest without the parts that cannot be stored, or None when nothing can be.

        `refusal` tries to store a harvest. It returns the error, or None when the harvest can be stored.
        """
        return None

    def give_back(self, leases: Sequence[uuid.UUID]) -> object:
        """Free the rows still under these leases. They wait as if they had never been handed out."""
        return self.model.objects.under(leases).update(lease=None)

    def lose(self, leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
        """Count a loss for the rows under these leases. Returns failures of the rows that have lost too many.

        The engine settles the failures, and then gives back the other rows.
        """
        return [lost(*self.named(row), now) for row in self.model.objects.under(leases).lose()]

    def named(self, row: Any) -> tuple[Kind, int, str]:
        """Return the kind, id and URL of a row's assignment."""
        return self.kinds[0], row.pk, row.url

    def mine(self, results: Results) -> list[Harvest]:
        """Return the results of this work's kinds."""
        return [result for kind in self.kinds for result in results.get(kind, ())]


class HostlessWork(Work):
    """A kind of work that needs no host, and is handed out in batches and under leases of its own."""

    def batches(self, until: datetime) -> list[Batch]:
        """Lease all waiting work until this time. Returns one batch for each lease."""
        raise NotImplementedError

    def held(self, leases: Sequence[uuid.UUID]) -> list[uuid.UUID]:
        """Lock and return the leases among `leases` under which work of this kind is out."""
        raise NotImplementedError

    def expired(self, now: datetime) -> list[uuid.UUID]:
        """Return the leases of this kind that ended without an answer, locked."""
        raise NotImplementedError


Stored = Mapping[type[Work], Any]
"""Results of `Work.settle` by class, as the signal `settled` carries them."""

_registered: dict[type[Work], Work] = {}


def register(kind: type[Work]) -> type[Work]:
    """Register a kind of work with the engine. Used as a class decorator.

    Raises ValueError when another work settles harvests of one of its kinds.
    """
    # Two kinds that settle one harvest would both count it.
    others = [other for other in _registered if other is not kind and set(other.kinds) & set(kind.kinds)]
    if others:
        raise ValueError(f"{kind.__name__} and {others[0].__name__} serve the same kind of assignments")
    _registered[kind] = kind()
    return kind


def unregister(kind: type[Work]) -> None:
    """Remove a kind of work from the engine, for tests that register their own."""
    _registered.pop(kind, None)


def works() -> list[Work]:
    """Return all kinds that need hosts, by `order`."""
    return [work for work in _all() if not isinstance(work, HostlessWork)]


def hostless() -> list[HostlessWork]:
    """Return all kinds that need no host, by `order`."""
    return [work for work in _all() if isinstance(work, HostlessWork)]


@cache
def discover() -> None:
    """Import the `work.py` of every app, once. Functions that need the registry call this themselves."""
    autodiscover_modules("work")


def work_of(kind: str) -> Work | None:
    """Return the work that settles harvests of a kind. Returns None for an unknown kind."""
    return next((work for work in _all() if kind in work.kinds), None)


def _all() -> list[Work]:
    discover()
    return sorted(_registered.values(), key=lambda work: work.order)
