"""`manage.py evaluate_interest` as scripts and people call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from django.core.management import CommandError, call_command

from benchmarks.interest import Size, as_lines, simulated_log


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(as_lines(simulated_log(1, Size(1, 6), kinds=("mixed",))))
    return path


def test_it_prints_one_json_object(log, capsys):
    call_command("evaluate_interest", str(log), json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["sessions"] == 6
    assert found["impressions"] == 180
    assert {"newest", "source-affinity", "keywords", "interest"} <= set(found["methods"])
    for metrics in found["methods"].values():
        assert set(metrics) == {"auc", "ndcg@10", "recall@20"}
        for interval in metrics.values():
            assert interval["low"] <= interval["mean"] <= interval["high"]


def test_it_prints_a_table_and_says_when_there_is_little(log, capsys):
    call_command("evaluate_interest", str(log))
    told = capsys.readouterr().out
    assert "source-affinity" in told
    assert "lists were measured; intervals are rough" in told


def test_a_bad_line_is_named(log, capsys):
    log.write_bytes(log.read_bytes() + b'{"at": 5}\n')
    number = log.read_bytes().count(b"\n")
    with pytest.raises(CommandError, match=rf"events\.jsonl, line {number}: no event"):
        call_command("evaluate_interest", str(log))


def test_a_log_without_lists_says_that_nothing_could_be_measured(tmp_path, capsys):
    path = tmp_path / "clicks.jsonl"
    path.write_text('{"at": 5, "user": 1, "event": "click", "article": 2}\n')
    call_command("evaluate_interest", str(path))
    assert "Nothing could be measured" in capsys.readouterr().out
    call_command("evaluate_interest", str(path), json=True)
    assert json.loads(capsys.readouterr().out)["methods"]["interest"]["auc"]["mean"] is None


@pytest.mark.parametrize("arguments", [["absent.jsonl"], ["/"]])
def test_a_file_that_cannot_be_read_is_named(arguments):
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("evaluate_interest", *arguments)


def test_it_needs_no_database(log):
    command = [sys.executable, "manage.py", "evaluate_interest", str(log), "--json"]
    known = {**os.environ, "DATABASE_URL": "none", "CELERY_BROKER_URL": "memory://"}
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["sessions"] == 6
