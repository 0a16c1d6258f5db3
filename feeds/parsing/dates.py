"""Dates of feeds as epoch seconds: RFC 822 with all the field's sins, ISO 8601 and W3CDTF variants.

The forms come from the specifications (RFC 822, 2822, 3339, W3CDTF) and from what feed readers report:
missing or named zones, wrong weekdays, years of two digits, months in other languages.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

_ISO = re.compile(
    r"(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?|[-/.](\d{1,2})[-/.](\d{1,2}))?"
    r"(?:(?:\s*T\s*|[\s,]+)(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?(?:\s*([AP]M)\b)?)?"
    r"\s*([A-Z+\-\u2212].{0,12})?",
    re.IGNORECASE,
)
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})")
_EPOCH = re.compile(r"(\d{9,10})(\d{3})?(?:\.\d+)?")
_DAY_FIRST = re.compile(
    r"(?:[^\W\d_]+[.,]*\s*)?(\d{1,2})(?:\.|st|nd|rd|th|º)?[\s-]+(?:de\s+)?([^\W\d_]{3,})[.,]?[\s-]+(?:de\s+)?(\d{2,4})\b[,.]?"
)
_MONTH_FIRST = re.compile(
    r"(?:([^\W\d_]{3,})[.,]*\s+)?([^\W\d_]{3,})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(?:(\d{4})\b,?)?"
)
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})\b,?")
_CLOCK = re.compile(
    r"\s*(?:(?:at|um|à)\s+)?(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,]\d+)?)?(?:\s*([ap])\.?m\b\.?)?",
    re.IGNORECASE,
)
_YEAR_LAST = re.compile(r"\s*([A-Z]{1,5}\s+)?(\d{4})\s*$", re.IGNORECASE)
_OFFSET = re.compile(r"(?:GMT|UTC|Z)?\s*([+\-\u2212])\s*(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_NAME = re.compile(r"[A-Z]{1,5}", re.IGNORECASE)
_EAST_ASIAN = str.maketrans(
    {"年": "-", "月": "-", "日": " ", "년": "-", "월": "-", "일": " ", "時": ":", "分": " "}
)

_ZONES = {
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "AKST": -9, "AKDT": -8, "HST": -10, "AST": -4, "ADT": -3, "NST": -3.5, "NDT": -2.5, "BRT": -3,
    "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MET": 1, "MEST": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "MSD": 4, "IST": 5.5, "SGT": 8, "HKT": 8, "AWST": 8, "JST": 9, "KST": 9,
    "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip
# The beginnings of month names, folded: English, German, French, Spanish, Italian, Portuguese, Dutch,
# Scandinavian, Polish, Turkish, Indonesian, Russian and Ukrainian. The longest one that fits decides.
_MONTHS = {
    1: "jan jän jaen ene gen sty oca янв січ",
    2: "feb fev fév fév lut şub pebr фев лют",
    3: "mar mär maer mrt maa мар бер",
    4: "apr avr abr kwi nis апр кві",
    5: "may mai mag mei maj мая май тра",
    6: "jun juin giu cze haz июн чер",
    7: "jul juil lug lip tem июл лип",
    8: "aug aoû aou ago sie ağu авг сер",
    9: "sep set wrz eyl сен вер",
    10: "oct okt out ott paź paz eki окт жов",
    11: "nov lis kas noi ноя лис",
    12: "dec dez déc dic des gru ara дек гру",
}


def _folded(text: str) -> str:
    """Lower case without diacritics, for names."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


_PREFIXES = {_folded(prefix): number for number, names in _MONTHS.items() for prefix in names.split()}


def epoch(text: str) -> float | None:
    """Epoch seconds (UTC) of a date in any form that feeds use; a missing zone is UTC. None when unparsable.

    Years before 1900 are programs' empty values (0001-01-01, 0000-00-00), no dates.
    """
    text = " ".join(text[:200].split())
    if not text or not any(c.isdigit() for c in text):
        return None
    text = text.translate(_EAST_ASIAN)
    for form in (_numeric, _iso, _day_first, _dotted, _month_first):
        try:
            moment = form(text)
        except ValueError:
            return None
        if moment is not None:
            return moment
    return None


