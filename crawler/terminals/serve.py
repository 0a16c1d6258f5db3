"""A terminal serves batches: downloads, analyses, answers. No database; hostile bytes stop here."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from urllib.parse import urlsplit

from crawler.http import robots
from crawler.http.client import Client
from crawler.http.failures import Failure
from crawler.messages import TURN_SECONDS, Assignment, Batch, Harvest, Report, Robots
from crawler.terminals.crawl import crawl_page
from crawler.terminals.feed import read_push, retrieve_feed
from crawler.terminals.hub import ask_hub
from crawler.terminals.page import retrieve_page
from crawler.terminals.watch import read_source, watch_page

log = logging.getLogger(__name__)

# Set when the process is asked to end: no request is started any more, the rest of each batch is given back.
ending = threading.Event()

# What asks robots.txt first.
_BY_ROBOTS: dict[str, Callable[[Client, Assignment, Robots, float], Harvest]] = {
    "page": retrieve_page,
    "crawl": crawl_page,
    "watch": watch_page,
    "source": read_source,
}

GATHER_SECONDS = 0.5
STUCK_SECONDS = 30.0
LONGEST_SPACING = 60.0
ROBOTS_AGE = 86_400.0  # RFC 9309, section 2.4
OLD_ROBOTS_AGE = 30 * 86_400.0


class StuckError(RuntimeError):
    """A document keeps a thread busy long after its lease ended; only the end of the process frees it."""


def serve(client: Client, batches: Sequence[Batch], executor: ThreadPoolExecutor) -> Iterator[list[Report]]:
    """Reports in groups as they come: hosts side by side, the assignments of one host one after another.

    A report waits half a second at most for company: fewer and larger messages, fewer transactions.
    Raises StuckError when one does not come however long one waits.
    """
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
    """All assignments of one host, as far as its lease and its turn last. Never raises."""
    started = time.time()
    last_start = min(started + TURN_SECONDS, batch.expires - client.config.deadline)
    harvests: list[Harvest] = []
    rules, old = _known_rules(batch, started), batch.robots
    spacing = batch.spacing
    for assignment in batch.assignments:
        if time.time() > last_start or ending.is_set():
            break
        if assignment.kind in _BY_ROBOTS:
            rules = _rules_for(client, assignment, rules, old, spacing)
        harvests.append(_retrieve(client, assignment, rules, spacing))
        spacing = slowed(batch.spacing, harvests[-1].elapsed)
    readable = rules is not None and rules.status < 500 and rules is not old
    return Report(batch.host, batch.lease, tuple(harvests), rules if readable else None)


def slowed(spacing: float, elapsed: float) -> float:
    """Seconds until the next request to a host that took so long to answer: as long again, at most a minute.

    A host that may be asked without a pause (spacing 0) is one's own, and is not spared.
    """
    return max(spacing, min(elapsed, LONGEST_SPACING)) if spacing > 0 else 0.0


def _retrieve(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    try:
        if assignment.kind in _BY_ROBOTS and rules is not None:
            delay = robots.crawl_delay(rules, client.config.user_agent)
            return _BY_ROBOTS[assignment.kind](client, assignment, rules, max(spacing, delay))
        if assignment.kind == "hub":
            return ask_hub(client, assignment, spacing)
        if assignment.kind == "push":
            return read_push(assignment)
        return retrieve_feed(client, assignment, spacing)
    except Exception as error:  # a document that breaks the analysis must not break the batch
        log.exception("%s %s cannot be analysed", assignment.kind, assignment.url)
        detail = f"the analysis failed: {type(error).__name__}: {error}"[:500]
        return Harvest(
            assignment.kind,
            assignment.id,
            time.time(),
            assignment.url,
            failure=Failure.MALFORMED,
            detail=detail,
        )


def _known_rules(batch: Batch, now: float) -> Robots | None:
    """The copy of robots.txt that came with the batch, while it is fresh."""
    copy = batch.robots
    return copy if copy is not None and now - copy.at < ROBOTS_AGE else None


def _rules_for(
    client: Client, assignment: Assignment, rules: Robots | None, old: Robots | None, spacing: float
) -> Robots:
    """robots.txt of the page's origin, read when the copy at hand is another's or none.

    While it cannot be read, the last good copy holds for a month (RFC 9309, section 2.3.1.4, allows that).
    """
    parts = urlsplit(assignment.url)
    origin = f"{parts.scheme}://{parts.netloc}"
    if rules is not None and rules.origin == origin:
        return rules
    now = time.time()
    read = robots.read_robots(client, origin, now, spacing)
    if read.status >= 500 and old is not None and old.origin == origin and now - old.at < OLD_ROBOTS_AGE:
        return old
    return read
