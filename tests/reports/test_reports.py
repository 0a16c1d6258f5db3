"""Reports of what went wrong for users of other programs, rebuilt as small inputs: each is right here.

A line of a *.jsonl file is {"case", "source", "run", "input", "right", "at_first"}: the project and number of
the report, the runner (`runners.py`) and its input, the value that is right by the standard or by what was
agreed on in the report, and how it was here before (`right`, `wrong`, `missing`). A `right` object names
only what matters; {"contains": [...], "lacks": [...]} looks into a text or a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reports import assistants, exporting, keeping, moving, over_time, pages, ruling  # noqa: F401
from tests.reports.runners import RUNNERS, WHOLE_WAY

FOLDER = Path(__file__).parent


def lines() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            case = json.loads(line)
            marks = [pytest.mark.whole_way] if case["run"] in WHOLE_WAY else []
            yield pytest.param(case, id=f"{file.stem}-{case['case']}", marks=marks)


CASES = list(lines())


def differences(right: Any, value: Any, place: str = "") -> list[str]:
    """What of `right` the value does not have."""
    if isinstance(right, dict) and right.keys() & {"contains", "lacks"}:
        text = value if isinstance(value, str | list) else str(value)
        missing = [f"{place} lacks {one!r}" for one in right.get("contains", ()) if one not in text]
        return missing + [f"{place} has {one!r}" for one in right.get("lacks", ()) if one in text]
    if isinstance(right, dict) and isinstance(value, dict):
        return [
            problem
            for key, one in right.items()
            for problem in differences(one, value.get(key), f"{place}.{key}")
        ]
    if isinstance(right, list) and isinstance(value, list) and len(right) == len(value):
        return [
            problem
            for number, (one, other) in enumerate(zip(right, value, strict=True))
            for problem in differences(one, other, f"{place}[{number}]")
        ]
    return [] if right == value else [f"{place} is {value!r}, not {right!r}"]


@pytest.mark.parametrize("case", [case for case in CASES if not case.marks])
def test_it_is_right(case: dict[str, Any]) -> None:
    assert differences(case["right"], RUNNERS[case["run"]](case["input"])) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("terminal_on_loopback", "tried_again_soon")
@pytest.mark.parametrize("case", [case for case in CASES if case.marks])
def test_the_whole_way_is_right(case: dict[str, Any], settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.FEED_MIN_GAP_SECONDS = 0
    monkeypatch.setattr("crawler.engine.models.Deployment.networks", lambda: ("127.0.0.0/8",))
    assert differences(case["right"], WHOLE_WAY[case["run"]](case["input"])) == []


def test_each_line_has_a_source_and_a_name_of_its_own() -> None:
    keys = [param.id for param in CASES]
    assert len(keys) == len(set(keys))
    for param in CASES:
        (case,) = param.values
        assert case.keys() >= {"case", "source", "run", "input", "right", "at_first"}, case["case"]
        assert case["at_first"] in {"right", "wrong", "missing"}
