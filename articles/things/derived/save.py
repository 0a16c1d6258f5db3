"""Computation and storage of all derived graphs, one after the other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection

from articles.things.derived import links, mentions, names, people, stories
from articles.things.derived.weeks import CalendarWeek, last_weeks
from articles.things.gazetteer import MIN_DOCUMENTS, ORGANISATION, PERSON, Gazetteer
from crawler.pipeline.derived import last_derived, save_derived
from crawler.pipeline.index import Terms

log = logging.getLogger(__name__)

WEEKS = 2
"""Weeks that are computed again each time: their pages and stories still change."""
PERIOD = timedelta(hours=24)
_LOCK = 0x64657269
"""The advisory lock that keeps two derivations apart."""

Step = Callable[[], Terms]


def derive(now: datetime, weeks: int = WEEKS) -> dict[str, int]:
    """Compute all graphs, those of weeks for the last `weeks`. Returns the number of statements by graph.

    Graphs of earlier weeks stay as they were. One graph is in memory at a time.
    """
    counts = {}
    for name, step in _steps(now, weeks).items():
        graph = step()
        save_derived({name: graph}, now)
        counts[name] = len(graph)
    return counts


def derive_next(now: datetime) -> bool:
    """Compute the first graph that is due and can be computed. Returns whether others are due.

    Does nothing while another process derives. A graph that fails is logged, and the next one is computed.
    """
    with _alone() as is_alone:
        if not is_alone:
            return False
        due = [(name, step) for name, step in _steps(now, WEEKS).items() if _is_due(name, now)]
        for place, (name, step) in enumerate(due, 1):
            try:
                save_derived({name: step()}, now)
            except Exception:  # whatever it is, the other graphs do not wait for it
                log.exception("the graph %s cannot be derived", name)
            else:
                return place < len(due)
    return False


def is_due(now: datetime) -> bool:
    """Return whether a graph of today was not derived within the last day."""
    return any(_is_due(name, now) for name in _steps(now, WEEKS))


def _is_due(name: str, now: datetime) -> bool:
    last = last_derived(name)
    return last is None or now - last > PERIOD


def _steps(now: datetime, weeks: int) -> dict[str, Step]:
    """Return how each graph is computed, by its name."""
    steps: dict[str, Step] = {names.GRAPH: lambda: names.organisations_graph(names.known_names(ORGANISATION))}
    for week in last_weeks(now, weeks):
        steps |= _steps_of(week)
    return steps | {people.NAME: people.people_graph}


def _steps_of(week: CalendarWeek) -> dict[str, Step]:
    return {
        stories.NAME.format(week=week): lambda: stories.stories_graph(week),
        links.NAME.format(week=week): lambda: links.links_graph(week),
        mentions.NAME.format(week=week): lambda: _mentions(week),
    }


def _mentions(week: CalendarWeek) -> Terms:
    """Return the mentions of a week, by the names that are known now."""
    known_names = {row.name: row for kind in (PERSON, ORGANISATION) for row in names.known_names(kind)}
    gazetteer = Gazetteer([*known_names, *people.writers(MIN_DOCUMENTS)])
    return mentions.mentions_graph(week, gazetteer, known_names)


@contextmanager
def _alone() -> Iterator[bool]:
    """Hold the lock for the block. Yields False where another process has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        (is_alone,) = cursor.fetchone()
    try:
        yield is_alone
    finally:
        if is_alone:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
