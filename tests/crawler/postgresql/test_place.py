"""A data directory that cannot be used is refused in one line that says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.postgresql import place
from crawler.settings import BASE_DIR


def a_file(path: Path) -> str:
    path.write_text("")
    return str(path)


def below_a_file(path: Path) -> str:
    path.write_text("")
    return str(path / "below")


def a_link_to_nothing(path: Path) -> str:
    path.symlink_to(path.with_name("nowhere"))
    return str(path)


def a_link_to_itself(path: Path) -> str:
    path.symlink_to(path)
    return str(path)


UNUSABLE: dict[str, Callable[[Path], str]] = {
    "proc": lambda path: "/proc/x",
    "a file": a_file,
    "below a file": below_a_file,
    "a link to nothing": a_link_to_nothing,
    "a link to itself": a_link_to_itself,
    "a long name": lambda path: str(path) + "x" * 300,
    "a long path": lambda path: str(path) + "/x" * 600,
    "a line break": lambda path: f"{path}\nx",
    "bytes that are no text": lambda path: f"{path}\udcff",
    "the kernel's": lambda path: "/sys/x",
}


@pytest.mark.parametrize("kind", UNUSABLE)
@pytest.mark.parametrize("command", [["run"], ["add_feeds", "https://example.org/"]])
def test_one_line_says_what_to_do(kind: str, command: list[str], tmp_path: Path) -> None:
    told = manage(command, DATA_DIR=UNUSABLE[kind](tmp_path / "data"))
    assert len(told) == 1, told
    assert "DATA_DIR" in told[0]


def test_a_disk_that_is_full_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = place.shutil.disk_usage(tmp_path)._replace(free=3 * 1024 * 1024)
    monkeypatch.setattr(place.shutil, "disk_usage", lambda path: usage)
    assert "3 MiB" in place.problem_of(tmp_path)


@pytest.mark.parametrize("name", ["with blanks in it", "ünïcödé", "a'quote\"s", "relative/../way"])
def test_other_names_are_as_good_as_any(name: str, tmp_path: Path) -> None:
    assert place.problem_of(tmp_path / name) == ""


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"PORT": "http"}, "PORT"),
        ({"PORT": "70000"}, "PORT"),
        ({"PORT": "0"}, "PORT"),
        ({"DATABASE_URL": "postgresql://nobody:x@127.0.0.1:1/none"}, "DATABASE_URL"),
        ({"DATABASE_URL": "postgresql://127.0.0.1:99999/none"}, "DATABASE_URL"),
        ({"DATABASE_URL": "postgresql://127.0.0.1:1/none?nonsense=1"}, "DATABASE_URL"),
        ({"DATABASE_URL": "mysql://x/y"}, "DATABASE_URL"),
        ({"DATABASE_URL": "none"}, "DATABASE_URL"),
        ({"FEED_TICK_SECONDS": "soon"}, "FEED_TICK_SECONDS"),
        ({"FETCH_ALLOWED_NETWORKS": "here"}, "FETCH_ALLOWED_NETWORKS"),
    ],
)
def test_a_setting_that_is_wrong_is_named_in_one_line(
    settings: dict[str, str], word: str, tmp_path: Path
) -> None:
    told = manage(["run"], DATA_DIR=str(tmp_path), **settings)
    assert len(told) == 1, told
    assert word in told[0]


@pytest.mark.parametrize(
    "url",
    ["redis://127.0.0.1:1/0", "amqp://guest@127.0.0.1:1//", "memory://", "smoke://signals", "redis://:x:y/"],
)
def test_a_broker_that_does_not_answer_is_named_in_one_line(url: str, tmp_path: Path) -> None:
    given = {"DATABASE_URL": os.environ["DATABASE_URL"], "CELERY_BROKER_URL": url}
    *steps, last = manage(["run"], DATA_DIR=str(tmp_path), **given)
    assert "CELERY_BROKER_URL" in last
    assert all(line[0].isdigit() for line in steps), steps


def manage(command: list[str], **settings: str) -> list[str]:
    """The lines that a command which fails says."""
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=BASE_DIR,
        env={**known, "PORT": "18999", **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=120,
    )
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 1, said
    return said.strip().splitlines()
