"""Serving of batches by a terminal: download, analyse, report. No database; untrusted bytes stop here."""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue

from msgspec.structs import replace

from crawler.failures import Failure, FetchError
from crawler.fetching.http import robots, urls
from crawler.fetching.http.client import Client
from crawler.fetching.http.logins import Login
from crawler.fetching.http.site_lines import Robots
from crawler.isolation import memory
from crawler.isolation.lifeline import ending
from crawler.messages import TURN_SECONDS, Assignment, Batch, Harvest, Report, encode
from crawler.telemetry import logs
from crawler.terminals.answers import refused
from crawler.terminals.handlers import handler_of

log = logging.getLogger(__name__)


GATHER_SECONDS = 0.5
STUCK_SECONDS = 30.0
MAX_SPACING_SECONDS = 60.0
MIN_PAUSE_SECONDS = 1.0
# Issue 56: without the folder of locks each feed was told that it was malformed.
OURS = frozenset(
    {
        errno.EACCES, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOENT, errno.ENOMEM,
        errno.ENOSPC, errno.EPERM, errno.EROFS,
    }
)  # fmt: skip
"""Errors of this machine's files and memory, which say nothing about a publisher: the work is given back."""
MAX_BYTES = memory.share(1 / 300, 2, 32)
"""Bytes of documents after which a host's turn ends, and after which a message takes no further report."""
ROBOTS_AGE = 86_400.0  # RFC 9309, section 2.4
OLD_ROBOTS_AGE = 30 * 86_400.0
# Without it a site whose robots.txt fails got 11 to 13 requests for it (docs/notes/reliability.md).
ROBOTS_PAUSE = 300.0
"""Seconds before robots.txt is requested again after a failure."""


class StuckError(RuntimeError):
    """An error raised when a document blocks a thread long after its lease; only ending the process helps."""


def serve(client: Client, batches: Sequence[Batch], executor: ThreadPoolExecutor) -> Iterator[list[Report]]:
    """Serve batches and yield their reports in groups.

    Hosts are served in parallel, the assignments of one host in sequence. A report waits up to GATHER_SECONDS
    for others: fewer and larger messages mean fewer transactions. Batches whose lease has expired are
    dropped: their work is handed out again, and their reports would be ignored. Raises StuckError when a
    report does not come within STUCK_SECONDS after the last lease expired.
    """
    now = time.time()
    # Their work is with another terminal by now; two at one host would break its pause.
    late = [batch for batch in batches if batch.expires <= now]
    if late:
        log.warning("%d batches came after their lease had ended and are dropped", len(late))
    batches = [batch for batch in batches if batch.expires > now]
    patience = time.monotonic() + max((batch.expires - now for batch in batches), default=0.0) + STUCK_SECONDS
    finished: SimpleQueue[Future[Report]] = SimpleQueue()
    for batch in batches:
        executor.submit(serve_host, client, batch).add_done_callback(finished.put)
    outstanding = len(batches)
    while outstanding:
        group = _gathered(finished, outstanding, patience)
        if not group:
            # A thread that hangs in C cannot be stopped; the supervisor starts the process anew.
            raise StuckError(f"{outstanding} of {', '.join(batch.host for batch in batches)} do not end")
        outstanding -= len(group)
        yield group


def _gathered(finished: SimpleQueue[Future[Report]], max_reports: int, patience: float) -> list[Report]:
    """Return the next report and the reports within GATHER_SECONDS after it.

    Returns an empty list when no report comes until `patience` (monotonic seconds).
    """
    group: list[Report] = []
    until, weight = patience, 0
    while len(group) < max_reports and weight <= MAX_BYTES:
        try:
            report = finished.get(timeout=max(until - time.monotonic(), 0.0)).result()
        except Empty:
            break
        if not group:
            until = time.monotonic() + GATHER_SECONDS
        group.append(report)
        weight += sum(harvest.payload.weight for harvest in report.harvests if harvest.payload)
    return group


def serve_host(client: Client, batch: Batch) -> Report:
    """Serve the assignments of one host, as far as its lease and its turn last. Never raises.

    An assignment that would wait for its turn until its own deadline is left out, which gives it back, and
    the report asks for a pause of the host: a slow server or a long crawl delay must not make it fail as
    busy.
    """
    with logs.named(lease=batch.lease, host=batch.host):
        return _serve_host(client, batch)


def _logins_for(assignment: Assignment, batch: Batch) -> list[Login]:
    """Return the logins that are for everybody's feeds, and those of the person to whom this one belongs."""
    return [login for login in batch.logins if login.owner in (0, assignment.owner)]


