"""Promises about imports that the import contracts cannot spell: they hold at run time."""

import os
import subprocess
import sys

import pytest

# Celery itself loads django.conf; what matters is that no ORM, driver or model comes with it.
DATABASE = ("django.db", "django.apps", "psycopg", "crawler.engine.models", "feeds.models", "articles.models")
SHOW = "import sys, {module}; print(*sorted(m for m in sys.modules if m.startswith({unwanted!r})))"


@pytest.mark.parametrize(
    "module",
    [
        "crawler.terminals.serve",
        "crawler.http.client",
        "crawler.messages",
        "crawler.reading.feeds",
        "feeds.scheduling",
    ],
)
def test_importing_it_loads_nothing_of_the_database(module: str) -> None:
    known = {**os.environ, "DATABASE_URL": "none"}
    command = [sys.executable, "-c", SHOW.format(module=module, unwanted=DATABASE)]
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr
