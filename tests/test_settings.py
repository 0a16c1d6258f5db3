"""The settings: a bad value fails at start by name, and importing them connects nowhere."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pgmq.base import PGMQConfig

from crawler import environment
from crawler.postgresql import place

CLOSED_PORT_URL = "postgresql://nobody:nothing@127.0.0.1:1/nowhere"


def start(data_dir: Path, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a fresh process that knows only these variables."""
    known = {
        "PATH": os.environ["PATH"],
        "DATA_DIR": str(data_dir),
        "DJANGO_SETTINGS_MODULE": "crawler.settings",
    }
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env={**known, **variables}, capture_output=True, text=True, check=False)


EVERYTHING = (
    "import django; django.setup(); import crawler.engine.tasks, crawler.terminals.tasks; print('fine')"
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://root@localhost/feeds"),
        ("DATABASE_URL", "postgresql://localhost:port/feeds"),
        ("DATABASE_URL", "postgresql://localhost"),
        ("CELERY_BROKER_URL", "ftp://localhost"),
        ("PORT", "http"),
        ("PORT", "0"),
        ("FEED_TICK_SECONDS", "-5"),
        ("FEED_BUDGET", "nan"),
        ("FETCH_ALLOWED_NETWORKS", "10.0.0.0/33"),
        ("BEHIND_TLS_PROXY", "maybe"),
        ("LOG_LEVEL", "LOUD"),
        ("FEED_BRIDGES", "https://hub.example"),
        ("FEED_BRIDGES", "other=https://hub.example"),
        ("FEED_BRIDGES", "rsshub=hub.example"),
        ("FEED_BRIDGES", "rsshub=https://[hub.example"),
        ("FEED_BRIDGES", "rsshub=https://a.example, rsshub=https://b.example"),
    ],
)
def test_a_bad_value_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    readers = {
        "DATABASE_URL": lambda: environment.database(name, environment.text(name)),
        "CELERY_BROKER_URL": lambda: environment.broker("", "memory://"),
        "PORT": lambda: environment.integer(name, 8000, min_value=1),
        "FEED_TICK_SECONDS": lambda: environment.integer(name, 600, min_value=1),
        "FEED_BUDGET": lambda: environment.number(name, 1.0),
        "FETCH_ALLOWED_NETWORKS": lambda: environment.networks(name),
        "BEHIND_TLS_PROXY": lambda: environment.switch(name, False),
        "LOG_LEVEL": lambda: environment.choice(name, "INFO", ("INFO",)),
        "FEED_BRIDGES": lambda: environment.bridges(name),
    }
    with pytest.raises(ImproperlyConfigured, match=name):
        readers[name]()


def test_bridges_are_named_by_their_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.bridges("FEED_BRIDGES") == {}
    monkeypatch.setenv("FEED_BRIDGES", "rsshub=https://hub.example/, rss-bridge = https://a.example/bridge01")
    assert environment.bridges("FEED_BRIDGES") == {
        "rsshub": "https://hub.example",
        "rss-bridge": "https://a.example/bridge01",
    }


def test_the_start_fails_on_a_bad_value_and_tells_no_password(tmp_path: Path) -> None:
    code = "import django; django.setup()"
    done = start(tmp_path, code, DATABASE_URL="mysql://root:hunter2@localhost/feeds")
    assert done.returncode != 0
    assert "ImproperlyConfigured: DATABASE_URL must start with postgresql://" in done.stderr
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize("variables", [{}, {"DATABASE_URL": "none"}, {"DATABASE_URL": CLOSED_PORT_URL}])
def test_everything_imports_without_a_usable_database(tmp_path: Path, variables: dict[str, str]) -> None:
    done = start(
        tmp_path,
        EVERYTHING,
        **variables,
    )
    assert (done.stdout, done.returncode) == ("fine\n", 0), done.stderr


def test_without_a_database_a_query_says_so(tmp_path: Path) -> None:
    code = "import django; django.setup(); from django.db import connection; connection.cursor()"
    assert "settings.DATABASES is improperly configured" in start(tmp_path, code, DATABASE_URL="none").stderr


def test_a_database_url_is_taken_apart() -> None:
    found = environment.database(
        "DATABASE_URL", "postgresql://us%40er:p%2Fw@db.example:6432/feeds?sslmode=require"
    )
    assert found["USER"] == "us@er"
    assert found["PASSWORD"] == "p/w"
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("db.example", "6432", "feeds")
    assert found["OPTIONS"]["sslmode"] == "require"


def test_the_secret_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "new" / "secret_key"
    first = environment.kept_secret(file)
    assert len(first) >= 50
    assert environment.kept_secret(file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_a_given_database_carries_the_queues_too_unless_a_broker_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CELERY_BROKER_URL", raising=False)
    assert environment.broker("postgresql://u:p@h/d?sslmode=require", "memory://") == "pgmq://u:p@h/d"
    assert environment.broker("", "pgmq://own") == "pgmq://own"
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://elsewhere/0")
    assert environment.broker("postgresql://u:p@h/d", "memory://") == "redis://elsewhere/0"


def test_the_queues_never_open_a_database_url_found_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://freshet:x@database/freshet")
    options = environment.transport_options("pgmq://broker:y@queues:5433/broker", 600)
    assert "host=queues port=5433 dbname=broker" in PGMQConfig(conn_string=options["conn_string"]).dsn


def test_a_task_is_not_handed_out_again_while_it_may_still_run() -> None:
    for url in ("pgmq://u:p@h/d", "redis://h/0"):
        limit = settings.CELERY_TASK_TIME_LIMIT
        assert environment.transport_options(url, limit + 60)["visibility_timeout"] > limit


def test_root_in_a_closed_directory_keeps_its_data_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert place.default_data_dir(closed).is_relative_to("/var/lib")
    assert place.default_data_dir(Path("/usr")) == Path("/usr/var")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert place.default_data_dir(closed) == closed / "var"


def test_every_answer_carries_a_policy_without_inline_sources(client: Client) -> None:
    policy = client.get("/nowhere").headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy


def test_a_former_name_is_read_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWL_BUDGET", "3")
    with pytest.warns(UserWarning, match="CRAWL_BUDGET is called FEED_BUDGET now"):
        assert environment.number("FEED_BUDGET", 1.0) == 3
    monkeypatch.setenv("FEED_BUDGET", "2")
    assert environment.number("FEED_BUDGET", 1.0) == 2
