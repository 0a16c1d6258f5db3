"""Sentences about feeds: their state, their rhythm and their next check, for people who read news. Pure.

A sentence never holds a figure that means nothing yet. Reasons, rules and parameters stand elsewhere, under
"Why then?" (`feeds.explain`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from crawler.http.failures import Failure

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LIKELY = "something new is likely by then"
MIN_ARTICLES = 4
"""Articles from which a rhythm is told."""
USUAL_SHARE = 0.8
"""Share of the articles that "nearly always" and "mostly" stand for."""
MAX_WINDOW_HOURS = 9
SILENT = timedelta(days=365)
_DAY, _HOUR, _MINUTE = 86_400.0, 3600.0, 60.0

_FAILURES: dict[Failure, str] = {
    Failure.DNS: "its address is not known on the internet",
    Failure.REFUSED: "no answer",
    Failure.UNREACHABLE: "no way to its server",
    Failure.RESET: "its server breaks off",
    Failure.TIMEOUT: "no answer",
    Failure.TOO_SLOW: "its server is too slow",
    Failure.TLS: "its certificate is not valid",
    Failure.PROXY: "Freshet's own proxy does not answer",
    Failure.HTTP_4XX: "its server refuses the request",
    Failure.HTTP_5XX: "its server has a fault",
    Failure.HTTP_OTHER: "its server answers with nothing to read",
    Failure.GONE: "ended by its publisher",
    Failure.THROTTLED: "its server asks for a break",
    Failure.TOO_LARGE: "it is too large to read",
    Failure.TRUNCATED: "its server sends only a part",
    Failure.REDIRECT: "its address leads in a circle",
    Failure.BLOCKED_ADDRESS: "its address is inside a private network",
    Failure.BLOCKED_PORT: "its address is not that of a web server",
    Failure.BAD_URL: "its address is not valid",
    Failure.BAD_SCHEME: "its address is not one of the web",
    Failure.ROBOTS: "the site does not want programs to read it",
    Failure.PROTOCOL: "its server's answer makes no sense",
    Failure.DECODING: "its server's answer is damaged",
    Failure.NOT_A_FEED: "this is a page, not a feed",
    Failure.MALFORMED: "it is too damaged to read",
    Failure.TOO_DEEP: "it is built in a way that cannot be read safely",
    Failure.TOO_COSTLY: "reading it takes too long",
    Failure.UNSTORABLE: "its text cannot be stored",
    Failure.UNSUPPORTED_TYPE: "it is no kind of document that is read here",
    Failure.ENTITIES: "it is built in a way that is not allowed",
    Failure.BUSY: "its server is busy with other requests",
    Failure.LOST: "reading it broke off",
}
_WAIT = "Nothing to do: Freshet tries again, later after each failure, at least once a day."
_PUBLISHER = "Only its publisher can mend it. Freshet goes on trying."
_ADVICE: dict[Failure, str] = {
    Failure.DNS: "The site may have moved or ended: look for its new address.",
    Failure.TLS: _PUBLISHER,
    Failure.PROXY: "Look at the proxy that the settings name.",
    Failure.HTTP_4XX: "Look whether the feed has another address now.",
    Failure.HTTP_OTHER: _PUBLISHER,
    Failure.GONE: "Remove it, or keep it for its articles.",
    Failure.THROTTLED: "Nothing to do: Freshet waits as long as it is asked to.",
    Failure.TOO_LARGE: "Its publisher may have a shorter feed; FETCH_MAX_BYTES allows larger ones.",
    Failure.REDIRECT: "Look whether the feed has another address now.",
    Failure.BLOCKED_ADDRESS: "If the network is yours, allow it in FETCH_ALLOWED_NETWORKS.",
    Failure.BLOCKED_PORT: "Look whether the feed has another address.",
    Failure.BAD_URL: "Correct the address.",
    Failure.BAD_SCHEME: "Correct the address.",
    Failure.ROBOTS: "Nothing to do: the site has to allow it.",
    Failure.PROTOCOL: _PUBLISHER,
    Failure.DECODING: _PUBLISHER,
    Failure.NOT_A_FEED: "Look for its feed on the site, or watch the page.",
    Failure.MALFORMED: _PUBLISHER,
    Failure.TOO_DEEP: _PUBLISHER,
    Failure.TOO_COSTLY: _PUBLISHER,
    Failure.UNSTORABLE: _PUBLISHER,
    Failure.UNSUPPORTED_TYPE: "Look for its feed on the site.",
    Failure.ENTITIES: _PUBLISHER,
}
_STATUS_ADVICE = {
    401: "It can be read only with a password in its address, if its publisher allows that.",
    403: "Its publisher keeps programs out. Freshet goes on trying.",
}
_STATUSES = {
    401: "it asks for a password",
    403: "its server refuses Freshet",
    404: "not found",
    410: "ended by its publisher",
}
_FLOORS = {
    "min-gap": "because no feed is asked more often",
    "retry-after": "because its server asks for a break until then",
    "throttled": "because its server asks for fewer visits",
    "forbidden": "because its server refuses Freshet at the moment",
    "missing": "because nothing was found there",
    "back-off": "because the last try failed",
    "ours": "because the last try failed here, not there",
    "max-age": "because its server says that nothing changes before",
    "ttl": "because the feed asks not to be visited more often",
    "update-period": "because the feed asks not to be visited more often",
    "quiet": "because it has been quiet for a while",
    "unconditional": "because its server always sends everything",
    "websub": "to be sure: its publisher tells Freshet of news at once",
    "skip-hours": "because the feed asks not to be visited at some hours",
}


@dataclass(frozen=True, slots=True)
class FeedFacts:
    """The state of a feed that sentences are made of. `next_at` is None where no visit is planned."""

    status: str
    is_learning: bool
    was_read: bool
    is_on_its_way: bool
    is_pushed: bool
    failure: str
    failing_since: datetime | None
    last_new: datetime | None
    next_at: datetime | None
    floor: str = ""
    moved: bool = False


@dataclass(frozen=True, slots=True)
class FeedState:
    """A feed's state in a few words, with the shape that goes with it: good, learn, warn, bad or ""."""

    shape: str
    words: str


