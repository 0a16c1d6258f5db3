"""Weeks as ISO 8601 counts them, from Monday in Greenwich time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta


@dataclass(frozen=True, slots=True, order=True)
class CalendarWeek:
    """A week by its year and number."""

    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.year}-W{self.number:02}"

    @property
    def start(self) -> datetime:
        """The first moment of its Monday."""
        monday = date.fromisocalendar(self.year, self.number, 1)
        return datetime(monday.year, monday.month, monday.day, tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """The first moment of the week after."""
        return self.start + timedelta(days=7)


def week_of(when: datetime) -> CalendarWeek:
    """Return the week of a moment."""
    calendar = when.astimezone(UTC).isocalendar()
    return CalendarWeek(calendar.year, calendar.week)


def last_weeks(now: datetime, number: int) -> list[CalendarWeek]:
    """Return the last `number` weeks up to that of `now`, the earliest first."""
    return [week_of(now - timedelta(days=7 * back)) for back in reversed(range(number))]
