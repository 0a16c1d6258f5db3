"""What `manage.py run` waits for before it says that feeds are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawler.isolation import memory
from crawler.operation.deployment.processes import Sealed, children, without_password


def test_what_reads_feeds_and_serves_pages_always_runs_and_the_rest_on_demand(
    settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR, settings.PORT = tmp_path, 0
    on_demand = [(child.name, child.on_demand) for child in children(Sealed())]
    assert {name for name, waits in on_demand if not waits} == {"web", "controller", "terminal"}
    assert [waits for _, waits in on_demand] == sorted(waits for _, waits in on_demand)


def test_with_little_memory_all_work_at_the_database_is_done_by_one_process(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR, settings.PORT = tmp_path, 0
    everywhere = sorted(queue for child in children(Sealed()) for queue in child.queues)
    monkeypatch.setattr(memory, "is_small", lambda: True)
    started = children(Sealed())
    assert [child.name for child in started] == ["web", "terminal", "controller", "transformer"]
    assert sorted(queue for child in started for queue in child.queues) == everywhere


def test_an_address_is_told_without_its_password() -> None:
    assert without_password("pgmq://broker:p%40ss@127.0.0.1:5/broker") == "pgmq://127.0.0.1:5/broker"
    assert without_password("redis://127.0.0.1/1") == "redis://127.0.0.1/1"
