"""Dates in languages that `forms` does not know, read by dateparser and accepted when all parts agree.

dateparser always tries to find a date: it takes the Thai for March (มี.ค.) for January (ม.ค.), and drops
unknown words. So a text must name a month by a word of one language, and every number in it must appear in
dateparser's result.
"""

from __future__ import annotations

import importlib
import re
from datetime import UTC, datetime
from functools import cache

from dateparser.date import DateDataParser  # type: ignore[import-untyped]

_LONGEST = 80
_LANGUAGES = (
    "af", "am", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "es",
    "et", "eu", "fa", "fi", "fil", "fr", "ga", "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is",
    "it", "ja", "ka", "kk", "km", "kn", "ko", "lt", "lv", "mk", "ml", "mr", "ms", "nb", "ne", "nl",
    "pa", "pl", "pt", "ro", "ru", "si", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te", "th", "tr",
    "uk", "ur", "uz", "vi", "zh",
)  # fmt: skip
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_SETTINGS = {
    "STRICT_PARSING": True,
    "REQUIRE_PARTS": ["day", "month", "year"],
    "PARSERS": ["absolute-time"],
    "TIMEZONE": "UTC",
    "RETURN_AS_TIMEZONE_AWARE": True,
    "CACHE_SIZE_LIMIT": 100,
}
_ZONE = re.compile(
    r"\s*(?:\b(?:GMT|UTC)\b|\bZ)?\s*(?:([+\-\u2212])(\d{1,2}):?(\d{2})|\b(?:GMT|UTC)\b|(?<=\d)Z)$"
)
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?<!\d)(?:19|20|25)\d\d(?!\d)")
_BUDDHIST = 543  # years that Thailand is ahead
_HOURS = {
    "h", "hs", "hrs", "hod", "uhr", "uur", "год", "ч", "час", "часа", "часов", "น", "बजे", "ώρα", "klo", "kl",
}  # fmt: skip


def read(text: str, limit: int) -> tuple[float | None, int]:
    """Parse one line with ASCII digits to epoch seconds, None when it is not certain. Also returns the cost.

    The cost is in readings by dateparser. Where it would exceed `limit`, none is made.
    """
    if len(text) > _LONGEST or not _YEAR.search(text) or not 2 <= len(_NUMBER.findall(text)) <= 8:
        return None, 0
    zone = _ZONE.search(text)
    text = text[: zone.start()] if zone else text
    month, languages = _named(text)
    if not month or len(languages) > limit:
        return None, 0
    readings = {when for language in languages if (when := _read(text, language)) is not None}
    if len(readings) != 1:
        return None, len(languages)
    (when,) = readings
    sure = when.month == month and _accounted(text, when) and _half_known(text, when, languages)
    return (_seconds(when, zone, languages) if sure else None), len(languages)


def _seconds(when: datetime, zone: re.Match[str] | None, languages: tuple[str, ...]) -> float | None:
    """Return epoch seconds by the zone that stood behind the date, and by the calendar of Thailand."""
    year = when.year - _BUDDHIST if when.year >= 2400 and "th" in languages else when.year
    if not 1900 <= year < 2200:
        return None
    east = 0
    if zone and zone[1]:
        east = (int(zone[2]) * 3600 + int(zone[3]) * 60) * (1 if zone[1] == "+" else -1)
    try:
        return when.replace(year=year).timestamp() - east
    except ValueError:  # 29 February of a year that has none
        return None


def _named(text: str) -> tuple[int, tuple[str, ...]]:
    """Return the month of the longest known word, and the languages of that word; 0 when words disagree."""
    line = text.casefold().replace(".", "")
    longest = max((word for word in _words() if word in line), key=len, default="")
    meanings = _words().get(longest, ())
    months = {month for month, _ in meanings}
    # Two will do: those that share a word share the order of day and year as well.
    return (months.pop(), tuple(language for _, language in meanings[:2])) if len(months) == 1 else (0, ())


@cache
def _words() -> dict[str, tuple[tuple[int, str], ...]]:
    """Return names of months in all these languages, with the number of the month and the language."""
    by_word: dict[str, list[tuple[int, str]]] = {}
    for language in _LANGUAGES:
        info = importlib.import_module(f"dateparser.data.date_translation_data.{language}").info
        for number, name in enumerate(_MONTHS, start=1):
            for written in info.get(name, ()):
                word = written.casefold().replace(".", "")
                if len(word) > 2 or (word and word[0] > "\u0600"):
                    by_word.setdefault(word, []).append((number, language))
    return {word: tuple(dict.fromkeys(months)) for word, months in by_word.items()}


@cache
def _parser(language: str) -> DateDataParser:
    return DateDataParser(languages=[language], settings=_SETTINGS, try_previous_locales=False)


def _read(text: str, language: str) -> datetime | None:
    """Read a date with dateparser in one language. Returns None for no date, and for text that breaks it."""
    try:
        when = _parser(language).get_date_data(text).date_obj
    except Exception:  # dozens of regular expressions on any text: nothing says what they may raise
        return None
    return when.astimezone(UTC) if when else None


def _accounted(text: str, when: datetime) -> bool:
    """Return whether a text's numbers are exactly the year, day and time of the reading."""
    numbers = [int(number) for number in _NUMBER.findall(text)]
    clock = [when.hour, when.minute, when.second]
    for part in (when.year, when.day):
        if part not in numbers:
            return False
        numbers.remove(part)
    if numbers and numbers[0] == when.month and f"{when.month}" in text and len(numbers) in (1, 3, 4):
        numbers.remove(when.month)  # months with numbers for names: Vietnamese, Chinese
    if not numbers:
        return clock == [0, 0, 0]
    hour, *others = numbers
    same = hour == clock[0] or (hour <= 12 and hour % 12 == clock[0] % 12)
    return same and len(others) in (1, 2) and [*others, 0][:2] == clock[1:]


def _half_known(text: str, when: datetime, languages: tuple[str, ...]) -> bool:
    """Return False where a word behind the time may name a half of the day unknown to dateparser."""
    numbers = list(_NUMBER.finditer(text))
    words = [word for word in re.split(r"[\W\d_]+", text[numbers[-1].end() :].casefold()) if word]
    if not words or len(numbers) < 4:
        return True
    halves = {half: _half_words(languages, half) for half in ("am", "pm")}
    tail = "".join(words)
    if tail in halves["pm"]:
        return when.hour >= 12
    return tail in halves["am"] or all(word in _HOURS for word in words)


def _half_words(languages: tuple[str, ...], half: str) -> set[str]:
    """Return the words of these languages for a half of the day, letters alone."""
    halves: set[str] = set()
    for language in languages:
        info = importlib.import_module(f"dateparser.data.date_translation_data.{language}").info
        halves.update("".join(re.split(r"[\W\d_]+", word.casefold())) for word in info.get(half, ()))
    return halves
