"""The log says what matters."""

import json
import logging
import sys

import pytest

from crawler.logs import JsonLine, NotWorthALine, OneLine


@pytest.mark.parametrize(
    ("level", "message", "written"),
    [
        (logging.INFO, "Scheduler: Sending due task tend (crawler.engine.tasks.tend)", False),
        (logging.INFO, "Task feeds.tasks.tick[1] succeeded", True),
        (logging.ERROR, "Task crawler.engine.tasks.tend[1] raised", True),
    ],
)
def test_a_task_of_every_few_seconds_is_told_only_when_something_is_wrong(level, message, written):
    record = logging.LogRecord("celery", level, "", 0, message, (), None)
    assert NotWorthALine().filter(record) is written


def test_an_error_takes_one_line_that_says_where_it_happened():
    def fail():
        raise ValueError("no number\nat all")

    try:
        fail()
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "Task %s raised", ("a",), None)
        record.exc_info = sys.exc_info()
    line = OneLine("%(levelname)s %(name)s: %(message)s").format(record)
    assert line.startswith("ERROR x: Task a raised | ValueError: no number | at all (test_logs.py:")
    assert "\n" not in line
    # Another handler writes the whole of it.
    assert "Traceback" in logging.Formatter().format(record)


def test_lines_for_programs_are_json():
    def fail():
        raise ValueError("no “number”\nat all")

    try:
        fail()
    except ValueError:
        record = logging.LogRecord("feeds", logging.ERROR, "", 0, "failed: %s\n", ("x",), sys.exc_info())
    line = JsonLine("controller").format(record)
    assert "\n" not in line
    content = json.loads(line)
    assert (content["level"], content["process"], content["logger"]) == ("ERROR", "controller", "feeds")
    assert content["message"] == "failed: x\n"
    assert "no “number”" in content["traceback"]
