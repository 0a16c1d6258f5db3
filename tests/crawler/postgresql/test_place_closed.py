"""A directory that this user may not write, or not even look into, is refused in one line."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from crawler.postgresql import place


def _told(data_dir: Path, answer: Any) -> None:
    if os.geteuid() == 0:  # who may write everywhere
        os.setgroups([])
        os.setuid(65534)
    answer.put(place.problem_of(data_dir))


@pytest.mark.parametrize("below", ["", "data"])
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_no_permission_is_told_in_one_line_that_says_what_to_do(
    data_dir: Path, mode: int, below: str
) -> None:
    closed = data_dir / "closed"
    closed.mkdir()
    closed.chmod(mode)
    fork = multiprocessing.get_context("fork")
    answer = fork.SimpleQueue()
    child = fork.Process(target=_told, args=(closed / below, answer))
    child.start()
    child.join(20)
    assert child.exitcode == 0
    told = answer.get()
    assert "Permission denied" in told and "set DATA_DIR to a directory" in told
    assert "\n" not in told
