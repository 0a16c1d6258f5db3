"""Time limits of requests in the database: two seconds for searches, a minute for anything else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl

import psycopg
from django.db import DatabaseError, connection, connections
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from crawler.web.refusals import refusal

MAX_SEARCH_SECONDS = 1.6
"""For all statements of a search together; the page around it must be made within two seconds, too."""
MAX_STATEMENT_SECONDS = 60
_MIN_STATEMENT_SECONDS = 0.05
_SESSION_SECONDS = 1.0
"""Seconds that a statement on sessions has at least."""
_SEARCH_FIELDS = {"q", "query"}

Handler = Callable[[HttpRequest], HttpResponse]


def is_search(query: str) -> bool:
    """Return whether the query string of an address searches for words."""
    try:
        return any(name in _SEARCH_FIELDS for name, _ in parse_qsl(query))
    except ValueError:
        return False


def bound_statements() -> None:
    """Let PostgreSQL cancel any statement of this process after a minute."""
    options = connections.settings["default"].setdefault("OPTIONS", {})
    earlier_options = options.get("options", "")
    options["options"] = f"{earlier_options} -c statement_timeout={1000 * MAX_STATEMENT_SECONDS}".strip()


class Deadline:
    """Middleware that limits the time of searches, and explains when any statement was stopped."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request. In searches each statement is limited to the time that is left."""
        if request.method not in {"GET", "HEAD"} or not is_search(request.META.get("QUERY_STRING", "")):
            return self.get_response(request)
        with limited_to(MAX_SEARCH_SECONDS):
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return 503 with the reason when PostgreSQL stopped a statement for its time."""
        if not isinstance(exception, DatabaseError) or not _is_stopped(exception):
            return None
        if is_search(request.META.get("QUERY_STRING", "")):
            message = gettext_lazy(
                "This search takes too long: use fewer or rarer words, or ask for less at once."
            )
        else:
            message = gettext_lazy(
                "This took the database too long and was stopped: ask for less at once, or try later."
            )
        return refusal(request, message, 503)


@contextmanager
def limited_to(seconds: float) -> Iterator[None]:
    """Let all statements of a block share this time. One that comes too late raises DatabaseError."""
    limit = _SharedLimit(seconds)
    with connection.execute_wrapper(limit):
        try:
            yield
        finally:
            limit.lift()


class OverdueError(DatabaseError):
    """An error for a statement that was not begun because the time of its search was over."""


class _SharedLimit:
    """A wrapper around statements that share one allowance of time."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._set_to = 0.0

    def __call__(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
        remaining = self._until - time.monotonic()
        if "django_session" in str(
            sql
        ):  # middleware reads it around the view, where a refusal would be an error
            remaining = max(remaining, _SESSION_SECONDS)
        if remaining < _MIN_STATEMENT_SECONDS:
            raise OverdueError("the time of this search is over")
        if not self._set_to or remaining < self._set_to - _MIN_STATEMENT_SECONDS:
            _set_timeout(f"SET statement_timeout = {int(1000 * remaining)}")
            self._set_to = remaining
        return execute(sql, params, many, context)

    def lift(self) -> None:
        """Restore the connection's usual limit. A broken connection is reopened by its next user."""
        if self._set_to:
            try:
                _set_timeout("RESET statement_timeout")
            except DatabaseError:
                connection.close()


def _set_timeout(statement: str) -> None:
    if connection.connection is not None:
        with connection.wrap_database_errors:
            connection.connection.execute(statement)


def _is_stopped(error: DatabaseError) -> bool:
    return isinstance(error, OverdueError) or isinstance(error.__cause__, psycopg.errors.QueryCanceled)
