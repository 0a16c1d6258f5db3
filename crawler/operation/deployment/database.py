"""The database for commands that also work while Freshet is not running."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from django.conf import settings
from django.core.management.base import CommandError

from crawler.postgresql import place
from crawler.postgresql.credentials import EmbeddedError
from crawler.postgresql.postgresql import PostgreSQL, running_postmaster


def is_given() -> bool:
    """Return whether the database is given by DATABASE_URL, and not Freshet's own."""
    return bool(os.environ.get("DATABASE_URL"))


def is_running() -> bool:
    """Return whether Freshet's own database runs, so that Freshet does."""
    return running_postmaster(settings.DATA_DIR / "postgresql") is not None


def own_server(say: Callable[[str], None]) -> PostgreSQL:
    """Return Freshet's own PostgreSQL, prepared and not started.

    Restarts this command where its credentials were made or changed after the settings had read them, which
    gives the lock back for a moment: of two commands one goes on. Raises EmbeddedError for the other.
    """
    server = PostgreSQL(settings.DATA_DIR, say=say)
    server.prepare()
    if server.credentials.database_url != settings.DATABASE_URL:
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606 - this very command
    return server


@contextmanager
def answering_database(say: Callable[[str], None]) -> Iterator[None]:
    """Start Freshet's own PostgreSQL if it is not running, and stop it afterwards.

    Restarts this command once where its credentials are made for the first time: settings were read before.
    Raises CommandError if no database answers.
    """
    if settings.DATABASE_URL == "none" and is_given():
        raise CommandError("DATABASE_URL=none is for terminals: name a database, or leave it unset")
    server: PostgreSQL | None = None
    if not is_given() and not is_running():
        if problem := place.problem_of(settings.DATA_DIR):
            raise CommandError(problem)
        try:
            server = own_server(say)
            server.start()
        except EmbeddedError as error:
            raise CommandError(str(error)) from error
    try:
        psycopg.connect(settings.DATABASE_URL, connect_timeout=30).close()
        yield
    except psycopg.OperationalError as error:
        raise CommandError(f"the database does not answer: {error}") from error
    finally:
        if server is not None:
            server.stop()
