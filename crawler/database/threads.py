"""Threads beside those of requests and tasks, whose database connections nothing else would give back.

Django gives a connection back at the end of a request, Celery at the end of a task. A call in a pool of its
own is neither: sixteen looks at private addresses took all connections of the web server (issue 56), and it
answered nothing more until it was restarted.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class ConnectionThreads(ThreadPoolExecutor):
    """A pool of threads that give their database connections back after each call."""

    def submit(
        self, call: Callable[Arguments, Result], /, *arguments: Arguments.args, **keywords: Arguments.kwargs
    ) -> Future[Result]:
        """Run a call in one of the threads."""

        def run() -> Result:
            try:
                return call(*arguments, **keywords)
            finally:
                connections.close_all()

        return super().submit(run)


def give_back_connections() -> None:
    """Give this thread's connections back before a long wait, except those in a transaction."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
