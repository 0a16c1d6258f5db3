"""The log says what matters."""

import json
import logging
import sys

import pytest

from crawler.telemetry.logs import JsonLine, NotWorthALine, OneLine, RefusalsInOneLine


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


@pytest.mark.parametrize(
    ("status", "level", "told"),
    [(404, "WARNING", False), (400, "WARNING", False), (404, "INFO", True), (500, "WARNING", True)],
)
def test_refused_requests_are_no_warnings(monkeypatch, status, level, told):
    """Issue 56: 562 of the 587 lines of a quiet day were warnings of requests that were answered 4xx."""
    monkeypatch.setattr(logging.getLogger(), "level", getattr(logging, level))
    record = logging.LogRecord("django.request", logging.ERROR, "", 0, "Not Found: %s", ("/x",), None)
    record.status_code = status
    assert RefusalsInOneLine().filter(record) is told
    assert record.levelname == ("ERROR" if status == 500 else "INFO")


def test_the_log_has_no_line_for_what_is_not_there(client, settings, db):
    names = settings.LOGGING["handlers"]["stderr"]["filters"]
    assert "refusals" in names
    lines = []

    class Lines(logging.Handler):
        def emit(self, record):
            lines.append(self.format(record))

    handler = Lines()
    handler.addFilter(RefusalsInOneLine())
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        assert client.get("/no-such-page/").status_code in {302, 404}
        assert client.get("/favicon.of.nothing").status_code in {302, 404}
        assert client.post("/websub/nothing/").status_code >= 400
    finally:
        root.removeHandler(handler)
    assert lines == []
