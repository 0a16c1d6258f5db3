"""`manage.py replay`: its options, its JSON, its table, and its words for what cannot be used."""

from __future__ import annotations

import gzip
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from feeds.scheduling.registry import POLICIES
from tests.feeds.replay.traces import invented

METRICS = {
    "total_pending", "max_pending", "daily_max_pending", "delay_mean", "delay_p50", "delay_p95", "delay_p99",
    "retrievals", "new_per_retrieval", "lost",
}  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    made = invented(feeds=8, days=6)
    lines = [
        f"{made.feeds[owner]},{time:.0f}" for owner, time in zip(made.owner, made.published, strict=True)
    ]
    path = tmp_path / "small.csv.gz"
    path.write_bytes(gzip.compress("\n".join(["feed,published", *reversed(lines)]).encode()))
    return path


def replay(*arguments: object) -> str:
    out = StringIO()
    call_command("replay", *map(str, arguments), stdout=out)
    return out.getvalue()


def told(*arguments: object) -> dict[str, Any]:
    found = json.loads(replay(*arguments, "--json"))
    assert isinstance(found, dict)
    return found


def test_json_has_exactly_these_keys_for_every_policy(trace: Path) -> None:
    found = told(trace, "--train-days", 2)
    assert set(found) == {"trace", "feeds", "articles", "flat_optimum", "policies"}
    assert (found["trace"], found["feeds"]) == ("small.csv.gz", 8)
    assert list(found["policies"]) == list(POLICIES)
    assert all(set(metrics) == METRICS for metrics in found["policies"].values())


def test_the_same_command_gives_the_same_numbers(trace: Path) -> None:
    arguments = (
        trace,
        "--policy",
        "freshness",
        "advarss-training",
        "miniflux",
        "--train-days",
        2,
        "--seed",
        5,
    )
    assert told(*arguments) == told(*arguments)


def test_the_seed_decides_what_is_random(trace: Path) -> None:
    one, two = (
        told(trace, "--policy", "min-delay", "--train-days", 0, "--seed", seed)["policies"] for seed in (1, 2)
    )
    assert one != two


def test_options_change_what_they_name(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "subscribers.csv").write_text("feed,subscribers\nfeed0,1000\n")
    usual = ("--policy", "freshness", "--train-days", 2)
    plain = told(trace, *usual)["policies"]["freshness"]
    assert (
        told(trace, *usual, "--budget", 0.3)["policies"]["freshness"]["retrievals"]
        > 1.9 * plain["retrievals"]
    )
    assert told(trace, *usual, "--tick", 1800)["policies"]["freshness"] != plain
    assert told(trace, *usual, "--window", 1)["policies"]["freshness"]["lost"] > 0
    assert told(trace, *usual, "--beta", 0)["policies"]["freshness"] != plain
    assert (
        told(trace, *usual, "--subscribers", tmp_path / "subscribers.csv")["policies"]["freshness"] != plain
    )


def test_the_table_has_a_line_for_each_policy_relative_to_advarss(trace: Path) -> None:
    summary, head, *lines = replay(
        trace, "--policy", "advarss", "round-robin", "--train-days", 2
    ).splitlines()
    assert "8 feeds" in summary
    assert "flat optimum" in summary
    assert head.split()[:3] == ["policy", "x", "advarss"]
    assert [line.split()[0] for line in lines] == ["advarss", "round-robin"]
    assert lines[0].split()[1] == "1.000"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--policy", "fifo"), "no policy 'fifo'"),
        (("--train-days", "40"), "nothing is left to measure"),
        (("--policy", "freshness", "--beta", "99"), "beta is a number from 0 to 20"),
        (("--window", "-1"), "--window"),
        (("--budget", "0"), "more than 0"),
        (("--budget", "nan"), "0 or more"),
        (("--tick", "soon"), "no number"),
        (("--subscribers", "missing.csv"), "missing.csv cannot be read"),
    ],
)
def test_what_cannot_be_used_is_named(trace: Path, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        replay(trace, "--train-days", 2, *arguments)


def test_a_missing_or_broken_trace_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"none\.csv cannot be read"):
        replay(tmp_path / "none.csv")
    (tmp_path / "odd.csv").write_text("feed,published\na,yesterday\n")
    with pytest.raises(CommandError, match=r"odd\.csv, line 2: 'yesterday'"):
        replay(tmp_path / "odd.csv")
