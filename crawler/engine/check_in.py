"""Checking reports in: all that terminals brought, in one transaction."""

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
from crawler.engine.work import hostless
from crawler.http.failures import Failure
from crawler.http.site_lines import Robots
from crawler.messages import Harvest, Report

log = logging.getLogger(__name__)

# A whole host pauses after a refusal or a slow answer for at most this long; what was refused waits in full.
LONGEST_HOST_PAUSE = 600.0
ROBOTS_FIELDS = ("robots_origin", "robots_status", "robots_text", "robots_at", "robots_tried")


def check_in(reports: Sequence[Report]) -> None:
    """Store what terminals brought. Running it twice, or after the lease expired, changes nothing.

    Reports are stored together. If one of them cannot be stored, each is tried alone, and of the one
    that cannot, each answer: what cannot be stored ends as a failure of its own, the rest is stored.
    Raises DatabaseError for what has nothing to do with the reports, after quiet attempts.
    """
    reports = [report for report in reports if _has_lease(report)]
    try:
        harvests = retried(_store, reports)
    except Exception as error:  # whatever somebody's bytes make the database, Django or our code say
        if passing(error):
            raise
        if len(reports) > 1:
            for report in reports:
                check_in([report])
            return
        (report,) = reports
        log.warning("a report of %s cannot be stored as it is: %s", report.host, _in_a_line(error))
        harvests = retried(_store_mended, report)
    checked_in.send(sender=None, results=harvests)


def _has_lease(report: Report) -> bool:
    """Whether it names a lease at all; one that does not is nobody's."""
    try:
        uuid.UUID(report.lease)
    except ValueError:
        log.warning("a report without a lease was dropped")
        return False
    return True


@transaction.atomic
def _store(reports: Sequence[Report]) -> list[Harvest]:
    """The numbered way of every harvest; those that counted.

    1. Lock the hosts whose lease is still the report's; drop other reports.
    2. Settle what was brought.
    3. Release what was not done, and the hosts.
    """
    reported = {uuid.UUID(report.lease): report for report in reports}
    hosts = list(Host.objects.select_for_update().filter(lease__in=reported).order_by("id"))
    own = [lease for work in hostless() for lease in work.held(list(reported))]
    held = [*(host.lease for host in hosts if host.lease), *own]
    harvests = [harvest for lease in held for harvest in reported[lease].harvests]
    settle(harvests, held)
    for host in hosts:
        if host.lease:
            _remember(host, reported[host.lease])
    robots_read.send(sender=Host, hosts=hosts, now=datetime.now(UTC))
    give_back(held)
    return harvests


def _remember(host: Host, report: Report) -> None:
    """Write down robots.txt, and a wish for a pause."""
    if report.robots is not None:
        host.robots_status, host.robots_text = report.robots.status, report.robots.text
        host.robots_origin = report.robots.origin[:300]
        host.robots_at = datetime.fromtimestamp(report.robots.at, UTC)
        tried = report.robots.tried
        host.robots_tried = datetime.fromtimestamp(tried, UTC) if tried else None
    pauses = [
        harvest.at + min(harvest.retry_after or 0.0, LONGEST_HOST_PAUSE)
        for harvest in report.harvests
        if harvest.failure == Failure.THROTTLED
    ]
    if report.pause > 0:
        pauses.append(datetime.now(UTC).timestamp() + min(report.pause, LONGEST_HOST_PAUSE))
    if pauses:
        host.not_before = datetime.fromtimestamp(max(pauses), UTC)
    if report.robots is not None or pauses:
        host.save(update_fields=["not_before", *ROBOTS_FIELDS])


def _store_mended(report: Report) -> list[Harvest]:
    """Store a report without what cannot be stored, which counts as failed; else all of it is lost."""
    robots = report.robots
    if robots is not None and not _storable(replace(report, harvests=())):
        robots = Robots(500, "", robots.at, robots.origin, tried=robots.at)
    report = replace(report, robots=robots)
    bad = {id(harvest): why for harvest, why in _unstorable(report, report.harvests)}
    mended = tuple(_failed(h, bad[id(h)]) if id(h) in bad else h for h in report.harvests)
    try:
        return _store([replace(report, harvests=mended)])
    except Exception as worse:
        if passing(worse):
            raise
        log.error("a report of %s is given up: %s", report.host, _in_a_line(worse))
        _give_up(report)
        return []


def _unstorable(report: Report, harvests: Sequence[Harvest]) -> list[tuple[Harvest, Exception]]:
    """The answers that cannot be stored, each with the reason: halves are tried, and halves of halves."""
    if not harvests:
        return []
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
    """Why a report cannot be stored; nothing is. Raises what has nothing to do with the report."""
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
    """The failure that is stored in the place of an answer that cannot be."""
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
    """A report of which nothing can be stored counts as lost."""
    lease = uuid.UUID(report.lease)
    hosts = Host.objects.select_for_update().filter(lease=lease)
    lose([lease] if hosts.exists() else [], [(work, work.held([lease])) for work in hostless()])


def _in_a_line(error: Exception) -> str:
    """An error in one line of printable characters."""
    text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return "".join(sign if sign.isprintable() else "?" for sign in text)
