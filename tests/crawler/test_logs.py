"""The log says what matters."""

import logging

import pytest

from crawler.logs import NotWorthALine


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
