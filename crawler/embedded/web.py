"""The web server under `manage.py run`: a worker of gunicorn, of which the supervisor is the master."""

from __future__ import annotations

import os
from typing import Any

from django.utils.module_loading import import_string
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from gunicorn.sock import create_sockets  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from crawler.process import lifeline


class WebServer(BaseApplication):  # type: ignore[misc]
    """gunicorn on this address, in this process and its threads."""

    def __init__(self, bind: str) -> None:
        self._bind = bind
        super().__init__()

    def load_config(self) -> None:
        """What gunicorn is told."""
        known = {
            "bind": self._bind,
            "threads": 8,
            "graceful_timeout": 5,
            "limit_request_line": 8190,  # the most there is: filters are part of addresses
            "loglevel": "warning",
            "post_worker_init": _tell,
        }
        for name, value in known.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """The application; it looks at the static files that there are."""
        return import_string("crawler.wsgi.application")

    def run(self) -> None:
        """Answer requests until a signal ends it. gunicorn's own master would be one more process."""
        log = self.cfg.logger_class(self.cfg)
        sockets = create_sockets(self.cfg, log)
        lifeline.die_when_stuck()
        worker = ThreadWorker(1, os.getppid(), sockets, self, self.cfg.timeout, self.cfg, log)
        worker.init_process()


def _tell(worker: Any) -> None:
    """The application is loaded: requests are answered from here on."""
    lifeline.tell_ready()
