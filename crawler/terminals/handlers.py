"""What terminals do with an assignment, by its kind: apps register handlers in their `terminal.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from django.conf import settings

from crawler.http.client import Client
from crawler.http.site_lines import Robots
from crawler.messages import Assignment, Harvest

Run = Callable[[Client, Assignment, Robots | None, float], Harvest]
"""Client, assignment, robots.txt where it is asked first, seconds between two requests to the host.

Every failure is named in what it answers; nothing is raised.
"""


@dataclass(frozen=True, slots=True)
class Handler:
    """A way to serve assignments of a kind; with `asks_robots`, the site's robots.txt is read before."""

    run: Run
    asks_robots: bool = False


_handlers: dict[str, Handler] = {}


def serves(kind: str, *, asks_robots: bool = False) -> Callable[[Run], Run]:
    """Decorator: terminals serve assignments of this kind with this function."""

    def register(run: Run) -> Run:
        _handlers[kind] = Handler(run, asks_robots)
        return run

    return register


def forget(kind: str) -> None:
    """They do so no longer; for tests that bring a kind of their own."""
    _handlers.pop(kind, None)


def handler_of(kind: str) -> Handler:
    """How assignments of a kind are served. Raises KeyError where nobody knows."""
    discover()
    return _handlers[kind]


def modules() -> list[str]:
    """Names of the modules that have handlers, each once."""
    discover()
    return sorted({handler.run.__module__ for handler in _handlers.values()})


@cache
def discover() -> None:
    """Import the `terminal.py` of every app of ours, once; calls that need them do it by themselves.

    Found by name, not in Django's registry: a terminal does not load the apps' models.
    """
    for app in settings.INSTALLED_APPS:
        if settings.BASE_DIR.joinpath(*app.split("."), "terminal.py").exists():
            import_module(f"{app}.terminal")
