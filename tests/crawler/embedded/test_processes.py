"""What `manage.py run` waits for before it says that feeds are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawler.embedded.processes import children


def test_what_reads_feeds_comes_first_and_the_graph_and_enrichment_later(
    settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    later = [(child.name, child.later) for child in children()]
    assert {name for name, waits in later if not waits} == {"web", "controller", "terminal", "beat"}
    assert [waits for _, waits in later] == sorted(waits for _, waits in later)
