"""The paper's figures of recorded histories, by hand on a small one, and as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from recrawl.replay.history import read_history
from recrawl.replay.study import Study, study

TOP = ["a/", "b/"]


def write(path: Path, weeks: int = 9) -> Path:
    """Top page, two directories of two; a/ and a/1 change with the top page every other week, b never."""
    links = {"index.html": TOP, "a/": ["a/1"], "a/1": [], "b/": ["b/1"], "b/1": []}
    lines = [
        {"week": 0, "date": "d", "top": "index.html", "pages": {p: ["0", to] for p, to in links.items()}}
    ]
    for week in range(1, weeks):
        moved = ("index.html", "a/", "a/1") if week % 2 else ()
        lines.append({"week": week, "date": "d", "pages": {p: [str(week), links[p]] for p in moved}})
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def counted(tmp_path: Path) -> Study:
    return study(read_history(write(tmp_path / "x.jsonl")), [2])


def test_what_is_counted_adds_up(tmp_path: Path) -> None:
    found = counted(tmp_path)
    whole = found.methods(2)
    assert (whole["all"].fetched, whole["all"].changed) == (35, 21)  # seven comparisons of five pages
    assert (whole["C"].fetched, whole["C"].changed_fetched) == (28, 21)  # top, a/, a/1, b/
    assert found.by_depth(2) == [
        (1, pytest.approx(1 / 3), pytest.approx(0.2)),
        (2, pytest.approx(2 / 3), pytest.approx(0.6)),
        (3, pytest.approx(1.0), pytest.approx(1.0)),
    ]
    assert found.changes[2] == {0: 14, 1: 21}
    taken = dict(found.by_threshold(2))
    assert taken[0.7].fetched == 0
    assert (taken[0.6].fetched, taken[0.6].as_json()["coverage"]) == (35, 1.0)
    assert dict(found.by_threshold(2, "C"))[0.6].fetched == 28


def test_studies_pool(tmp_path: Path) -> None:
    whole = Study()
    whole.add(counted(tmp_path))
    whole.add(counted(tmp_path))
    assert whole.methods(2)["all"].fetched == 70
    assert whole.pages(2) == 70
    assert whole.by_depth(2) == counted(tmp_path).by_depth(2)


def test_the_command_writes_pictures_and_tables(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.jsonl") for name in ("one-2020", "two-2021")]
    call_command("recrawl_report", *map(str, paths), "--to", str(tmp_path / "out"), "--weeks", "2,4")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {
        "report.md",
        "figure-5.svg",
        "figure-9.svg",
        "figure-15.svg",
        "figure-18.svg",
        "trade-off.svg",
    } <= names
    told = (tmp_path / "out" / "report.md").read_text()
    assert "adaptive" in told
    assert all(f"({name})" in told for name in names - {"report.md"})
    assert 'class="dot' in (tmp_path / "out" / "trade-off.svg").read_text()


def test_groups_are_named_by_globs_or_by_files(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.jsonl") for name in ("one-2020", "two-2021")]
    options = ["--to", str(tmp_path / "out"), "--weeks", "2", "--no-budget"]
    call_command("recrawl_report", *map(str, paths), *options, "--group", "ours=*-2020.jsonl")
    told = (tmp_path / "out" / "report.md").read_text()
    assert "ours" in told
    assert " two " in told
    assert " one " not in told
    with pytest.raises(CommandError, match="NAME=GLOB"):
        call_command("recrawl_report", *map(str, paths), *options, "--group", "nonsense")
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("recrawl_report", str(tmp_path / "none.jsonl"), *options)
