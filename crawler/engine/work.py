"""What the engine asks of a kind of work, and the list of kinds, which apps register in their `work.py`.

A piece of work is a row of an app, something to be fetched from a host. It waits, goes out under the lease of
its host, and comes back in one of three ways: settled with what a terminal brought, given back because nobody
got to it, or lost because no terminal answered. The engine decides when, and calls the kind for what changes.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from django.db.models import QuerySet
from django.utils.module_loading import autodiscover_modules

from crawler.engine.leased import LeasedRow, Room, lost
from crawler.engine.models import Host
from crawler.messages import Assignment, Batch, Harvest, Kind

Results = Mapping[str, Sequence[Harvest]]
"""What one check-in brought, by kind."""


class Work:
    """A kind of work. Every method runs in the caller's transaction, and may run twice.

    `kinds` are the names that its assignments and results carry. Kinds lease and settle in `order`: those
    that come first have the first places in a host's batch. Its rows are of the `model`.
    """

    kinds: tuple[str, ...] = ()
    order: int = 100
    model: type[LeasedRow]

    def waiting(self, now: datetime) -> QuerySet[Any] | None:
        """Rows with a `host` that may go out now; None where `choose` finds the hosts."""
        return None

    def choose(self, now: datetime, most: int) -> Sequence[Host]:
        """Free hosts that the kind would like to ask now, locked, best first; at most so many."""
        return []

    def lease(
        self, leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Put rows under the leases of these hosts, as far as there is room; assignments by host."""
        raise NotImplementedError

    def lock(self, results: Results, leases: Sequence[uuid.UUID]) -> None:
        """Lock rows that others change, too: all kinds do, in their order, before any of them settles."""

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> Any:
        """Store what came back for rows that are still under one of the leases.

        What it answers is sent with the signal `settled`, after all kinds have settled.
        """
        raise NotImplementedError

    def give_back(self, leases: Sequence[uuid.UUID]) -> object:
        """Free what is still under these leases; it waits again as if it had never been out."""
        return self.model.objects.under(leases).update(lease=None)

    def lose(self, leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
        """Count a loss for what is out under these leases; failures of what has lost too many.

        The engine settles these, and then gives back what is left.
        """
        return [lost(*self.named(row), now) for row in self.model.objects.under(leases).lose()]

    def named(self, row: Any) -> tuple[Kind, int, str]:
        """How the assignment of a row is called: its kind, id and address."""
        return self.kinds[0], row.pk, row.url

    def mine(self, results: Results) -> list[Harvest]:
        """Those of the results that are of its kinds."""
        return [result for kind in self.kinds for result in results.get(kind, ())]


class HostlessWork(Work):
    """A kind of work that asks no host, and so goes out in batches and under leases of its own."""

    def batches(self, until: datetime) -> list[Batch]:
        """Put what waits under leases until this time; a batch for each."""
        raise NotImplementedError

    def held(self, leases: Sequence[uuid.UUID]) -> list[uuid.UUID]:
        """Those of the leases under which something of it is out, locked."""
        raise NotImplementedError

    def expired(self, now: datetime) -> list[uuid.UUID]:
        """Its leases that ended without an answer, locked."""
        raise NotImplementedError


Stored = Mapping[type[Work], Any]
"""What kinds of work have settled, as the signal `settled` brings it."""

_registered: dict[type[Work], Work] = {}


def register(kind: type[Work]) -> type[Work]:
    """Class decorator: the engine does this kind of work from now on."""
    _registered[kind] = kind()
    return kind


def unregister(kind: type[Work]) -> None:
    """The engine does it no longer; for tests that bring a kind of their own."""
    _registered.pop(kind, None)


def works() -> list[Work]:
    """All kinds that ask hosts, in their order."""
    return [work for work in _all() if not isinstance(work, HostlessWork)]


def hostless() -> list[HostlessWork]:
    """All kinds that do not."""
    return [work for work in _all() if isinstance(work, HostlessWork)]


@cache
def discover() -> None:
    """Import the `work.py` of every app, once; calls that need them do it by themselves."""
    autodiscover_modules("work")


def _all() -> list[Work]:
    discover()
    return sorted(_registered.values(), key=lambda work: work.order)
