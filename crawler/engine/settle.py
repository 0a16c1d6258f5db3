"""What came of leased work: settled with its answer, given back, or lost; inside the caller's transaction."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from crawler.database.prepared import planned_rows
from crawler.engine.leased import TURNS
from crawler.engine.models import Host
from crawler.engine.signals import settled
from crawler.engine.work import HostlessWork, Work, hostless, works
from crawler.messages import Harvest


def settle(results: Sequence[Harvest], held: Sequence[uuid.UUID]) -> None:
    """Store what terminals brought under these leases, which the caller has locked: kind by kind, in order.

    First all lock what they share with others. When all have settled, whoever wants to go on with what was
    stored hears of it.
    """
    now = datetime.now(UTC)
    brought: dict[str, list[Harvest]] = {}
    for result in results:
        brought.setdefault(result.kind, []).append(result)
    kinds = sorted([*works(), *hostless()], key=lambda work: work.order)
    for work in kinds:
        work.lock(brought, held)
    stored = {type(work): work.settle(brought, held, now) for work in kinds if work.mine(brought)}
    settled.send(sender=None, stored=stored)


def give_back(held: Sequence[uuid.UUID]) -> None:
    """Give back what was not done, and set the hosts of these leases free."""
    for work in _still_out([*works(), *hostless()], held):
        work.give_back(held)
    Host.objects.filter(lease__in=held).update(lease=None, leased_until=None)


def _still_out(kinds: Sequence[Work], leases: Sequence[uuid.UUID]) -> list[Work]:
    """The kinds that have a row under one of these leases: seldom any, for most has just been settled."""
    with_rows = [work for work in kinds if hasattr(work, "model")]
    others = [work for work in kinds if work not in with_rows]
    if not leases or not with_rows:
        return others
    tables = (work.model._meta.db_table for work in with_rows)
    found = (f'EXISTS (SELECT FROM "{table}" WHERE lease = ANY(%(leases)s))' for table in tables)
    ((*out,),) = planned_rows(f"SELECT {', '.join(found)}", {"leases": list(leases)})
    return [*others, *(work for work, is_out in zip(with_rows, out, strict=True) if is_out)]


def lose(of_hosts: Sequence[uuid.UUID], own: Sequence[tuple[HostlessWork, Sequence[uuid.UUID]]]) -> int:
    """Count a loss for all that is out under these leases: of hosts, and of kinds that ask none. How many.

    It goes out again, but for what has lost too many in a row (`crawler.engine.leased`): that fails as lost.
    """
    now = datetime.now(UTC)
    out: list[tuple[Work, Sequence[uuid.UUID]]] = [*own, *((work, of_hosts) for work in works())]
    leases = [*of_hosts, *(lease for _, leases in own for lease in leases)]
    if not leases:
        return 0
    failures = [failure for work, lost in out if lost for failure in work.lose(lost, now)]
    if failures:
        settle(failures, leases)
    Host.objects.filter(lease__in=of_hosts).update(turns=TURNS)
    give_back(leases)
    return len(leases)
