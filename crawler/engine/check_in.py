"""Check-in of reports: storing the results of terminals in one transaction."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from django.db import transaction
from msgspec.structs import replace

from crawler.database.transactions import passing, retried
from crawler.engine.models import Host
from crawler.engine.settle import give_back, lose, settle
from crawler.engine.signals import checked_in, robots_read
from crawler.engine.work import hostless, work_of
from crawler.failures import Failure
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Harvest, Report
from crawler.telemetry import logs

log = logging.getLogger(__name__)

MAX_RETRY_AFTER_SECONDS = 24 * 3600.0
"""Upper limit of a whole host's pause after a Retry-After; the refused request itself waits in full."""
MAX_PAUSE_SECONDS = 600.0
"""Upper limit of a host's pause after slow answers."""
ROBOTS_FIELDS = ("robots_origin", "robots_status", "robots_text", "robots_at", "robots_tried")


def check_in(reports: Sequence[Report]) -> None:
    """Store the reports of terminals. Repeated and expired reports change nothing.

    All reports are stored in one transaction. If that fails, each report is stored alone, and of a report
    that still fails each harvest that cannot be stored is recorded as a failure. Raises DatabaseError, after
    some retries, for errors of the database that the reports did not cause.
    """
    reports = [report for report in reports if _has_lease(report)]
    try:
        harvests = retried(_store, reports)
    # Bad bytes raise whatever they like; only an error of the database itself may be tried again as it is.
    except Exception as error:  # whatever somebody's bytes make the database, Django or our code say
        if passing(error):
            raise
        # One poisoned report must not cost its neighbours' results.
        if len(reports) > 1:
            for report in reports:
                check_in([report])
            return
        (report,) = reports
        with logs.named(lease=report.lease, host=report.host):
            log.warning("a report of %s cannot be stored as it is: %s", report.host, _in_a_line(error))
            harvests = retried(_store_mended, report)
    # Behind the transaction: receivers that read the rows would otherwise wait for its locks.
    checked_in.send(sender=None, results=harvests)


def _has_lease(report: Report) -> bool:
    """Return whether the report carries a valid lease id."""
    try:
        uuid.UUID(report.lease)
    except ValueError:
        log.warning("a report without a lease was dropped")
        return False
    return True


@transaction.atomic
def _store(reports: Sequence[Report]) -> list[Harvest]:
    """Store reports in one transaction. Returns the harvests of reports whose lease still holds.

    1. Lock the hosts whose lease is still the report's, and ignore all other reports.
    2. Settle the harvests.
    3. Release the assignments without a harvest, and the hosts.
    """
    reported = {uuid.UUID(report.lease): report for report in reports}
    # By id: two check-ins that lock the same hosts in two orders would deadlock.
    hosts = list(Host.objects.select_for_update().filter(lease__in=reported).order_by("id"))
    hostless_leases = [lease for work in hostless() for lease in work.held(list(reported))]
    leases = [*(host.lease for host in hosts if host.lease), *hostless_leases]
    harvests = [harvest for lease in leases for harvest in reported[lease].harvests]
    settle(harvests, leases)
    for host in hosts:
        if host.lease:
            _remember(host, reported[host.lease])
    robots_read.send(sender=Host, hosts=hosts, now=datetime.now(UTC))
    give_back(leases)
    return harvests


def _remember(host: Host, report: Report) -> None:
    """Save the robots.txt and the pause that a report gives for its host."""
    if report.robots is not None:
        host.robots_status, host.robots_text = report.robots.status, report.robots.text
        host.robots_origin = report.robots.origin[:300]
        host.robots_at = datetime.fromtimestamp(report.robots.at, UTC)
        tried = report.robots.tried
        host.robots_tried = datetime.fromtimestamp(tried, UTC) if tried else None
    pauses = [
        harvest.at + min(harvest.retry_after or 0.0, MAX_RETRY_AFTER_SECONDS)
        for harvest in report.harvests
        if harvest.failure == Failure.THROTTLED
    ]
    # A terminal's own measure of slow answers, bounded: it may run on another's machine.
    if report.pause > 0:
        pauses.append(datetime.now(UTC).timestamp() + min(report.pause, MAX_PAUSE_SECONDS))
    if pauses:
        host.not_before = datetime.fromtimestamp(max(pauses), UTC)
    if report.robots is not None or pauses:
        host.save(update_fields=["not_before", *ROBOTS_FIELDS])