def state_of(facts: FeedFacts, now: datetime) -> FeedState:
    """Return the state of a feed in a few words."""
    silent = facts.last_new is not None and now - facts.last_new > SILENT
    states = (
        (facts.status == "gone", "warn", "Ended by its publisher"),
        (facts.status == "paused", "", "Paused"),
        (bool(facts.failure), "bad", failure_words(facts.failure, facts.failing_since, now)),
        (not facts.was_read, "learn", "New"),
        (silent, "warn", f"Silent since {_day(facts.last_new or now, now)}"),
        (facts.moved, "good", "Moving to a new address"),
        (facts.is_pushed, "good", "Tells Freshet of news at once"),
        (facts.is_learning, "learn", "Learning its rhythm"),
        (True, "good", "Fine"),
    )
    return next(FeedState(shape, words) for applies, shape, words in states if applies)


def failure_words(label: str, since: datetime | None, now: datetime) -> str:
    """Return a failure with its duration, such as "Not found since Friday" or "No answer for 3 hours"."""
    words = _failure(label)
    words = words[:1].upper() + words[1:]
    if since is None or label in {"gone", "http-410"}:
        return words
    away = (now - since).total_seconds()
    if away < _MINUTE:
        return words
    return f"{words} for {duration(away)}" if away < _DAY else f"{words} since {_day(since, now)}"


def advice(label: str) -> str:
    """Return what a person can do about a failure, or that there is nothing to do."""
    status = label.removeprefix("http-")
    if status.isdecimal() and int(status) in _STATUS_ADVICE:
        return _STATUS_ADVICE[int(status)]
    try:
        return _ADVICE.get(Failure.of(label), _WAIT)
    except ValueError:
        return _WAIT


def next_check(facts: FeedFacts, now: datetime, window: tuple[int, int] | None, zone: tzinfo = UTC) -> str:
    """Return a sentence about the next check. `window` are the hours between which the feed mostly posts."""
    when = "" if facts.next_at is None else _when(facts.next_at, now, zone)
    hour = 0 if facts.next_at is None else facts.next_at.astimezone(zone).hour
    is_usual = window is not None and (hour - window[0]) % 24 <= (window[1] - window[0]) % 24
    likely = f"it mostly posts between {_hours(window)}" if window and is_usual else _LIKELY
    sentences = (
        (facts.status == "gone", "Its publisher says that it has ended, so Freshet looks no more."),
        (facts.status == "paused", "It is paused: Freshet looks again once you resume it."),
        (facts.is_on_its_way, "Freshet is looking at it now."),
        (not facts.was_read and not facts.failure, "It is new: Freshet looks at it within a minute."),
        (not when, "No check is planned within a month, because hardly anything is expected."),
        (bool(facts.failure), f"Next try {when}."),
        (facts.floor in _FLOORS, f"Next check {when}, {_FLOORS.get(facts.floor, '')}."),
        (facts.is_learning, f"Freshet is still learning its rhythm. Next check {when}."),
        (True, f"Next check {when}, because {likely}."),
    )
    return next(sentence for applies, sentence in sentences if applies)


def rhythm(posted: Sequence[datetime], now: datetime, zone: tzinfo = UTC) -> str:
    """Return a sentence about when a feed posts, "" where too little was posted in the last year to say.

    `posted` are times of publication in any order.
    """
    times = _recent(posted, now)
    if len(times) < MIN_ARTICLES:
        return ""
    often = _often(times, now)
    days, window = _days(times, zone), usual_hours(posted, now, zone)
    hours = f"between {_hours(window)}" if window else ""
    if days and hours:
        return f"It posts {often}, {days} {hours}."
    if hours:
        return f"It posts {often}, mostly {hours}."
    return f"It posts {often}, {days}." if days else f"It posts {often}."


def how_often(month: int, year: int) -> str:
    """Return how often a feed posts, "" for never: from its articles of four weeks and of a year."""
    if month >= MIN_ARTICLES:
        for days, name in ((1, "day"), (7, "week"), (30, "month")):
            count = round(month / 28 * days)
            if count >= 2 or days == 30:
                return f"{count} a {name}"
    return f"{year} a year" if year else ""


