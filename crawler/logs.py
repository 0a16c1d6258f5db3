"""What is left out of the log: the comings and goings of a task that runs every few seconds."""

from __future__ import annotations

import logging

EVERY_FEW_SECONDS = "crawler.tasks.tend"


class NotWorthALine(logging.Filter):
    """Drops what Celery tells of the task when nothing is wrong."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        return record.levelno > logging.INFO or EVERY_FEW_SECONDS not in record.getMessage()
