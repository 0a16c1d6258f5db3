"""The web server under `manage.py run`: gunicorn with one process of several threads."""

from __future__ import annotations

from typing import Any

from django.utils.module_loading import import_string
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]

from crawler.process import lifeline


class WebServer(BaseApplication):  # type: ignore[misc]
    """gunicorn on this address; `run` returns when it has ended."""

    def __init__(self, bind: str) -> None:
        self._bind = bind
        super().__init__()

    def load_config(self) -> None:
        """What gunicorn is told."""
        known = {
            "bind": self._bind,
            "worker_class": "gthread",
            "workers": 1,
            "threads": 8,
            # A worker's loop says that it lives even while requests take long; only its start on a slow
            # machine does not.
            "timeout": 600,
            "graceful_timeout": 5,
            "limit_request_line": 8190,  # the most there is: filters are part of addresses
            "loglevel": "warning",
            "control_socket_disable": True,
            "post_fork": _tie,
            "post_worker_init": _tell,
        }
        for name, value in known.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """The application, made in the worker: it looks at the static files that there are."""
        return import_string("crawler.wsgi.application")


def _tie(server: Any, worker: Any) -> None:
    """A worker must not hold the port when the master was killed."""
    lifeline.die_with_parent()


def _tell(worker: Any) -> None:
    """The application is loaded: requests are answered from here on."""
    lifeline.tell_ready()