def _numeric(text: str) -> float | None:
    """Seconds or milliseconds since the epoch, or YYYYMMDDhhmmss."""
    if match := _COMPACT.fullmatch(text):
        year, month, day, hour, minute, second = map(int, match.groups())
        return _moment(year, month, day, (hour, minute, second))
    match = _EPOCH.fullmatch(text)
    return float(match[1]) if match else None


def _iso(text: str) -> float | None:
    """ISO 8601 in its basic and extended forms, W3CDTF, and what databases print."""
    match = _ISO.fullmatch(text)
    if not match:
        return None
    year, month, day = match[1], match[2] or match[4] or "1", match[3] or match[5] or "1"
    clock = (_hour(match[6] or "0", (match[9] or "")[:1]), int(match[7] or 0), int(match[8] or 0))
    return _moment(int(year), int(month), int(day), clock, match[10] or "")


def _day_first(text: str) -> float | None:
    """RFC 822 and 850: weekday (never believed), day, month, year, time, zone."""
    match = _DAY_FIRST.match(text)
    month = _month(match[2]) if match else 0
    if not match or not month:
        return None
    clock, rest = _clock(text[match.end() :])
    return _moment(_year(match[3]), month, int(match[1]), clock, rest)


def _dotted(text: str) -> float | None:
    """31.12.2026 23:59, the order of day and month that dots imply."""
    match = _DOTTED.match(text)
    if not match:
        return None
    clock, rest = _clock(text[match.end() :])
    return _moment(int(match[3]), int(match[2]), int(match[1]), clock, rest)


def _month_first(text: str) -> float | None:
    """Month, day, year, time, zone; or asctime, with the year behind the time."""
    match = _MONTH_FIRST.match(text + " ")
    month = _month(match[2]) if match else 0
    if not match or not month:
        return None
    clock, rest = _clock(text[match.end() :])
    year = match[4] or ""
    if not year and (last := _YEAR_LAST.match(rest)):
        rest, year = last[1] or "", last[2]
    return _moment(int(year), month, int(match[3]), clock, rest) if year else None


def _month(name: str) -> int:
    """Number of a month from the longest known beginning of its name, 0 for other words."""
    name = _folded(name)
    return next((_PREFIXES[name[:n]] for n in (4, 3) if name[:n] in _PREFIXES), 0)


def _year(digits: str) -> int:
    """Years of two and three digits by RFC 2822, section 4.3."""
    year = int(digits)
    if len(digits) == 2:
        return year + (2000 if year < 50 else 1900)
    return year + 1900 if len(digits) == 3 else year


def _hour(digits: str, half: str) -> int:
    """Hour of day; `half` is a or p on a clock of twelve hours, else empty."""
    hour = int(digits)
    return hour % 12 + (12 if half in "pP" else 0) if half else hour


def _clock(text: str) -> tuple[tuple[int, int, int], str]:
    """Time of day at the beginning of a text, midnight without, and what follows it."""
    match = _CLOCK.match(text)
    if not match:
        return (0, 0, 0), text
    return (_hour(match[1], match[4] or ""), int(match[2]), int(match[3] or 0)), text[match.end() :]


def _moment(year: int, month: int, day: int, clock: tuple[int, int, int], zone: str = "") -> float | None:
    """Epoch seconds; 24:00 and leap seconds are allowed. ValueError when there is no such day."""
    hour, minute, second = clock
    if year < 1900 or hour > 24 or minute > 59 or second > 60:
        return None
    midnight = datetime(year, month, day, tzinfo=UTC).timestamp()
    return midnight + hour * 3600 + minute * 60 + second - _offset(zone)


def _offset(zone: str) -> float:
    """Seconds east of Greenwich; names that nobody agrees on, and none at all, are UTC."""
    zone = zone.strip(" ()")
    if match := _OFFSET.match(zone):
        seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60
        return float(seconds if match[1] == "+" else -seconds) if seconds <= 15 * 3600 else 0.0
    name = _NAME.match(zone)
    return _ZONES.get(name[0].upper(), 0) * 3600.0 if name else 0.0
