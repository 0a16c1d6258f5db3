"""The replay on histories small enough to count by hand, and files that are none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from recrawl.methods.gated import ByLinksGated
from recrawl.methods.plain import BreadthFirstMethod
from recrawl.methods.registry import METHODS, REPLAYED
from recrawl.replay.budgeted import SAVED_WEEKS, mean_spending, measured_from, simulate
from recrawl.replay.comparison import compare
from recrawl.replay.history import HistoryError, read_history
from recrawl.replay.one_shot import one_shot

Pages = dict[str, list[Any]]
START: Pages = {"top": ["1", ["a", "b", "c"]], "a": ["1", []], "b": ["1", []], "c": ["1", []]}


def written(path: Path, weeks: list[dict[str, Any]], top: str = "top") -> Path:
    lines = [{"week": 0, "date": "2024-01-01", "top": top, "pages": START}]
    lines += [
        {"week": n, "date": f"2024-01-{n + 1:02}", "pages": {}, "removed": []} | w
        for n, w in enumerate(weeks, 1)
    ]
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    return path


def changed(number: int, *names: str) -> dict[str, Any]:
    """A week in which these pages hold something new."""
    return {"pages": {name: [f"v{number}", START[name][1]] for name in names}}


@pytest.fixture
def announced(tmp_path: Path) -> Path:
    """Nine weeks; in every second one the top page and `a` change, in the last `b` does unannounced."""
    weeks = [changed(n, "top", "a") if n % 2 == 0 else {} for n in range(1, 8)]
    return written(tmp_path / "announced.jsonl.gz", [*weeks, changed(8, "b")])


def test_the_first_third_is_not_measured() -> None:
    assert [measured_from(weeks) for weeks in (9, 25, 24)] == [3, 9, 8]


def test_what_c_spends_without_a_bound(announced: Path) -> None:
    # Measured are the weeks 3 to 8 of four pages: the top page each time, and all of the site in 4 and 6.
    assert mean_spending(read_history(announced), ByLinksGated()) == pytest.approx((6 + 3 + 3) / 24)


def test_budgeted_figures_by_hand(announced: Path) -> None:
    found = simulate(read_history(announced), ByLinksGated(), 1.0)
    assert found.spent == pytest.approx(12 / 24)
    assert found.coverage == pytest.approx(4 / 5)  # top and a in weeks 4 and 6, not b in week 8
    assert found.rate == pytest.approx(4 / 12)
    assert found.staleness == pytest.approx(1 / 4 / 6)
    assert found.delay_weeks == pytest.approx(1 / 5)  # b counts to the end


def test_what_is_not_spent_is_saved_up_to_eight_weeks(tmp_path: Path) -> None:
    """A quarter of four pages a week is one fetch; a burst after weeks of silence finds all that is saved."""
    weeks: list[dict[str, Any]] = [{} for _ in range(14)]
    history = read_history(written(tmp_path / "h.gz", [*weeks, changed(15, "top", "a", "b", "c")]))
    # C spends its one fetch every week on the top page: nothing is saved.
    assert simulate(history, ByLinksGated(), 0.25).coverage == pytest.approx(1 / 4)

    class Waiting(BreadthFirstMethod):
        def following(self, server: Any, visit: Any) -> list[str]:
            budgets.append(visit.budget)
            return super().following(server, visit) if visit.now == 15 else []

    budgets: list[float] = []
    assert simulate(history, Waiting(), 0.25).coverage == 1.0
    assert max(budgets) == SAVED_WEEKS + 1


def test_pages_first_seen_join_at_no_cost_and_the_gone_are_dropped(tmp_path: Path) -> None:
    new = {"pages": {"top": ["2", ["a", "b", "d"]], "d": ["1", ["e"]], "e": ["1", []]}, "removed": ["c"]}
    weeks = [{}, new, {"pages": {"e": ["2", []]}}]
    history = read_history(written(tmp_path / "h.gz", weeks))
    found = simulate(history, BreadthFirstMethod(), 1.0)
    # Week 2 fetches top, a, b and the gone c; week 3 (measured, as is week 2) all five that are left.
    assert found.spent == pytest.approx((4 + 5) / (5 + 5))
    assert (found.staleness, found.coverage) == (0.0, 1.0)


def test_pages_that_nobody_can_find_are_stale(tmp_path: Path) -> None:
    hidden = {"pages": {"c": ["1", ["d"]], "d": ["1", []]}}
    history = read_history(written(tmp_path / "h.gz", [{}, {}, hidden, {}, {}]))
    assert simulate(history, ByLinksGated(), 1.0).staleness == pytest.approx(3 / 4 * 1 / 5)


def test_one_shot_figures_by_hand(announced: Path) -> None:
    table = one_shot(read_history(announced), [METHODS[name] for name in METHODS], [1, 2, 4, 12])
    for row in table.values():
        assert set(row) == {*METHODS, "all"}
    # Two weeks apart, s = 0 to 6: top and a have changed from all of these but 6, and b from 6.
    assert table[2]["all"].as_json() == {
        "fetched": 28, "changed_fetched": 13, "changed": 13, "rate": 13 / 28, "coverage": 1.0,
    }  # fmt: skip
    assert table[2]["C"].as_json() == {
        "fetched": 25, "changed_fetched": 12, "changed": 13, "rate": 12 / 25, "coverage": 12 / 13,
    }  # fmt: skip
    assert table[2]["breadth-first"].fetched == 25
    assert table[4]["all"].fetched == 4 * 3  # s = 0, 2, 4: the stride is half the period
    assert table[12]["all"].as_json()["rate"] == 0.0  # longer than the history


def test_the_number_of_fetches_does_not_tell_what_has_changed(tmp_path: Path) -> None:
    """One of two sites changes as a whole: an order without knowledge finds no more than its share of that.

    Given as many fetches as C on each site and in each week, breadth-first found all (issue 58, W1).
    """
    whole = [changed(n, "top", "a", "b", "c") for n in range(1, 6)]
    paths = [written(tmp_path / "busy.gz", whole), written(tmp_path / "still.gz", [{}] * 5)]
    row = compare(paths, ["C", "breadth-first"], [1], None, processes=1).pooled()[1]
    # C fetches four pages of the one and the top page of the other: five of eight.
    assert row["C"].fetched == 25
    assert row["breadth-first"].fetched == pytest.approx(25, abs=1)  # each site's share is a whole number
    assert row["C"].as_json()["coverage"] == 1.0
    assert row["breadth-first"].as_json()["coverage"] == pytest.approx(12 / 20)


def test_the_command_prints_what_the_spec_names(announced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("recrawl_replay", announced, "--json")
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["files", "save", "one_shot", "budgeted", "by_file"]
    assert found["files"] == 1
    assert list(found["one_shot"]) == ["2", "4", "12", "24"]
    assert list(found["one_shot"]["2"]) == list(REPLAYED)
    assert list(found["one_shot"]["2"]["C"]) == ["fetched", "changed_fetched", "changed", "rate", "coverage"]
    assert list(found["budgeted"]["adaptive"]) == ["spent", "staleness", "coverage", "rate", "delay_weeks"]
    assert found["by_file"]["announced.jsonl.gz"]["budgeted"] == found["budgeted"]


def test_the_command_twice_gives_the_same(announced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("recrawl_replay", announced)
    first = capsys.readouterr().out
    call_command("recrawl_replay", announced)
    assert capsys.readouterr().out == first
    assert "Budgeted, mean over files" in first


def test_methods_weeks_and_budget_can_be_chosen(announced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command(
        "recrawl_replay", announced, "--method", "C", "A", "--weeks", "1,3", "--budget", "0.25", "--json"
    )
    found = json.loads(capsys.readouterr().out)
    assert list(found["budgeted"]) == ["C", "A"]
    assert list(found["one_shot"]) == ["1", "3"]
    assert found["budgeted"]["C"]["spent"] <= 0.25 * (6 + SAVED_WEEKS) / 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "D"], "there is no method 'D'"),
        (["--weeks", "two"], "'two' is no list of weeks"),
        (["--weeks", "0"], "weeks must be 1 or more"),
        (["--budget", "2"], "must be more than 0 and at most 1"),
        (["nowhere.gz"], "nowhere.gz cannot be read"),
    ],
)
def test_wrong_options_are_named(announced: Path, options: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("recrawl_replay", str(announced), *options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "fewer than two weeks"),
        (b"{}\n", "line 1: KeyError: 'top'"),
        (b"[1]\n", "line 1: this is no object"),
        (b"{bad}\n", "line 1: "),
        (b'{"week": 1, "date": "", "top": "a", "pages": {}}\n', "line 1: week 0 is expected"),
        (b'{"week": 0, "date": "", "top": "a", "pages": {"a": "x"}}\n', "line 1"),
        (b'{"week": 0, "date": "", "top": "a", "pages": {}}\n{"week": 1, "date": "", "pages": {}}', "top"),
        (gzip.compress(bytes(range(256)))[:100], "is damaged"),
        (b"[" * 100_000 + b"\n", "line 1|damaged"),
    ],
)  # fmt: skip
def test_files_that_are_no_history_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(HistoryError, match=message):
        read_history(path)
