"""Settling, giving back and losing leased work, inside the caller's transaction."""

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


def settle(results: Sequence[Harvest], leases: Sequence[uuid.UUID]) -> None:
    """Store the results of terminals under these leases, kind by kind. The caller has locked the leases.

    First every kind locks the rows that it shares with others. When all have settled, the signal `settled` is
    sent with their results.
    """
    now = datetime.now(UTC)
    by_kind: dict[str, list[Harvest]] = {}
    for result in results:
        by_kind.setdefault(result.kind, []).append(result)
    # In one order everywhere: locks that two kinds share are taken in the same sequence by all check-ins.
    kinds = sorted([*works(), *hostless()], key=lambda work: work.order)
    for work in kinds:
        # All lock before any settles, or the second kind's locks would come after the first kind's writes.
        work.lock(by_kind, leases)
    stored = {type(work): work.settle(by_kind, leases, now) for work in kinds if work.mine(by_kind)}
    settled.send(sender=None, stored=stored)


def give_back(leases: Sequence[uuid.UUID]) -> None:
    """Release the rows still held under these leases, and the hosts of these leases."""
    for work in _still_out([*works(), *hostless()], leases):
        work.give_back(leases)
    Host.objects.filter(lease__in=leases).update(lease=None, leased_until=None)


def _still_out(kinds: Sequence[Work], leases: Sequence[uuid.UUID]) -> list[Work]:
    """Return the kinds that may have rows under these leases.

    Most rows have just been settled, so one query finds the kinds that still have some. Kinds without a model
    are always returned.
    """
    with_rows = [work for work in kinds if hasattr(work, "model")]
    others = [work for work in kinds if work not in with_rows]
    if not leases or not with_rows:
        return others
    tables = (work.model._meta.db_table for work in with_rows)
    conditions = (f'EXISTS (SELECT FROM "{table}" WHERE lease = ANY(%(leases)s))' for table in tables)
    ((*out,),) = planned_rows(f"SELECT {', '.join(conditions)}", {"leases": list(leases)})
    return [*others, *(work for work, is_out in zip(with_rows, out, strict=True) if is_out)]


def lose(of_hosts: Sequence[uuid.UUID], hostless: Sequence[tuple[HostlessWork, Sequence[uuid.UUID]]]) -> int:
    """Count a loss for all work under these leases: of hosts, and of kinds of host-less work.

    The work is handed out again, but rows that have lost MAX_LOSSES leases in a row fail as lost
    (`crawler.engine.leased`). Returns the number of leases.
    """
    now = datetime.now(UTC)
    out: list[tuple[Work, Sequence[uuid.UUID]]] = [*hostless, *((work, of_hosts) for work in works())]
    leases = [*of_hosts, *(lease for _, leases in hostless for lease in leases)]
    if not leases:
        return 0
    failures = [failure for work, lost in out if lost for failure in work.lose(lost, now)]
    if failures:
        settle(failures, leases)
    Host.objects.filter(lease__in=of_hosts).update(turns=TURNS)
    give_back(leases)
    return len(leases)
