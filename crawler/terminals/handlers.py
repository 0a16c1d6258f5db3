"""The registry of functions that serve assignments, by kind. Apps fill it in their `terminal.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from django.conf import settings

from crawler.fetching.http.client import Client
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Assignment, Harvest

Run = Callable[[Client, Assignment, Robots | None, float], Harvest]
"""A function of client, assignment, robots.txt (None if it is not read) and seconds between requests.

Returns a harvest, which also names any failure. Raises nothing.
"""


@dataclass(frozen=True, slots=True)
class Handler:
    """A function that serves assignments of a kind. With `asks_robots`, robots.txt is read first."""

    run: Run
    asks_robots: bool = False


_handlers: dict[str, Handler] = {}


def serves(kind: str, *, asks_robots: bool = False) -> Callable[[Run], Run]:
    """Register the decorated function as the handler of assignments of this kind.

    Raises ValueError when another function serves the kind.
    """

    def register(run: Run) -> Run:
        known_handler = _handlers.get(kind)
        # By name, so that a module that is imported a second time may register its function again.
        if known_handler is not None and _name(known_handler.run) != _name(run):
            names = f"{_name(run)} and {_name(known_handler.run)}"
            raise ValueError(f"{names} serve the same kind of assignments: {kind}")
        _handlers[kind] = Handler(run, asks_robots)
        return run

    return register


def _name(run: Run) -> str:
    return f"{run.__module__}.{run.__qualname__}"


def forget(kind: str) -> None:
    """Remove the handler of a kind, for tests that register their own."""
    _handlers.pop(kind, None)


def handler_of(kind: str) -> Handler:
    """Return the handler of a kind. Raises KeyError for an unknown kind."""
    discover()
    return _handlers[kind]


def modules() -> list[str]:
    """Return the sorted names of the modules that define handlers."""
    discover()
    return sorted({handler.run.__module__ for handler in _handlers.values()})


@cache
def discover() -> None:
    """Import the `terminal.py` of every app of ours, once. Functions that need handlers call this themselves.

    The files are found by name, not through Django's app registry: a terminal does not load the apps' models.
    """
    for app in settings.INSTALLED_APPS:
        if settings.BASE_DIR.joinpath(*app.split("."), "terminal.py").exists():
            import_module(f"{app}.terminal")
