"""Dates in the forms that the specifications name, and in the faulty variants found in practice.

RFC 822, 2822 and 3339, W3CDTF, ISO 8601, East Asian forms; missing or named zones, wrong weekdays, years of
two digits, months in a dozen languages. A form reads a text as a whole or not at all: what it would leave
over might have said another time.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

_CLOCK_TEXT = r"(\d{1,2})(?:[:.](\d{2}|\d(?=:))(?:[:.](\d{1,2})(?:[.,]\d+)?)?|\s?[hH](?:\s?(\d{2}))?\b)"
# Themes of WordPress print the zone in place of the T (dateparser 971): 2019-09-28WIB19:17:34+07:00.
_ISO = re.compile(
    r"(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?|\s?[-/.]\s?(\d{1,2})\s?[-/.]\s?(\d{1,2})\.?)?"
    r"(?:(?:\s*T\s*|[A-Z]{2,5}|\s+at\s+|[\s,]+)(\d{1,2})(?::(\d{1,2})|(\d{2}))(?:(?::(\d{1,2})|(\d{2}))(?:[.,]\d+)?)?"
    r"(?:\s*([AP]M)\b)?)?"
    r"(?=$|[\s+\-\u2212A-Z\[])",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(\d{4})-(\d{3})(?=$|T|\s)")
_WEEK = re.compile(r"(\d{4})-?W(\d{2})-?(\d)(?=$|T|\s)", re.IGNORECASE)
_ISO_CLOCK = re.compile(r"[T\s]\s*(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?", re.IGNORECASE)
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})")
_EPOCH = re.compile(r"(\d{9,10})(\d{3})?(?:\.\d+)?")
_WEEKDAY = r"(?:[^\W\d_]+(?:-[^\W\d_]+)?[.,]*\s*)?"
_DAY_FIRST = re.compile(
    _WEEKDAY
    + r"(\d{1,2})(\.|st|nd|rd|th|º|er|ª)?[\s-]+(?:de\s+|of\s+)?([^\W\d_]{3,})[.,]?[\s-]+(?:de\s+|del\s+)?"
    r"(\d{2,4})\b[,.]?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?:([^\W\d_]{3,})[.,]*\s+)?([^\W\d_]{3,})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(?:(\d{4})\b,?)?"
)
_SLASHED = re.compile(_WEEKDAY + r"(\d{1,2})\s?/\s?(\d{1,2})\s?/\s?(\d{4}|\d{2})\b[,.]?")
_DOTTED = re.compile(_WEEKDAY + r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b[,.]?")
_EAST_ASIAN = re.compile(
    r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日号號일]?\s*"
    r"(?:[(（][^\W\d_]{1,3}[)）]|(?:星期|周|週)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일)?,?\s*"
    r"(?:(上午|下午|午前|午後|오전|오후|凌晨|早上|晚上|中午)?\s*(\d{1,2})\s*[:：時时點点시]\s*"
    r"(?:(\d{1,2})\s*[:：分분]?\s*(?:(\d{1,2})\s*[秒초]?)?)?)?"
)
_LATER_HALF = {"下午", "午後", "오후", "晚上"}
_EARLIER_HALF = {"上午", "午前", "오전", "凌晨", "早上"}
_BEFORE_CLOCK = re.compile(
    r"(?:[\s,;|·•@–—-]|\b(?:at|um|à|a|las?|às|as|alle|ore|om|kl|klo|o|godz|saat|pukul|u|v|ve|в|о|об|г|года|р|року|år|roku|r"
    r"|T)\b\.?)*",
    re.IGNORECASE,
)
_CLOCK = re.compile(_CLOCK_TEXT + r"(?:\s*([ap])\.?\s?m\b\.?)?", re.IGNORECASE)
_AFTER_CLOCK = re.compile(r"\s*(?:Uhr|uur|hrs?|h|ч|час(?:а|ов)?|год)\b\.?", re.IGNORECASE)
_CLOCK_BEFORE = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([ap])\.?m\b\.?)?(?:[\s,|·•–—-])+(?=\S)", re.IGNORECASE
)
_YEAR_LAST = re.compile(r"\s*([A-Z]{1,5}\s+)?(\d{4})(\s+\D.*|\s*)$", re.IGNORECASE)
_ZONE = re.compile(
    r"\s*\(?\s*(?:([A-Z]{1,5})\b)?\s*(?:([+\-\u2212])\s*(\d{1,2})(?::?(\d{2}))?(?:Z|\s+[A-Z]{2,5}\b)?)?\s*\)?\s*"
    r"(?:\([A-Za-z .,'-]{0,60}\))?\s*[.,]?\s*",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\s*\(?((?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)(?:/[A-Z][A-Za-z_-]{1,30}){1,2})\)?\s*"
)
"""The name of a zone in the tz database."""
_BRACKETED = re.compile(r"([^\[]{0,20})\[([A-Za-z][\w/+-]{1,60})\]\s*")
"""An offset, if any, and the zone that Java prints behind it: +02:00[Europe/Berlin]."""
_WORDS = re.compile(r"[\s,.;|()г\-–—]*(?:года|року|roku|óra)?[\s,.;|()\-–—]*")

_ZONES = {
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "AKST": -9, "AKDT": -8, "HST": -10, "AST": -4, "ADT": -3, "NST": -3.5, "NDT": -2.5, "BRT": -3,
    "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MET": 1, "MEST": 2, "MEZ": 1, "MESZ": 2,
    "EET": 2, "EEST": 3, "MSK": 3, "MSD": 4, "IST": 5.5, "SGT": 8, "HKT": 8, "AWST": 8, "JST": 9, "KST": 9,
    "WIB": 7, "WITA": 8, "WIT": 9, "ICT": 7, "PHT": 8, "PKT": 5, "NPT": 5.75, "TRT": 3, "EAT": 3, "SAST": 2,
    "CAT": 2, "WAT": 1, "ART": -3, "COT": -5,
    "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip
# Names of zones written out, as Windows and Java write them; "Daylight" and "Summer" are an hour more.
_NAMED_ZONE = re.compile(
    r"\s*(?:US\s+)?([A-Z][A-Z. ]{1,30}?)\s+(?:(standard|daylight|summer|mean|universal)\s+)?time\s*",
    re.IGNORECASE,
)
_NAMED_ZONES = {
    "newfoundland": -3.5, "atlantic": -4, "eastern": -5, "central": -6, "mountain": -7, "pacific": -8,
    "alaskan": -9, "alaska": -9, "hawaiian": -10, "e. south america": -3, "western european": 0,
    "w. europe": 1, "central europe": 1, "central european": 1, "middle european": 1, "romance": 1,
    "eastern european": 2, "e. europe": 2, "fle": 2, "gtb": 2, "israel": 2, "russian": 3, "moscow": 3,
    "india": 5.5, "china": 8, "singapore": 8, "hong kong": 8, "taipei": 8, "tokyo": 9, "japan": 9, "korea": 9,
    "aus eastern": 10, "australian eastern": 10, "e. australia": 10, "new zealand": 12,
}  # fmt: skip
# The beginnings of month names, folded: English, German, French, Spanish, Italian, Portuguese, Dutch,
# Scandinavian, Finnish, Polish, Turkish, Indonesian, Russian and Ukrainian. The longest that fits decides.
_MONTHS = {
    1: "jan jän jaen ene gen sty oca янв січ tam",
    2: "feb fev fév fév lut şub pebr фев лют hel",
    3: "mar mär maer mrt maa мар бер",
    4: "apr avr abr kwi nis апр кві huh",
    5: "may mai mag mei maj мая май тра tou",
    6: "jun juin giu cze haz lipa lipn meit июн чер kes",
    7: "jul juil lug lip tem июл лип hei",
    8: "aug aoû aou ago sie ağu авг сер elo",
    9: "sep set wrz eyl сен вер syy",
    10: "oct okt out ott paź paz eki окт жов lok",
    11: "nov lis kas noi marr ноя лис",
    12: "dec dez déc dic des gru ara дек гру jou",
}


def _folded(text: str) -> str:
    """Convert to lower case without diacritics, for names."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


