"""What docs/adding.md says is done to a copy of the sources, word for word."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RUN_WITHIN

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding.md").read_text()
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}
_BLOCK = re.compile(r"```(python|diff|console)\n(.*?)```", re.DOTALL)
OUT_OF_ORDER = "not found, or not behind the line before it"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the sources, with a trace."""
    for name in ("crawler", "feeds", "articles", "recrawl", "templates", "locale", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(
        ROOT / "benchmarks", tmp_path / "benchmarks", ignore=shutil.ignore_patterns("__pycache__")
    )
    posts = "".join(f"f{n % 5},{1_767_571_200 + 5_000 * n}\n" for n in range(600))
    (tmp_path / "TRACE.csv.gz").write_bytes(gzip.compress(f"feed,published\n{posts}".encode()))
    return tmp_path


def change(clone: Path, block: str) -> None:
    """Apply a block: context lines are looked for in order, `-` lines go, `+` lines come behind them."""
    name, *lines = block.rstrip("\n").split("\n")
    path = clone / name
    text = path.read_text().split("\n")
    at = 0
    for line in lines:
        sign, words = line[:1], line[1:]
        if sign == "+":
            text.insert(at, words)
            at += 1
            continue
        place = next((n for n in range(at, len(text)) if text[n] == words), None)
        assert place is not None, f"{name}: {words!r} is {OUT_OF_ORDER}"
        if sign == "-":
            del text[place]
            at = place
        else:
            at = place + 1
    path.write_text("\n".join(text))


def run(clone: Path, line: str) -> None:
    command = re.sub(r"^python ", f"{sys.executable} ", line)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))
    }
    environment |= {"DATA_DIR": str(clone / "var"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment[RUN_WITHIN] = "adding"
    if "pytest" not in line:
        environment["DATABASE_URL"] = "none"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=clone, env=environment, capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("section", SECTIONS)
def test_what_the_page_says_works(section: str, clone: Path) -> None:
    blocks = _BLOCK.findall(SECTIONS[section])
    assert any(kind == "console" for kind, _ in blocks)
    for kind, block in blocks:
        if kind == "python":
            first, _, body = block.partition("\n")
            (clone / first.removeprefix("# ")).write_text(body)
        elif kind == "diff":
            change(clone, block)
        else:
            for line in filter(None, block.split("\n")):
                run(clone, line)
    added = [
        clone / block.partition("\n")[0].removeprefix("# ") for kind, block in blocks if kind == "python"
    ]
    changed = [clone / block.partition("\n")[0] for kind, block in blocks if kind == "diff"]
    if added + changed:
        files = sorted({str(path) for path in added + changed})
        for check in (["check"], ["format", "--check"]):
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *check, "--no-cache", *files], cwd=clone, capture_output=True,
                text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout


def test_pages_lead_there() -> None:
    assert "docs/adding.md" in (ROOT / "CONTRIBUTING.md").read_text()
