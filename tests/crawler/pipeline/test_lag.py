"""Health and figures tell how far SPARQL is behind, and which graphs it has not; its files are private."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from crawler.pipeline.sparql.replica import ALIVE, TELL_SECONDS, Replica, home
from tests.crawler.pipeline.test_sparql import spoil
from tests.crawler.pipeline.test_store import URL, indexed, triple

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_directory(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


def told(client: Client) -> tuple[int, int]:
    found = client.get("/healthz").json()
    return found["graph_behind"], found["graphs_set_aside"]


def test_health_tells_how_many_changes_the_replica_is_behind(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "word"
    replica = Replica()
    replica.follow()
    assert told(client) == (0, 0)
    indexed(triple(1))
    indexed(triple(2), "http://site.example/other")
    assert told(client) == (2, 0)
    figures = client.get("/metrics", headers={"Authorization": "Bearer word"}).content.decode()
    assert "freshet_graph_changes_behind 2" in figures.splitlines()
    replica.follow()
    assert told(client) == (0, 0)


def test_health_tells_how_many_graphs_are_set_aside(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "word"
    indexed("\n".join([triple("good"), triple("spoilt")]), URL)
    spoil("spoilt", lang="en _:y")
    Replica().follow()
    assert told(client) == (0, 1)
    figures = client.get("/metrics", headers={"Authorization": "Bearer word"}).content.decode()
    assert "freshet_graphs_set_aside 1" in figures.splitlines()


def test_a_replica_that_is_started_alone_keeps_its_files_private(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        indexed(triple(1))
        call_command("sparql_replica", "--once")
    finally:
        os.umask(before)
    assert (tmp_path / "sparql").stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o077 == 0 for file in (tmp_path / "sparql").glob("*.json"))


def test_a_sign_of_life_is_written_now_and_then_and_a_trouble_at_once() -> None:
    replica = Replica()
    replica.tell()
    file = home() / ALIVE
    file.unlink()
    replica.tell()
    assert not file.exists()
    replica.tell("the disk is full")
    assert "the disk is full" in file.read_text()
    replica.tell()
    assert "the disk is full" not in file.read_text()
    file.unlink()
    replica._tell_again -= TELL_SECONDS
    replica.tell()
    assert file.exists()