_CROATIAN = {"listopad", "listopada", "listopadu", "lis"}
_PREFIXES = {_folded(prefix): number for number, names in _MONTHS.items() for prefix in names.split()}


_USUAL_RFC = re.compile(
    r"(?:[A-Z][a-z]{2}, )?([0-9]{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ((?:19|20)[0-9]{2})"
    r" ([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]) (?:GMT|UTC|Z|([+-])(0[0-9]|1[0-4])([0-5][0-9]))"
)
_USUAL_ISO = re.compile(
    r"((?:19|20)[0-9]{2})-([0-9]{2})-([0-9]{2})T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])"
    r"(?:Z|([+-])(0[0-9]|1[0-4]):([0-5][0-9]))"
)


def usual(text: str) -> float | None:
    """Parse the two most frequent forms to epoch seconds, faster than `read`. Returns None for others."""
    if match := _USUAL_RFC.fullmatch(text):
        day, name, year, hour, minute, second, sign, hours, minutes = match.groups()
        month = _PREFIXES[name.lower()]
    elif match := _USUAL_ISO.fullmatch(text):
        year, number, day, hour, minute, second, sign, hours, minutes = match.groups()
        month = int(number)
    else:
        return None
    try:
        moment = datetime(int(year), month, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None
    offset = int(hours) * 3600 + int(minutes) * 60 if sign else 0
    return moment.timestamp() + (offset if sign == "-" else -offset)


def read(text: str) -> tuple[float | None, bool]:
    """Parse one line with ASCII digits to epoch seconds. Also returns False when no form fits it, else True.

    A text that has a form but names a day or hour that does not exist is certain to be no date.
    """
    for form in (_numeric, _iso, _ordinal, _east_asian, _day_first, _dotted, _slashed, _month_first):
        try:
            moment = form(text)
        except ValueError:
            return None, True
        if moment is not None:
            return moment, True
    if before := _CLOCK_BEFORE.match(text):
        return _after_clock(before, text[before.end() :])
    return None, not any(c.isalpha() for c in text)


def _after_clock(clock: re.Match[str], tail: str) -> tuple[float | None, bool]:
    """Parse a date that stands behind its time."""
    midnight, certain = read(tail) if not _CLOCK_BEFORE.match(tail) else (None, True)
    hour, minute = _hour(clock[1], clock[4] or ""), int(clock[2])
    if midnight is None or midnight % 86400 or hour > 23 or minute > 59:
        return None, certain or midnight is not None
    return midnight + hour * 3600 + minute * 60 + int(clock[3] or 0), True


def _numeric(text: str) -> float | None:
    """Parse seconds or milliseconds since the epoch, or YYYYMMDDhhmmss."""
    if match := _COMPACT.fullmatch(text):
        year, month, day, hour, minute, second = map(int, match.groups())
        return _moment(year, month, day, (hour, minute, second))
    match = _EPOCH.fullmatch(text)
    return float(match[1]) if match else None


def _iso(text: str) -> float | None:
    """Parse ISO 8601 in its basic and extended forms, W3CDTF, and the output of databases."""
    match = _ISO.match(text)
    if not match:
        return None
    if not match[2] and not match[4] and match.end() < len(text):  # a year alone, and something else
        return None
    year, month, day = match[1], match[2] or match[4] or "1", match[3] or match[5] or "1"
    minute, second = match[7] or match[8] or 0, match[9] or match[10] or 0
    clock = (_hour(match[6] or "0", (match[11] or "")[:1]), int(minute), int(second))
    return _moment(int(year), int(month), int(day), clock, text[match.end() :])


def _ordinal(text: str) -> float | None:
    """Parse ISO 8601 by the day of the year (2026-064) and by week and weekday (2026-W10-4)."""
    if match := _ORDINAL.match(text):
        day = date(int(match[1]), 1, 1).toordinal() + int(match[2]) - 1
        day_found = date.fromordinal(day)
        if day_found.year != int(match[1]) or not int(match[2]):
            raise ValueError("no such day in the year")
    elif match := _WEEK.match(text):
        day_found = date.fromisocalendar(int(match[1]), int(match[2]), int(match[3]))
    else:
        return None
    tail = text[match.end() :]
    clock = _ISO_CLOCK.match(tail)
    at = (int(clock[1]), int(clock[2]), int(clock[3] or 0)) if clock else (0, 0, 0)
    return _moment(day_found.year, day_found.month, day_found.day, at, tail[clock.end() :] if clock else tail)


def _east_asian(text: str) -> float | None:
    """Parse 2026年3月5日 10:30 and 2026년 3월 5일 오후 3시 20분."""
    match = _EAST_ASIAN.match(text)
    if not match:
        return None
    half, hour = match[4] or "", int(match[5] or 0)
    if half in _LATER_HALF and hour < 12:
        hour += 12
    elif half in _EARLIER_HALF and hour == 12:
        hour = 0
    clock = (hour, int(match[6] or 0), int(match[7] or 0))
    return _moment(int(match[1]), int(match[2]), int(match[3]), clock, text[match.end() :])


def _day_first(text: str) -> float | None:
    """Parse RFC 822 and 850: weekday (never believed), day, month, year, time, zone."""
    match = _DAY_FIRST.match(text)
    month = _month(match[3], dotted=match[2] == ".") if match else 0
    if not match or not month:
        return None
    clock, tail = _clock(text[match.end() :])
    return _moment(_year(match[4]), month, int(match[1]), clock, tail)


def _dotted(text: str) -> float | None:
    """Parse 31.12.2026 23:59, in the order of day and month that dots imply."""
    match = _DOTTED.match(text)
    if not match:
        return None
    clock, tail = _clock(text[match.end() :])
    return _moment(int(match[3]), int(match[2]), int(match[1]), clock, tail)


def _slashed(text: str) -> float | None:
    """Parse 20/11/2026 - 18:05, 11/20/2026 and 11/20/26. One that may be of either order is none.

    20/11/26 may begin with the year.
    """
    match = _SLASHED.match(text)
    if not match:
        return None
    first, second = int(match[1]), int(match[2])
    if (first <= 12 and second <= 12 and first != second) or (first > 12 and len(match[3]) == 2):
        return None
    day, month = (first, second) if first > 12 else (second, first)
    clock, tail = _clock(text[match.end() :])
    return _moment(_year(match[3]), month, day, clock, tail)


def _month_first(text: str) -> float | None:
    """Parse month, day, year, time, zone; or asctime, with the year behind the time."""
    match = _MONTH_FIRST.match(text + " ")
    month = _month(match[2]) if match else 0
    if not match or not month:
        return None
    clock, tail = _clock(text[match.end() :])
    year = match[4] or ""
    if not year and (last := _YEAR_LAST.match(tail)):
        # Perl and git write the zone behind the year.
        tail, year = (last[1] or "") + last[3], last[2]
    return _moment(int(year), month, int(match[3]), clock, tail) if year else None


def _month(name: str, *, dotted: bool = False) -> int:
    """Return the number of a month from the longest known beginning of its name, 0 for other words.

    Behind a day with a dot, "listopada" is October in Croatian and not November in Polish.
    """
    name = _folded(name)
    if dotted and name in _CROATIAN:
        return 0
    return next((_PREFIXES[name[:n]] for n in (4, 3) if name[:n] in _PREFIXES), 0)


def _year(digits: str) -> int:
    """Complete years of two and three digits by RFC 2822, section 4.3."""
    year = int(digits)
    if len(digits) == 2:
        return year + (2000 if year < 50 else 1900)
    return year + 1900 if len(digits) == 3 else year


def _hour(digits: str, half: str) -> int:
    """Return the hour of day; `half` is a or p on a clock of twelve hours, else empty."""
    hour = int(digits)
    return hour % 12 + (12 if half in "pP" else 0) if half else hour


def _clock(text: str) -> tuple[tuple[int, int, int], str]:
    """Parse the time of day that begins a text, midnight without one. Also returns the rest of the text."""
    match = _CLOCK.match(text, _BEFORE_CLOCK.match(text).end())  # type: ignore[union-attr]  # it matches nothing, too
    if not match:
        return (0, 0, 0), text
    tail = text[match.end() :]
    behind = _AFTER_CLOCK.match(tail)
    minute, second = int(match[2] or match[4] or 0), int(match[3] or 0)
    return (_hour(match[1], match[5] or ""), minute, second), tail[behind.end() :] if behind else tail


def _moment(year: int, month: int, day: int, clock: tuple[int, int, int], tail: str = "") -> float | None:
    """Return epoch seconds; 24:00 and leap seconds are allowed. Returns None when `tail` is no zone.

    Raises ValueError when there is no such day or time.
    """
    hour, minute, second = clock
    if not 1900 <= year <= 9999 or hour > 24 or minute > 59 or second > 60:
        raise ValueError("no such year or time")
    midnight = datetime(year, month, day, tzinfo=UTC).timestamp()
    if bracketed := _BRACKETED.fullmatch(tail):
        tail = bracketed[1].strip() or bracketed[2]
    if place := _PLACE.fullmatch(tail):
        there = _zone_of(place[1])
        at = datetime(year, month, day, hour % 24, minute, min(second, 59), tzinfo=there)
        offset: float | None = at.utcoffset().total_seconds()  # type: ignore[union-attr]  # each zone has one
    else:
        offset = _offset(tail)
    return None if offset is None else midnight + hour * 3600 + minute * 60 + second - offset


@lru_cache(maxsize=64)
def _zone_of(place: str) -> tzinfo:
    """Return a zone of the tz database; one that it does not know is UTC, as other unknown names are."""
    try:
        return ZoneInfo(place)
    except (LookupError, ValueError, OSError):
        return UTC


def _offset(tail: str) -> float | None:
    """Return seconds east of Greenwich. Missing and ambiguous names are UTC. Returns None for no zone."""
    if _WORDS.fullmatch(tail):
        return 0.0
    zone = _ZONE.fullmatch(tail)
    if not zone:
        return _named_offset(tail)
    if zone[2]:
        seconds = int(zone[3]) * 3600 + int(zone[4] or 0) * 60
        return float(seconds if zone[2] == "+" else -seconds) if seconds <= 15 * 3600 else 0.0
    return _ZONES.get(zone[1].upper(), 0) * 3600.0 if zone[1] else 0.0


def _named_offset(tail: str) -> float | None:
    """Return the seconds of a zone whose name is written out: "Eastern Standard Time". None for no zone.

    An unknown name counts as UTC where a word behind it says that it is one ("Arctic Standard Time").
    """
    zone = _NAMED_ZONE.fullmatch(tail)
    hours = _NAMED_ZONES.get(" ".join(zone[1].lower().split()), 0 if zone[2] else None) if zone else None
    if not zone or hours is None:
        return None
    return (hours + ((zone[2] or "").lower() in {"daylight", "summer"})) * 3600.0
