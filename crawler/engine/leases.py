"""Handing out work under leases. A lease on a host is the right to send it requests until it expires.

All work that waits for a free host is handed out as one batch, so that no two terminals, on whatever
machines, send requests to one host at a time.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from crawler.database.bulk import update_rows
from crawler.engine.chosen import chosen, pause_of
from crawler.engine.leased import TURNS, BatchSpace, claimable, lease_ended
from crawler.engine.logins import logins_of
from crawler.engine.models import Host
from crawler.engine.settle import lose
from crawler.engine.work import hostless, works
from crawler.fetching.http.logins import Login
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Assignment, Batch

MAX_IN_BATCH = 20
MIN_NEAR_LIMIT = 32


def lease_seconds() -> float:
    """Return the duration of a lease in seconds."""
    return float(settings.FETCH_DEADLINE_SECONDS + chosen("CRAWL_LEASE_SLACK_SECONDS"))


def _until(now: datetime) -> datetime:
    return now + timedelta(seconds=lease_seconds())


def hand_out(now: datetime, limit: int | None = None) -> list[Batch]:
    """Lease all dispatchable work: host-less batches first, then at most `limit` idle hosts."""
    hostless_batches = [batch for work in hostless() for batch in work.batches(_until(now))]
    return [*hostless_batches, *_hand_out_hosts(now, limit)]


@transaction.atomic
def _hand_out_hosts(now: datetime, at_most: int | None) -> list[Batch]:
    """Lease free hosts that have work, the longest unserved first, and build their batches.

    At most CRAWL_HOSTS_IN_FLIGHT hosts are leased at once: other work waits in PostgreSQL, where it can still
    be changed, and not in a queue. Near that limit no host is leased until several may be, because a message
    for each would cost more than the work.
    """
    max_hosts = chosen("CRAWL_HOSTS_IN_FLIGHT")
    space = max_hosts - Host.objects.filter(lease__isnull=False).count()
    # An eighth of a small limit, so that a deployment with few hosts is not held up.
    if space < max(min(MIN_NEAR_LIMIT, max_hosts // 8), 1):
        return []
    space = space if at_most is None else min(space, at_most)
    hosts = {host.id: host for host in _free_hosts_with_work(now)[:space]}
    # Crawls find their hosts by their own queue, after all that names its hosts by rows.
    for work in works():
        hosts |= {host.id: host for host in work.choose(now, space - len(hosts))}
    if not hosts:
        return []
    leases = {host: uuid.uuid4() for host in hosts}
    batches: dict[int, list[Assignment]] = {host: [] for host in hosts}
    # Every TURNS-th batch; on a busy host suspects would otherwise never get their turn.
    of_lost = {host: lease for host, lease in leases.items() if hosts[host].turns == 1}
    if of_lost:
        _fill(batches, of_lost, now, suspects_only=True)
    _fill(batches, leases, now)
    until = _until(now)
    leased_hosts = [hosts[host] for host, assigned in batches.items() if assigned]
    for row in leased_hosts:
        row.lease, row.leased_until, row.served = leases[row.id], until, now
        # The turn counts again only where a suspect was handed out: its lease tells whether it is the cause.
        if row.turns == 1 and _alone(batches[row.id]):  # others may have lost theirs with it
            row.turns = TURNS
        else:
            row.turns = max(row.turns - 1, 0)
    # Hosts that got nothing stay free: an empty batch would lock them for a lease.
    update_rows(Host, leased_hosts, ["lease", "leased_until", "served", "turns"])
    logins = logins_of(row.id for row in leased_hosts)
    return [_batch(row, batches[row.id], logins.get(row.id, ())) for row in leased_hosts]


def _fill(
    batches: dict[int, list[Assignment]],
    leases: Mapping[int, uuid.UUID],
    now: datetime,
    *,
    suspects_only: bool = False,
) -> None:
    """Add work of all kinds to the batches of these hosts, or only rows that have lost a lease."""
    for work in works():
        space = {
            host: BatchSpace(
                MAX_IN_BATCH,
                len(batches[host]),
                alone=_alone(batches[host]),
                suspects_only=suspects_only,
            )
            for host in leases
        }
        for host, assigned in work.lease(leases, space, now).items():
            batches[host] += assigned


def _alone(assigned: Sequence[Assignment]) -> bool:
    """Return whether the batch is closed because one of its assignments has lost a lease."""
    return any(assignment.suspect for assignment in assigned)


@transaction.atomic
def sweep(now: datetime) -> int:
    """Release expired leases. Returns their number.

    Their work is handed out again, or fails as lost.
    """
    # Hosts that are checked in at this moment are locked, and are not swept with their results on the way.
    hosts = claimable(Host.objects.only("lease").filter(lease_ended(now)).order_by("id"))
    expired = [host.lease for host in hosts if host.lease]
    return lose(expired, [(work, work.expired(now)) for work in hostless()])


def is_any_due(now: datetime) -> bool:
    """Return whether work is due at a free host, as a retry is whose pause has ended.

    Nothing else sends a message then: a visit to a site with one retry after 15 s went on at the next tick,
    ten minutes later.
    """
    return _hosts_with_work(now).exists()


def _free_hosts_with_work(now: datetime) -> QuerySet[Host]:
    # A host that was never served goes first, or new hosts would starve beside busy ones.
    return claimable(_hosts_with_work(now)).order_by(F("served").asc(nulls_first=True), "id")


def _hosts_with_work(now: datetime) -> QuerySet[Host]:
    waiting = [rows for work in works() if (rows := work.waiting(now)) is not None]
    conditions = [Exists(rows.filter(host=OuterRef("pk"))) for rows in waiting]
    is_free = Q(not_before__isnull=True) | Q(not_before__lte=now)
    return Host.objects.filter(is_free, reduce(or_, conditions), lease__isnull=True)


def _batch(host: Host, assignments: Sequence[Assignment], logins: Sequence[Login]) -> Batch:
    robots = None
    if host.robots_at is not None and host.robots_status is not None:
        tried = host.robots_tried.timestamp() if host.robots_tried is not None else 0.0
        robots = Robots(
            host.robots_status, host.robots_text, host.robots_at.timestamp(), host.robots_origin, tried
        )
    if host.lease is None or host.leased_until is None:
        raise ValueError(f"host {host.name} has no lease")
    return Batch(
        host=host.name,
        lease=str(host.lease),
        expires=host.leased_until.timestamp(),
        spacing=pause_of(host),
        assignments=tuple(assignments),
        robots=robots,
        logins=tuple(logins),
    )
