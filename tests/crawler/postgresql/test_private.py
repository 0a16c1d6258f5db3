"""What earlier versions left readable in the data directory is closed, and what comes later is too."""

from __future__ import annotations

import os
from pathlib import Path

from crawler.postgresql import place


def test_logs_and_the_graph_are_their_owner_s_alone(tmp_path: Path) -> None:
    for name in ("sparql", "hosts"):
        (tmp_path / name).mkdir(mode=0o755)
    (tmp_path / "postgresql.log").touch(mode=0o644)
    before = os.umask(0o022)
    try:
        place.keep_private(tmp_path)
        (tmp_path / "later").touch()
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"sparql": 0o700, "hosts": 0o700, "postgresql.log": 0o600, "later": 0o600}
