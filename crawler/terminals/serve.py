"""A terminal serves batches: downloads, analyses, answers. No database; hostile bytes stop here."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue

from msgspec.structs import replace

from crawler.http import robots, urls
from crawler.http.client import Client
from crawler.http.failures import Failure
from crawler.http.site_lines import Robots
from crawler.messages import TURN_SECONDS, Assignment, Batch, Harvest, Report, encode
from crawler.terminals.handlers import handler_of

log = logging.getLogger(__name__)

# Set when the process is asked to end: no request is started any more, the rest of each batch is given back.
ending = threading.Event()

GATHER_SECONDS = 0.5
STUCK_SECONDS = 30.0
LONGEST_SPACING = 60.0
SHORTEST_PAUSE = 1.0
MOST_BYTES = 32_000_000
"""Of documents in one report: with more, a host's turn ends, so that no message grows without bound."""
ROBOTS_AGE = 86_400.0  # RFC 9309, section 2.4
OLD_ROBOTS_AGE = 30 * 86_400.0
ROBOTS_PAUSE = 300.0
"""Seconds for which robots.txt is not asked for again after it could not be read."""


class StuckError(RuntimeError):
    """A document keeps a thread busy long after its lease ended; only the end of the process frees it."""


def serve(client: Client, batches: Sequence[Batch], executor: ThreadPoolExecutor) -> Iterator[list[Report]]:
    """Reports in groups as they come: hosts side by side, the assignments of one host one after another.

    A report waits half a second at most for company: fewer and larger messages, fewer transactions.
    Batches whose lease is over are dropped: their work goes out again, and nobody would take their reports.
    Raises StuckError when a report does not come however long one waits.
    """
    now = time.time()
    late = [batch for batch in batches if batch.expires <= now]
    if late:
        log.warning("%d batches came after their lease had ended and are dropped", len(late))
    batches = [batch for batch in batches if batch.expires > now]
    patience = max((batch.expires for batch in batches), default=0.0) + STUCK_SECONDS
    done: SimpleQueue[Future[Report]] = SimpleQueue()
    for batch in batches:
        executor.submit(serve_host, client, batch).add_done_callback(done.put)
    left = len(batches)
    while left:
        group = _gathered(done, left, patience)
        if not group:
            raise StuckError(f"{left} of {', '.join(batch.host for batch in batches)} do not end")
        left -= len(group)
        yield group


def _gathered(done: SimpleQueue[Future[Report]], most: int, patience: float) -> list[Report]:
    """The next report and what comes within GATHER_SECONDS of it; nothing if none comes until `patience`."""
    group: list[Report] = []
    until = patience
    while len(group) < most:
        try:
            report = done.get(timeout=max(until - time.time(), 0.0)).result()
        except Empty:
            break
        if not group:
            until = time.time() + GATHER_SECONDS
        group.append(report)
    return group


def serve_host(client: Client, batch: Batch) -> Report:
    """All assignments of one host, as far as its lease and its turn last. Never raises.

    What would have to wait for its turn until its own deadline is given back, and the host paused: a slow
    neighbour, or rules that ask for long pauses, must not end it as busy.
    """
    started = time.time()
    last_start = min(started + TURN_SECONDS, batch.expires - client.config.deadline)
    harvests: list[Harvest] = []
    rules, kept = _known_rules(batch, started), batch.robots
    spacing, weight, pause = batch.spacing, 0, 0.0
    for assignment in batch.assignments:
        if time.time() > last_start or ending.is_set() or weight > MOST_BYTES:
            break
        if _asks_robots(assignment):
            rules = _rules_for(client, assignment, rules, batch.robots, spacing)
            kept = _worth_keeping(kept, rules)
        harvest = _retrieve(client, assignment, rules, spacing)
        if harvest.failure == Failure.BUSY:  # nothing was asked
            pause = max(_wait(client, rules, spacing), SHORTEST_PAUSE)
            break
        harvests.append(harvest)
        spacing = slowed(batch.spacing, harvest.elapsed)
        weight += harvest.payload.weight if harvest.payload else 0
        wait = _wait(client, rules, spacing)
        if wait > client.config.deadline / 2:  # it would be a part of the next one's own
            pause = wait
            break
    return Report(batch.host, batch.lease, tuple(harvests), None if kept is batch.robots else kept, pause)


def packed(report: Report) -> str:
    """The report as a message. One that is too long for any says so of each of its assignments instead."""
    try:
        return encode(report)
    except ValueError as error:
        failures = (
            Harvest(h.kind, h.id, h.at, h.url, failure=Failure.TOO_LARGE, detail=str(error), status=h.status)
            for h in report.harvests
        )
        return encode(replace(report, harvests=tuple(failures)))


def slowed(spacing: float, elapsed: float) -> float:
    """Seconds until the next request to a host that took so long to answer: as long again, at most a minute.

    A host that may be asked without a pause (spacing 0) is one's own, and is not spared.
    """
    return max(spacing, min(elapsed, LONGEST_SPACING)) if spacing > 0 else 0.0


def _wait(client: Client, rules: Robots | None, spacing: float) -> float:
    """Seconds between two requests to a host."""
    delay = robots.crawl_delay(rules, client.config.user_agent) if rules is not None else 0.0
    return max(spacing, delay)


def _retrieve(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    try:
        handler = handler_of(assignment.kind)
        wait = _wait(client, rules, spacing) if handler.asks_robots else spacing
        return handler.run(client, assignment, rules if handler.asks_robots else None, wait)
    except Exception as error:  # a fault of ours on an answer of theirs must not break the batch
        log.warning("%s %s fails: %s: %s", assignment.kind, assignment.url, type(error).__name__, error)
        log.debug("where it failed", exc_info=True)
        detail = f"the analysis failed: {type(error).__name__}: {error}"[:500]
        return Harvest(
            assignment.kind,
            assignment.id,
            time.time(),
            assignment.url,
            failure=Failure.MALFORMED,
            detail=detail,
        )


def _asks_robots(assignment: Assignment) -> bool:
    try:
        return handler_of(assignment.kind).asks_robots
    except KeyError:  # of another version; serving it says so
        return False


def _known_rules(batch: Batch, now: float) -> Robots | None:
    """The copy of robots.txt that came with the batch, while it is fresh, or nothing newer can be had."""
    copy = batch.robots
    if copy is None:
        return None
    fresh = copy.status < 500 and now - copy.at < ROBOTS_AGE
    usable = copy.status >= 500 or now - copy.at < OLD_ROBOTS_AGE
    return copy if fresh or (usable and now - copy.tried < ROBOTS_PAUSE) else None


def _worth_keeping(kept: Robots | None, rules: Robots) -> Robots:
    """Which of the two the next batch should have; what could not be read is no better than another's."""
    if kept is None or kept.status >= 500 or rules.status < 500 or kept.origin == rules.origin:
        return rules
    return kept


def _rules_for(
    client: Client, assignment: Assignment, rules: Robots | None, old: Robots | None, spacing: float
) -> Robots:
    """robots.txt of the page's origin, read when the copy at hand is another's or none.

    While it cannot be read, the last good copy holds for a month (RFC 9309, section 2.3.1.4, allows that).
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
        return replace(old, tried=now)
    return replace(read, tried=now)
