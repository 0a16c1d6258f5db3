"""The pictures of docs/ are made by commands that run."""

from __future__ import annotations

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DAY = 86_400


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Forty days of five feeds, some of which publish more often."""
    path = tmp_path / "trace.csv.gz"
    with gzip.open(path, "wt", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["feed", "published"])
        for feed in range(5):
            rows.writerows((f"feed{feed}", at) for at in range(0, 40 * DAY, 3600 * (2 + 5 * feed)))
    return path


def test_the_figures_of_the_first_paper_are_drawn(trace: Path, tmp_path: Path) -> None:
    """The command ended in a TypeError for months: nothing had run it."""
    command = [sys.executable, "docs/figures.py", str(trace), "--to", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    pictures = {path.name: path.read_text() for path in tmp_path.glob("*.svg")}
    assert sorted(pictures) == [f"figure-{number}.svg" for number in range(3, 8)]
    assert all("<svg" in picture for picture in pictures.values())
