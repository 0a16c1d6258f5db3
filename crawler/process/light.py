"""Programs that are helpers of one process load the module they are, and not the task queue with it.

Every import from `crawler` loads `crawler/__init__.py`, and with it Celery: 140 ms of processor time and
17 MB, which no child that reads one document or answers one query needs.
"""

from __future__ import annotations

from crawler.process.walls import environment

NAME = "FRESHET_LIGHT"


def light_environment() -> dict[str, str]:
    """What `walls.environment` leaves of ours, and the word that Celery is not needed."""
    return environment() | {NAME: "1"}
