"""Values as programs write them into their exports: texts, times, flags and tags. Pure."""

from __future__ import annotations

import ast
import html
import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from crawler.reading.charset import decode
from crawler.reading.dates import Dates

TIMES = (
    "created", "created_at", "creation date", "date", "date_added", "saved_at", "added", "timestamp",
    "time_added",
)  # fmt: skip
"""Names that programs give to the time at which a page was saved."""
MAX_TIME = 100
"""Characters of a text that may be a time."""
MAX_LITERAL = 100_000
"""Characters of a list that is read as JSON or Python. A longer one is split at its commas."""

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NUMBER = re.compile(r"[+-]?\d{1,20}(?:\.\d+)?")
_DOUBLED = re.compile(r"&(?:#\d{2,5}|#x[0-9a-fA-F]{2,5}|amp|quot|apos|nbsp);")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_DAY_FIRST = re.compile(r"(\d\d)/(\d\d)/(\d{4}) (\d\d):(\d\d):(\d\d)")
_UNIX, _CHROME = datetime(1970, 1, 1, tzinfo=UTC), datetime(1601, 1, 1, tzinfo=UTC)
_LAST = datetime(2100, 1, 1, tzinfo=UTC)
_MAX_SECONDS = 100_000_000_000
"""A larger number counts parts of seconds."""
_TRUE = {"1", "true", "yes", "y", "on"}
_LIST = re.compile(r"\s*\[.*\]\s*", re.DOTALL)


def text_of(data: bytes) -> str:
    """Decode a file: UTF-8, UTF-16 with or without mark, else the charset that it names or seems to have.

    Never raises. A few broken bytes do not turn UTF-8 into another charset.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    head = data[:1000]
    if head and head.count(b"\0") > len(head) // 4:
        return data.decode(
            "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be", "replace"
        )
    text = data.decode("utf-8-sig", "replace")
    broken = text.count("\ufffd")
    sound = sum(1 for sign in text[:200_000] if sign > "\x7f" and sign != "\ufffd")
    return (text if broken <= sound else decode(data)).replace("\0", "")


def unescaped(text: str) -> str:
    """Decode complete character references, so that "&copy=1" in an address stays as it is."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def twice_unescaped(text: str) -> str:
    """Decode what a decoded title still has of references to quotation marks and the like, not to < and >."""
    return _DOUBLED.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def plain(value: object) -> str:
    """Return a value as text, with its character references decoded. None and objects are ""."""
    return unescaped(raw(value))


def raw(value: object) -> str:
    """Return a text or number as text that a database takes, stripped. None and objects are ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return _UNSTORABLE.sub("", str(value)).strip()


def flag(value: object) -> bool:
    """Return whether a value says yes, in any of the ways of JSON, PHP and CSV."""
    return value.strip().lower() in _TRUE if isinstance(value, str) else bool(value)


class Times:
    """A reader of one file's times."""

    def __init__(self) -> None:
        self._dates = Dates()

    def read(self, value: object) -> datetime | None:
        """Read ISO 8601, other written dates, and seconds, milli-, micro- and nanoseconds since 1970.

        Numbers of 17 digits are microseconds since 1601, as Chrome's. Returns None for what is no time from
        1970 to 2100.
        """
        if isinstance(value, bool):
            return None
        text = raw(value)
        if not 0 < len(text) <= MAX_TIME:
            return None
        try:
            time = number_time(Decimal(text)) if _NUMBER.fullmatch(text) else self._written(text)
        except (ValueError, ArithmeticError, OSError):
            return None
        return time if time is not None and _UNIX < time < _LAST else None

    def _written(self, text: str) -> datetime | None:
        day_first = _DAY_FIRST.fullmatch(text)
        if day_first:
            day, month, year, hour, minute, second = map(int, day_first.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            seconds = self._dates.epoch(text)
            return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def number_time(number: Decimal) -> datetime | None:
    """Return the time that a number stands for by its size. Returns None for zero and less."""
    if number <= 0:
        return None
    if len(str(int(number))) == 17:
        return _CHROME + timedelta(microseconds=int(number))
    for scale in (1, 1_000, 1_000_000, 1_000_000_000):
        if number < _MAX_SECONDS * scale:
            return _UNIX + timedelta(microseconds=int(number * 1_000_000 / scale))
    return None


def list_of(value: object) -> list[str]:
    """Return the texts of a list, of objects' names, or of a list written as JSON or Python into a text."""
    if isinstance(value, str) and _LIST.fullmatch(value):
        value = _literal(value)
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return []
    return [
        plain(item.get("name") or item.get("label") or item.get("title"))
        if isinstance(item, dict)
        else plain(item)
        for item in value
    ]


def _literal(text: str) -> object:
    for read in (json.loads, ast.literal_eval) if len(text) <= MAX_LITERAL else ():
        try:
            return read(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return [item.strip().strip("'\"") for item in text.strip()[1:-1].split(",")]


def tags_of(value: object, separator: str = ",") -> tuple[str, ...]:
    """Return the tags of a list, or of a text that has them between separators."""
    if isinstance(value, str) and not _LIST.fullmatch(value):
        return tuple(unescaped(tag).strip() for tag in value.split(separator))
    return tuple(list_of(value))
