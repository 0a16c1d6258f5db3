"""The invented deployment of `crawler.operation.deployment.demo` with people who can sign in."""

from __future__ import annotations

from datetime import datetime

from crawler.operation.deployment import demo


def seed(now: datetime, *, replayed: bool = True) -> None:
    """Fill an empty database; both people's password is "water"."""
    demo.seed(now, password="water", replayed=replayed)