def short_check(facts: FeedFacts, now: datetime, zone: tzinfo = UTC) -> str:
    """Return when the next check is in a few words, "" where none is planned."""
    words = (
        (facts.status != "active", ""),
        (facts.is_on_its_way, "now"),
        (facts.next_at is None, ""),
        (facts.is_pushed and not facts.failure, "when it posts"),
        (True, "" if facts.next_at is None else _when(facts.next_at, now, zone)),
    )
    return next(text for applies, text in words if applies)


def posts_often(posted: Sequence[datetime], now: datetime) -> str:
    """Return how often a feed posts and when it last did, "" where it gives no times.

    Such as "Posts about 3 times a month, last on Thursday".
    """
    past = [at for at in posted if at <= now]
    if not past:
        return ""
    last = "today" if max(past).date() == now.date() else _on_day(max(past), now)
    times = _recent(past, now)
    return f"Posts {_often(times, now)}, last {last}" if len(times) >= MIN_ARTICLES else f"Last posted {last}"


def usual_hours(posted: Sequence[datetime], now: datetime, zone: tzinfo = UTC) -> tuple[int, int] | None:
    """Return the shortest span of whole hours in which most articles appear, None where there is none.

    The second number is the end of the last hour; a span may reach over midnight.
    """
    times = _recent(posted, now)
    if len(times) < MIN_ARTICLES:
        return None
    counts = Counter(at.astimezone(zone).hour for at in times)
    wanted = USUAL_SHARE * len(times)
    for length in range(1, MAX_WINDOW_HOURS + 1):
        best = max(range(24), key=lambda start: sum(counts[(start + step) % 24] for step in range(length)))
        if sum(counts[(best + step) % 24] for step in range(length)) >= wanted:
            return best, (best + length) % 24
    return None


def duration(seconds: float) -> str:
    """Return a length of time in words, such as "40 minutes" or "3 days"."""
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        count = round(seconds / unit)
        if count >= 1 and (seconds >= unit or unit == _MINUTE):
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "less than a minute"


def _failure(label: str) -> str:
    status = label.removeprefix("http-")
    if status.isdecimal() and int(status) in _STATUSES:
        return _STATUSES[int(status)]
    try:
        return _FAILURES[Failure.of(label)]
    except ValueError:
        return "it could not be read"


def _recent(posted: Sequence[datetime], now: datetime) -> list[datetime]:
    return sorted(at for at in posted if timedelta(0) <= now - at <= SILENT)


def _often(times: Sequence[datetime], now: datetime) -> str:
    days = max((now - times[0]).total_seconds() / _DAY, 1.0)
    for length, name in ((1.0, "day"), (7.0, "week"), (30.4, "month")):
        count = len(times) / days * length
        if count >= 1.5:
            return f"about {round(count)} times a {name}"
        if count >= 0.9:
            return f"about once a {name}"
    return f"about {max(round(len(times) / days * 365), 1)} times a year"


def _days(times: Sequence[datetime], zone: tzinfo) -> str:
    """Return the days of the week on which a feed posts, "" where there are no usual ones."""
    counts = Counter(at.astimezone(zone).weekday() for at in times)
    (first, most), *others = counts.most_common()
    if most >= USUAL_SHARE * len(times):
        return f"nearly always on a {WEEKDAYS[first]}"
    if others and most + others[0][1] >= USUAL_SHARE * len(times):
        one, two = sorted((first, others[0][0]))
        return f"mostly on a {WEEKDAYS[one]} or a {WEEKDAYS[two]}"
    weekend = counts[5] + counts[6]
    return "nearly always on a weekday" if len(times) >= 15 and weekend <= 0.05 * len(times) else ""


def _hours(window: tuple[int, int]) -> str:
    return f"{window[0]:02d}:00 and {window[1]:02d}:00"


def _when(at: datetime, now: datetime, zone: tzinfo) -> str:
    """Return when something is next: in minutes, at a time of day, or on a day."""
    away = (at - now).total_seconds()
    if away < _HOUR:
        return f"in {duration(max(away, 0.0))}" if away >= _MINUTE else "within a minute"
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    rounded = local.replace(minute=local.minute - local.minute % 10)
    clock = f"at about {rounded:%H:%M}"
    if local.date() == today:
        return clock
    if local.date() == today + timedelta(days=1):
        return f"tomorrow {clock}"
    if away < 6 * _DAY:
        return f"on {WEEKDAYS[local.weekday()]} {clock}"
    return f"on {local.day} {local:%B}"


def _on_day(at: datetime, now: datetime) -> str:
    words = _day(at, now)
    return words if words == "yesterday" else f"on {words}"


def _day(at: datetime, now: datetime) -> str:
    """Return the name of a day in the past."""
    days = (now.date() - at.date()).days
    if days == 1:
        return "yesterday"
    if days < 7:
        return WEEKDAYS[at.weekday()]
    return f"{at.day} {at:%B}" if at.year == now.year else f"{at.day} {at:%B %Y}"