def _serve_host(client: Client, batch: Batch) -> Report:
    shared, started = client, time.time()
    # The last request must end before the lease does, or another terminal may ask the host meanwhile.
    last_start = min(started + TURN_SECONDS, batch.expires - client.config.deadline)
    harvests: list[Harvest] = []
    rules, robots_copy = _known_rules(batch, started), batch.robots
    spacing, weight, pause = batch.spacing, 0, 0.0
    for assignment in batch.assignments:
        if time.time() > last_start or ending.is_set() or weight > MAX_BYTES:
            break
        client = shared.with_logins(_logins_for(assignment, batch)) if batch.logins else shared
        try:
            if _asks_robots(assignment):
                rules = _rules_for(client, assignment, rules, batch.robots, spacing)
                robots_copy = _worth_keeping(robots_copy, rules)
            harvest = _retrieve(client, assignment, rules, spacing)
        except FetchError as error:
            harvest = refused(assignment, time.time(), error)
        if harvest.failure == Failure.BUSY:  # nothing was asked
            # The rest of the batch goes back at once: waiting here would let neighbours fail as busy, too.
            pause = max(_wait(client, rules, spacing), harvest.retry_after or MIN_PAUSE_SECONDS)
            break
        harvests.append(harvest)
        spacing = slowed(batch.spacing, harvest.elapsed)
        weight += harvest.payload.weight if harvest.payload else 0
        wait = _wait(client, rules, spacing)
        if wait > client.config.deadline / 2:  # it would be a part of the next one's own
            pause = wait
            break
    return Report(
        batch.host, batch.lease, tuple(harvests), None if robots_copy is batch.robots else robots_copy, pause
    )


def packed(report: Report) -> str:
    """Encode a report as a message. A report that is too long is encoded with failures as its harvests."""
    try:
        return encode(report)
    except ValueError as error:
        failures = (
            Harvest(h.kind, h.id, h.at, h.url, failure=Failure.TOO_LARGE, detail=str(error), status=h.status)
            for h in report.harvests
        )
        # A report that cannot be sent would come back with every lease, for ever.
        return encode(replace(report, harvests=tuple(failures)))


def slowed(spacing: float, elapsed: float) -> float:
    """Return the seconds until the next request to a host: as long as it took to answer, at most a minute.

    Returns at least `spacing`. A host with `spacing` 0 is one's own, and gets no pause.
    """
    return max(spacing, min(elapsed, MAX_SPACING_SECONDS)) if spacing > 0 else 0.0


def _wait(client: Client, rules: Robots | None, spacing: float) -> float:
    """Return the seconds between two requests to a host."""
    delay = robots.crawl_delay(rules, client.config.user_agent) if rules is not None else 0.0
    return max(spacing, delay)


def _retrieve(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    try:
        handler = handler_of(assignment.kind)
        wait = _wait(client, rules, spacing) if handler.asks_robots else spacing
        return handler.run(client, assignment, rules if handler.asks_robots else None, wait)
    except OSError as error:
        if error.errno not in OURS:
            return _failed(assignment, error)
        # Issue 56: a full disk or a missing folder must not be told as a fault of the publisher.
        log.error("%s %s is given back: this machine fails: %s", assignment.kind, assignment.url, error)
        detail = f"this machine fails: {error.strerror}"
        return _harvest(assignment, Failure.BUSY, detail)
    except Exception as error:  # a fault of ours on an answer of theirs must not break the batch
        return _failed(assignment, error)


def _failed(assignment: Assignment, error: Exception) -> Harvest:
    log.warning("%s %s fails: %s: %s", assignment.kind, assignment.url, type(error).__name__, error)
    log.debug("where it failed", exc_info=True)
    return _harvest(
        assignment, Failure.MALFORMED, f"the analysis failed: {type(error).__name__}: {error}"[:500]
    )


def _harvest(assignment: Assignment, failure: Failure, detail: str) -> Harvest:
    return Harvest(
        assignment.kind, assignment.id, time.time(), assignment.url, failure=failure, detail=detail
    )


def _asks_robots(assignment: Assignment) -> bool:
    try:
        return handler_of(assignment.kind).asks_robots
    except KeyError:  # of another version; serving it says so
        return False


def _known_rules(batch: Batch, now: float) -> Robots | None:
    """Return the batch's robots.txt while it is fresh, or while a failed request must not be repeated yet.

    Returns None otherwise.
    """
    copy = batch.robots
    if copy is None:
        return None
    is_fresh = copy.status < 500 and now - copy.at < ROBOTS_AGE
    usable = copy.status >= 500 or now - copy.at < OLD_ROBOTS_AGE
    # A failed robots.txt is not asked for again with each page of the host.
    return copy if is_fresh or (usable and now - copy.tried < ROBOTS_PAUSE) else None


def _worth_keeping(robots_copy: Robots | None, rules: Robots) -> Robots:
    """Return the copy of robots.txt that the next batch should have.

    A failed request of another origin does not replace a good copy.
    """
    if (
        robots_copy is None
        or robots_copy.status >= 500
        or rules.status < 500
        or robots_copy.origin == rules.origin
    ):
        return rules
    return robots_copy


def _rules_for(
    client: Client, assignment: Assignment, rules: Robots | None, old: Robots | None, spacing: float
) -> Robots:
    """Return robots.txt of the page's origin, requested unless the copy at hand is of this origin.

    While it cannot be read, the last good copy is used for up to 30 days (RFC 9309, section 2.3.1.4, allows
    that). Raises FetchError (busy) if nothing was asked.
    """
    try:
        origin = urls.origin(urls.canonical_url(assignment.url))
    except urls.BadUrl:
        return Robots(404, "", 0.0)  # nothing is asked there: the retrieval itself says so
    if rules is not None and rules.origin == origin:
        return rules
    now = time.time()
    read = robots.read_robots(client, origin, now, spacing)
    if read.status < 500:
        return read
    if old is not None and old.status < 500 and old.origin == origin and now - old.at < OLD_ROBOTS_AGE:
        # RFC 9309, section 2.3.1.4: the last good rules hold on while a server fails.
        return replace(old, tried=now)
    return replace(read, tried=now)
