"""Filters and a formatter that keep the log short.

They drop Celery's messages about a task that runs every few seconds, drop tracebacks of refused requests, and
write each error in one line with its innermost places in the code.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

EVERY_FEW_SECONDS = "crawler.engine.tasks.tend"


_context: ContextVar[Mapping[str, str]] = ContextVar("log context", default=MappingProxyType({}))


@contextmanager
def named(**names: str) -> Iterator[None]:
    """Give the records of this thread these fields, such as the id of the request that they are about."""
    token = _context.set({**_context.get(), **names})
    try:
        yield
    finally:
        _context.reset(token)


def begin(**names: str) -> None:
    """Give the following records of this thread these fields, and no others."""
    _context.set(names)


class NotWorthALine(logging.Filter):
    """A filter that drops Celery's informational messages about the tend task."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is to be written."""
        return record.levelno > logging.INFO or EVERY_FEW_SECONDS not in record.getMessage()


class RefusalsInOneLine(logging.Filter):
    """A filter that makes refused requests (4xx) informational, in one line: the sender is at fault, and may
    send many.

    As warnings they were 562 of the 587 lines of a quiet day.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Lower a refused request to INFO, without traceback. Returns whether the log has such records."""
        status = getattr(record, "status_code", None)
        if not isinstance(status, int) or status >= 500:
            return True
        record.exc_info = record.exc_text = None
        if record.levelno > logging.INFO:
            record.levelno, record.levelname = logging.INFO, "INFO"
        return record.levelno >= logging.getLogger().level


class JsonLine(logging.Formatter):
    """A formatter that writes every record as an object of JSON in one line, for other programs."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """Return time, level, process, logger, message, the ids of `named`, and of an error its traceback."""
        content: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "process": self._process,
            "pid": record.process,
            "logger": record.name,
            "message": record.getMessage(),
        }
        content |= _context.get()
        for name in ("task_id", "task_name", "status_code"):
            if (value := getattr(record, name, None)) is not None:
                content[name] = value if isinstance(value, int | float) else str(value)
        if record.exc_info:
            content["traceback"] = self.formatException(record.exc_info)
        return json.dumps(content, ensure_ascii=False)


class OneLine(logging.Formatter):
    """A formatter that writes every record in one line.

    Of a traceback it keeps the innermost PLACES, the last call first.
    """

    PLACES = 4

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        text, record.exc_text = record.exc_text, None
        try:
            return " | ".join(line.strip() for line in super().format(record).splitlines() if line.strip())
        finally:
            record.exc_text = text

    def formatException(self, ei: Any) -> str:
        """Return the error and where it happened."""
        kind, error, trace = ei
        places = traceback.extract_tb(trace)[-self.PLACES :]
        way = " < ".join(f"{Path(place.filename).name}:{place.lineno}" for place in reversed(places))
        return f"{getattr(kind, '__name__', kind)}: {error} ({way})"
