"""The examination of a deployment."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from crawler.engine import pulses
from crawler.engine.models import Pulse
from crawler.operation.deployment import doctor
from feeds.models import Tick

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of sites are not looked up in tests."""
    monkeypatch.setattr(doctor, "EXAMINATIONS", {**doctor.EXAMINATIONS, "network": lambda: iter(())})


@pytest.fixture
def healthy(db: None, settings: Any, tmp_path: Path) -> Iterator[None]:
    """A deployment in which all is well."""
    settings.DATA_DIR = tmp_path
    now = datetime.now(UTC)
    Tick.objects.create(started=now, finished=now)
    for queue in pulses.QUEUES:
        Pulse.objects.update_or_create(queue=queue, defaults={"answered": now, "sent": now})
    handler = http.server.BaseHTTPRequestHandler
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.PORT = server.server_port
        yield
        server.shutdown()


def found(part: str) -> list[tuple[str, str]]:
    return [(finding.level, finding.sentence) for finding in doctor.examined() if finding.part == part]


def test_a_healthy_deployment_is_fine(healthy: None, settings: Any) -> None:
    settings.CELERY_BROKER_URL = "memory://"
    bad = [finding for finding in doctor.examined() if finding.level == "bad" and finding.part != "queues"]
    assert bad == []
    assert found("pages") == [("fine", f"Pages are served at port {settings.PORT}.")]
    assert found("tables") == [("fine", "All tables are those of this version.")]


def test_what_is_silent_is_named(healthy: None, settings: Any) -> None:
    Tick.objects.update(finished=datetime.now(UTC) - timedelta(days=1))
    Pulse.objects.filter(queue=pulses.QUEUES[0]).delete()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        settings.PORT = listener.getsockname()[1]
    assert found("planning")[0][0] == found("pages")[0][0] == "bad"
    assert found("workers") == [("bad", f"Nobody works for: {pulses.QUEUES[0]}.")]


def test_a_clock_that_was_turned_back_is_noticed(healthy: None) -> None:
    Tick.objects.update(finished=datetime.now(UTC) + timedelta(days=1))
    assert found("clock")[0][0] == "bad"
    assert "turned back" in found("clock")[0][1]


@pytest.mark.parametrize(
    ("free", "level"), [(100_000_000, "bad"), (1_000_000_000, "note"), (9_000_000_000, "fine")]
)
def test_a_full_disk_is_noticed(
    healthy: None, monkeypatch: pytest.MonkeyPatch, free: int, level: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    monkeypatch.setattr(doctor.place, "problem_of", lambda path: "")
    assert [row[0] for row in found("disk")] == [level]


def test_a_folder_that_cannot_be_written_is_noticed(healthy: None, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings.DATA_DIR = tmp_path / "file"
    assert found("folder")[0][0] == "bad"


def test_tables_of_another_version_are_noticed(healthy: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('feeds', '9999_x', now())")
    assert "later version" in found("tables")[0][1]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'site'")
        cursor.execute("DELETE FROM django_migrations WHERE name = '9999_x'")
    assert "are waiting" in found("tables")[0][1]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'pipeline' AND name > '0007'")
    assert "too old for this one" in found("tables")[0][1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"PUBLIC_URL": "https://news.example"}, "ALLOWED_HOSTS refuses"),
        (
            {"PUBLIC_URL": "https://localhost", "BEHIND_TLS_PROXY": False},
            "no proxy stands before this server",
        ),
        ({"SIGN_UP": "open", "EMAIL_URL": ""}, "no mail can be sent"),
        ({"PUBLIC_URL": "https://localhost:8443", "BEHIND_TLS_PROXY": True}, "fit together"),
    ],
)
def test_settings_that_fight_are_named(
    healthy: None, settings: Any, changes: dict[str, Any], words: str
) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    assert any(words in sentence for _, sentence in found("settings"))


def test_an_examination_that_breaks_leaves_the_others(healthy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[doctor.Finding]:
        raise KeyError("what nobody thought of")

    monkeypatch.setitem(doctor.EXAMINATIONS, "folder", broken)
    assert "could not be examined" in found("folder")[0][1]
    assert found("tables")


@pytest.mark.parametrize(("level", "code"), [("fine", 0), ("note", 1), ("bad", 2)])
def test_the_exit_code_is_that_of_the_worst(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], level: Any, code: int
) -> None:
    finding = doctor.Finding("part", level, "A sentence.", "A remedy.")
    fine = doctor.Finding("other", "fine", "All is well.")
    monkeypatch.setattr(doctor, "EXAMINATIONS", {"a": lambda: iter([finding]), "b": lambda: iter([fine])})
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json")
    assert ended.value.code == code
    assert json.loads(capsys.readouterr().out)[0]["sentence"] == "A sentence."
    with pytest.raises(SystemExit):
        call_command("doctor", "--quiet", "--no-color")
    assert ("→ A remedy." in capsys.readouterr().out) == (level != "fine")


def test_without_a_database_the_rest_is_examined(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json"], cwd=ROOT, text=True, capture_output=True,
        env={
            **os.environ, "DATABASE_URL": "postgresql://x:y@127.0.0.1:1/z", "DATA_DIR": str(tmp_path),
            "CELERY_BROKER_URL": "redis://127.0.0.1:1",
        }, timeout=60, check=False,
    )  # fmt: skip
    rows = json.loads(ended.stdout)
    assert ended.returncode == 2
    assert sum("database does not answer" in row["sentence"] for row in rows) == 1
    assert any("queues in redis do not answer" in row["sentence"] for row in rows)
