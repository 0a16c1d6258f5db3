"""What the command line says of a database that nobody has prepared."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).parents[2]


@pytest.fixture
def empty_database():
    """The address of a new database without a table."""
    server = os.environ["DATABASE_URL"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS freshet_empty WITH (FORCE)")
        connection.execute("CREATE DATABASE freshet_empty")
        yield urlsplit(server)._replace(path="/freshet_empty").geturl()
        connection.execute("DROP DATABASE freshet_empty WITH (FORCE)")


@pytest.mark.parametrize("command", ["visit_sites", "enrich"])
def test_a_database_without_tables_is_named_in_a_line(empty_database, command):
    ended = subprocess.run(
        [sys.executable, "manage.py", command],
        cwd=ROOT, env={**os.environ, "DATABASE_URL": empty_database, "CELERY_BROKER_URL": "memory://"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr.strip().splitlines()[-1].endswith("manage.py migrate makes what is missing.")
    assert "Traceback" not in ended.stderr


def test_our_commands_begin_without_checks_for_development():
    """Django's checks load every page of the site: 0.7 of the 1.9 s that a command takes to begin."""
    ours = ("crawler", "feeds", "articles", "recrawl")
    commands = {name: app for name, app in get_commands().items() if app.startswith(ours)}
    assert len(commands) > 20
    checking = {
        name for name, app in commands.items() if load_command_class(app, name).requires_system_checks
    }
    assert checking == set()
