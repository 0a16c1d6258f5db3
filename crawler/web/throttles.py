"""The throttle of the API."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from rest_framework.throttling import BaseThrottle

from crawler.web.limits import limit_of

if TYPE_CHECKING:  # their modules load this one
    from rest_framework.request import Request
    from rest_framework.views import APIView


class DailyThrottle(BaseThrottle):
    """A limit of a person's requests to the API in a day (UTC), counted by each web server."""

    _lock = threading.Lock()
    _day: date = date.min
    _counts: dict[int, int] = {}

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count a request, and return whether it may be answered."""
        user = request.user
        if not user.is_authenticated:
            return True
        with self._lock:
            today = datetime.now(UTC).date()
            if DailyThrottle._day != today:
                DailyThrottle._day = today
                self._counts.clear()
            number = self._counts[user.pk] = self._counts.get(user.pk, 0) + 1
        limit = limit_of(user, "LIMIT_REQUESTS_A_DAY")
        return not limit or number <= limit

    def wait(self) -> float:
        """Return the seconds until tomorrow, for Retry-After."""
        now = datetime.now(UTC)
        tomorrow = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
        return (tomorrow - now).total_seconds()

    @classmethod
    def used_today(cls, user: User) -> int:
        """Return the requests of a user that this server has counted today."""
        with cls._lock:
            return cls._counts.get(user.pk, 0) if cls._day == datetime.now(UTC).date() else 0
