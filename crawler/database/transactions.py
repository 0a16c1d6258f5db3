"""Errors of the database: recognition of transient ones, and quiet retries."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import psycopg
from django.db import Error, InterfaceError, OperationalError, connection

log = logging.getLogger(__name__)

# Classes of SQLSTATE that say nothing of the data: connection, rollback (deadlock), resources, locks,
# operator, system.
_PASSING = {"08", "40", "53", "55", "57", "58"}
_CONTENDED = {"40", "55"}

CONTENTIONS = 8
AWAY_SECONDS = 60.0
"""How long a task waits for a database that does not answer."""

P = ParamSpec("P")
R = TypeVar("R")


def passing(error: BaseException) -> bool:
    """Return whether the error is transient, so that the same statement may succeed later."""
    state = _state(error)
    return state[:2] in _PASSING if state else isinstance(error, OperationalError | InterfaceError)


def retried(function: Callable[P, R], *arguments: P.args, **keywords: P.kwargs) -> R:
    """Call the function, a whole transaction, again after a deadlock or a lost connection.

    Returns its result.

    Deadlocks are retried a few times quietly, a database that is away is waited for. Raises the function's
    other errors. Inside another transaction it runs once, because only the outermost can be repeated.
    """
    contentions, until = 0, time.monotonic() + AWAY_SECONDS
    while True:
        try:
            return function(*arguments, **keywords)
        except Error as error:
            if connection.in_atomic_block or not passing(error):
                raise
            contended = _state(error)[:2] in _CONTENDED
            contentions += contended
            if contentions > CONTENTIONS or time.monotonic() > until:
                raise
            if not contended:
                log.warning("the database does not answer, trying again: %s", f"{error}".partition("\n")[0])
                connection.close()
            pause = min(0.05 * 2**contentions, 2.0) if contended else 2.0
            time.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - spreads those that met


def _state(error: BaseException) -> str:
    """Return PostgreSQL's SQLSTATE of an error, empty if it has none."""
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    return (cause.sqlstate or "") if isinstance(cause, psycopg.Error) else ""