def _store_mended(report: Report) -> list[Harvest]:
    """Store a report with failures in place of the harvests that cannot be stored.

    Returns the stored harvests. If the report still cannot be stored, its lease counts as lost and nothing is
    returned.
    """
    robots = report.robots
    if robots is not None and not _storable(replace(report, harvests=())):
        # An unreadable robots.txt closes the host until it is read again (RFC 9309); it must not open it.
        robots = Robots(500, "", robots.at, robots.origin, tried=robots.at)
    report = replace(report, robots=robots)
    refused = _unstorable(report, report.harvests)
    bad = {id(harvest): _mended(report, harvest, why) for harvest, why in refused}
    mended = tuple(bad.get(id(harvest), harvest) for harvest in report.harvests)
    try:
        return _store([replace(report, harvests=mended)])
    except Exception as worse:
        if passing(worse):
            raise
        log.error("a report of %s is given up: %s", report.host, _in_a_line(worse))
        # Without this the report's rows would be out until their lease ends, then fail in the same way for
        # ever.
        _give_up(report)
        return []


def _mended(report: Report, harvest: Harvest, why: Exception) -> Harvest:
    """Return the storable part of a harvest, as its kind of work selects it, or a failure in its place."""
    work = work_of(harvest.kind)
    try:
        part = work and work.mended(harvest, lambda part: _refusal(replace(report, harvests=(part,))))
    except Exception as error:
        if passing(error):
            raise
        part = None
    return part or _failed(harvest, why)


def _unstorable(report: Report, harvests: Sequence[Harvest]) -> list[tuple[Harvest, Exception]]:
    """Return the harvests that cannot be stored, each with its error. Bisects the harvests to find them."""
    if not harvests:
        return []
    # Half by half: one bad harvest among a hundred takes some fourteen trials instead of a hundred.
    why = _refusal(replace(report, harvests=tuple(harvests)))
    if why is None:
        return []
    if len(harvests) == 1:
        return [(harvests[0], why)]
    middle = len(harvests) // 2
    return [*_unstorable(report, harvests[:middle]), *_unstorable(report, harvests[middle:])]


def _storable(report: Report) -> bool:
    return _refusal(report) is None


def _refusal(report: Report) -> Exception | None:
    """Try to store a report and roll back. Returns the error, or None when the report can be stored.

    Raises errors that the report did not cause.
    """
    try:
        with transaction.atomic():
            _store([report])
            transaction.set_rollback(True)
    except Exception as error:
        if passing(error):
            raise
        return error
    return None


def _failed(harvest: Harvest, error: Exception) -> Harvest:
    """Return the failure to store in place of a harvest that cannot be stored."""
    return Harvest(
        harvest.kind,
        harvest.id,
        datetime.now(UTC).timestamp(),
        "",
        failure=Failure.UNSTORABLE,
        detail=_in_a_line(error),
    )


@transaction.atomic
def _give_up(report: Report) -> None:
    """Count the lease of a report that cannot be stored as lost."""
    lease = uuid.UUID(report.lease)
    hosts = Host.objects.select_for_update().filter(lease=lease)
    lose([lease] if hosts.exists() else [], [(work, work.held([lease])) for work in hostless()])


def _in_a_line(error: Exception) -> str:
    """Format an error as one line of printable characters."""
    text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return "".join(sign if sign.isprintable() else "?" for sign in text)
