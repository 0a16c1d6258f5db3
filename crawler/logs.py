"""What is left out of the log: the comings and goings of a task that runs every few seconds, and where in the
code requests are refused.
"""

from __future__ import annotations

import logging

EVERY_FEW_SECONDS = "crawler.engine.tasks.tend"


class NotWorthALine(logging.Filter):
    """Drops what Celery tells of the task when nothing is wrong."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        return record.levelno > logging.INFO or EVERY_FEW_SECONDS not in record.getMessage()


class RefusalsInOneLine(logging.Filter):
    """Takes the traceback from a request that was refused: the fault is the sender's, who may send many."""

    def filter(self, record: logging.LogRecord) -> bool:
        """True: the line itself stays."""
        status = getattr(record, "status_code", None)
        if isinstance(status, int) and status < 500:
            record.exc_info = record.exc_text = None
        return True
