"""How the log stays short: the comings and goings of a task that runs every few seconds are left out, and
where in the code requests are refused; an error takes one line, with the places that it came through.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any

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


class OneLine(logging.Formatter):
    """Writes every record in one line; of a traceback the innermost places, the last call first."""

    PLACES = 4

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        text, record.exc_text = record.exc_text, None
        try:
            return " | ".join(line.strip() for line in super().format(record).splitlines() if line.strip())
        finally:
            record.exc_text = text

    def formatException(self, ei: Any) -> str:
        """The error, and where it happened."""
        kind, error, trace = ei
        places = traceback.extract_tb(trace)[-self.PLACES :]
        way = " < ".join(f"{Path(place.filename).name}:{place.lineno}" for place in reversed(places))
        return f"{getattr(kind, '__name__', kind)}: {error} ({way})"
