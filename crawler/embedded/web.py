"""gunicorn's configuration under `manage.py run`: `gunicorn -c python:crawler.embedded.web crawler.wsgi`."""

from typing import Any

from crawler.embedded import lifeline

worker_class = "gthread"
workers = 2
threads = 4
# A worker's loop says that it lives even while requests take long; only its start on a slow machine does not.
timeout = 600
graceful_timeout = 5
limit_request_line = 8190  # the most there is: filters are part of addresses
loglevel = "warning"
control_socket_disable = True


def post_fork(server: Any, worker: Any) -> None:
    """A worker must not hold the port when the master was killed."""
    lifeline.die_with_parent()


def post_worker_init(worker: Any) -> None:
    """The application is loaded: requests are answered from here on."""
    lifeline.tell_ready()
