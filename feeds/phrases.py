"""Sentences about feeds: their state, their rhythm and their next check, for people who read news.

A sentence never holds a figure that means nothing yet. Reasons, rules and parameters stand elsewhere, under
"How the next visit is planned" (`feeds.visiting.explain`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from django.utils.dateformat import format as format_date
from django.utils.dates import WEEKDAYS
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from crawler.failures import STATUS_WORDS, Failure
from feeds.pace import MIN_ARTICLES, YEAR, articles_often, posted_at

USUAL_SHARE = 0.8
"""Share of the articles that "nearly always" and "mostly" stand for."""
MAX_WINDOW_HOURS = 9
MIN_OFTEN = 0.9
"""Articles in a unit of time from which the unit is used."""
SILENT = YEAR
_DAY, _HOUR, _MINUTE = 86_400.0, 3600.0, 60.0


MIN_GAP = "min-gap"
"""The rule that holds for every feed, which is no reason that a person would give."""
_FLOORS: dict[str, str | Promise] = {
    "retry-after": gettext_lazy("because its server asks for a break until then"),
    "throttled": gettext_lazy("because its server asks for fewer visits"),
    "forbidden": gettext_lazy("because its server refuses Freshet at the moment"),
    "missing": gettext_lazy("because nothing was found there"),
    "back-off": gettext_lazy("because the last try failed"),
    "ours": gettext_lazy("because the last try failed here, not there"),
    "max-age": gettext_lazy("because its server says that nothing changes before"),
    "ttl": gettext_lazy("because the feed asks not to be visited more often"),
    "update-period": gettext_lazy("because the feed asks not to be visited more often"),
    "quiet": gettext_lazy("because it has been quiet for a while"),
    "unconditional": gettext_lazy("because its server always sends everything"),
    "websub": gettext_lazy("to be sure: its publisher tells Freshet of news at once"),
    "skip-hours": gettext_lazy("because the feed asks not to be visited at some hours"),
}


@dataclass(frozen=True, slots=True)
class FeedFacts:
    """The state of a feed that sentences are made of. `next_at` is None if no visit is planned."""

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
        (facts.status == "gone", "warn", _("Ended by its publisher")),
        (facts.status == "paused", "", pgettext("state of a feed", "Paused")),
        (bool(facts.failure), "bad", failure_words(facts.failure, facts.failing_since, now)),
        (not facts.was_read, "learn", pgettext("state of a feed", "New")),
        (silent, "warn", _("Silent since %(day)s") % {"day": _since(facts.last_new or now, now)}),
        (facts.moved, "good", _("Moving to a new address")),
        (facts.is_pushed, "good", _("Tells Freshet of news at once")),
        (facts.is_learning, "learn", _("Learning its rhythm")),
        (True, "good", pgettext("state of a feed", "Fine")),
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
    if away < _DAY:
        return _("%(failure)s for %(duration)s") % {"failure": words, "duration": duration(away)}
    return _("%(failure)s since %(day)s") % {"failure": words, "day": _since(since, now)}


def advice(label: str) -> str:
    """Return what a person can do about a failure, or that there is nothing to do."""
    _words, of_status = _status_words(label)
    return _(of_status or (_kind_of(label) or Failure.LOST).advice)


def next_check(facts: FeedFacts, now: datetime, window: tuple[int, int] | None, zone: tzinfo = UTC) -> str:
    """Return a sentence about the next check. `window` are the hours between which the feed mostly posts."""
    when = "" if facts.next_at is None else _when(facts.next_at, now, zone)
    hour = 0 if facts.next_at is None else facts.next_at.astimezone(zone).hour
    is_usual = window is not None and (hour - window[0]) % 24 <= (window[1] - window[0]) % 24
    is_held_back = facts.floor in _FLOORS
    values = {"when": when, "reason": str(_FLOORS.get(facts.floor, "")), **_hours(window or (0, 0))}
    sentences = (
        (facts.status == "gone", _("Its publisher says that it has ended, so Freshet looks no more.")),
        (facts.status == "paused", _("It is paused: Freshet looks again once you resume it.")),
        (facts.is_on_its_way, _("Freshet is looking at it now.")),
        (not facts.was_read and not facts.failure, _("It is new: Freshet looks at it within a minute.")),
        (not when, _("No check is planned within a month, because hardly anything is expected.")),
        (bool(facts.failure), _("Next try %(when)s.")),
        (
            facts.is_learning and is_held_back,
            _("Freshet is still learning its rhythm. Next check %(when)s, %(reason)s."),
        ),
        (is_held_back, _("Next check %(when)s, %(reason)s.")),
        (facts.is_learning, _("Freshet is still learning its rhythm. Next check %(when)s.")),
        (is_usual, _("Next check %(when)s, because it mostly posts between %(start)s and %(end)s.")),
        (facts.floor == MIN_GAP, _("Next check %(when)s.")),
        (True, _("Next check %(when)s, because something new is likely by then.")),
    )
    return next(sentence for applies, sentence in sentences if applies) % values


def rhythm(posted: Sequence[datetime], now: datetime, zone: tzinfo = UTC) -> str:
    """Return a sentence about when and how often a feed posts, "" when no article of it has a date.

    `posted` are times of publication in any order.
    """
    often, window = articles_often(posted_at(posted, now), now), usual_hours(posted, now, zone)
    if not often:
        return ""
    times = _recent(posted, now)
    days = _days(times, zone) if len(times) >= MIN_ARTICLES else ""
    values = {"often": often, "days": days, **_hours(window or (0, 0))}
    sentences = (
        (days and window, _("It posts %(days)s between %(start)s and %(end)s, %(often)s.")),
        (window, _("It mostly posts between %(start)s and %(end)s, %(often)s.")),
        (days, _("It posts %(days)s, %(often)s.")),
        (True, _("It brings %(often)s.")),
    )
    return next(sentence for applies, sentence in sentences if applies) % values


def short_check(facts: FeedFacts, now: datetime, zone: tzinfo = UTC) -> str:
    """Return when the next check is in a few words, "" if none is planned."""
    message = (
        (facts.status != "active", ""),
        (facts.is_on_its_way, _("now")),
        (facts.next_at is None, ""),
        (facts.is_pushed and not facts.failure, _("when it posts")),
        (True, "" if facts.next_at is None else _when(facts.next_at, now, zone)),
    )
    return next(text for applies, text in message if applies)


def posts_often(posted: Sequence[datetime], now: datetime) -> str:
    """Return how often a feed posts and when it last did, "" where it gives no times.

    Such as "Posts about 3 times a month, last on Thursday".
    """
    past = [at for at in posted if at <= now]
    if not past:
        return ""
    times = _recent(past, now)
    values = {"last": _on_day(max(past), now)}
    if len(times) < MIN_ARTICLES:
        return _("Last posted %(last)s") % values
    return _("Posts %(often)s, last %(last)s") % {**values, "often": _often(times, now)}


def usual_hours(posted: Sequence[datetime], now: datetime, zone: tzinfo = UTC) -> tuple[int, int] | None:
    """Return the shortest span of whole hours in which most articles appear, None if there is none.

    The second number is the end of the last hour; a span may reach over midnight.
    """
    times = _recent(posted, now)
    if len(times) < MIN_ARTICLES:
        return None
    counts = Counter(at.astimezone(zone).hour for at in times)
    min_count = USUAL_SHARE * len(times)
    for length in range(1, MAX_WINDOW_HOURS + 1):
        best = max(range(24), key=lambda start: sum(counts[(start + step) % 24] for step in range(length)))
        if sum(counts[(best + step) % 24] for step in range(length)) >= min_count:
            return best, (best + length) % 24
    return None


def visit_words(outcome: str, new: int, failure: str) -> str:
    """Return what a visit brought, such as "2 new articles", "Nothing new" or "No answer"."""
    if failure or outcome == "failed":
        words = _failure(failure)
        return words[:1].upper() + words[1:]
    if new:
        return ngettext("%(count)d new article", "%(count)d new articles", new) % {"count": new}
    return _("Nothing new")


def began(since: datetime, now: datetime) -> str:
    """Return since when something is so, as a sentence: "For 3 hours.", "Since Friday."."""
    away = (now - since).total_seconds()
    if away < _DAY:
        return _("For %(duration)s.") % {"duration": duration(max(away, 0.0))}
    return _("Since %(day)s.") % {"day": _since(since, now)}


def tries_again(at: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """Return when Freshet tries again, as a sentence: "Freshet tries again at about 14:40."."""
    return _("Freshet tries again %(when)s.") % {"when": _when(at, now, zone)}


def last_article(at: datetime | None, now: datetime) -> str:
    """Return the day of a feed's last article, "" where it has none: "last article on Saturday"."""
    return _("last article %(day)s") % {"day": _on_day(at, now)} if at is not None else ""


def cause_of(label: str) -> str:
    """Return a failure in words without its duration, such as "No answer"."""
    return failure_words(label, None, datetime.min.replace(tzinfo=UTC))


def moment_words(at: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """Return a moment in the past as people say it: "today 8:41", "Thursday 16:12", "12 November"."""
    local, today = at.astimezone(zone), now.astimezone(zone)
    days = (today.date() - local.date()).days
    values = {"time": f"{local.hour}:{local:%M}", "day": WEEKDAYS[local.weekday()]}
    if days <= 0:
        return _("today %(time)s") % values
    if days == 1:
        return _("yesterday %(time)s") % values
    if days < 7:
        return _("%(day)s %(time)s") % values
    pattern = pgettext("date format", "j F") if local.year == today.year else pgettext("date format", "j F Y")
    return format_date(local, pattern)


def disputed(kind: str) -> str:
    """Return what two readers of a feed read differently, by the kind of a disagreement."""
    message = {
        "count": _("how many entries there are"),
        "identity": _("what tells an entry apart"),
        "date": _("when an entry was published"),
        "link": _("where an entry leads"),
    }
    return message.get(kind, kind)


def duration(seconds: float) -> str:
    """Return a length of time in words, such as "40 minutes" or "3 days"."""
    days, hours, minutes = (round(seconds / unit) for unit in (_DAY, _HOUR, _MINUTE))
    if seconds >= _DAY:
        return ngettext("%(count)d day", "%(count)d days", days) % {"count": days}
    if seconds >= _HOUR:
        return ngettext("%(count)d hour", "%(count)d hours", hours) % {"count": hours}
    if minutes >= 1:
        return ngettext("%(count)d minute", "%(count)d minutes", minutes) % {"count": minutes}
    return _("less than a minute")


def _failure(label: str) -> str:
    words, _advice = _status_words(label)
    kind = _kind_of(label)
    return _(words or kind.words) if kind else _("it could not be read")


def _status_words(label: str) -> tuple[str, str]:
    """Return what people are told of a status that they know, empty texts for others."""
    status = label.removeprefix("http-")
    return STATUS_WORDS.get(int(status) if status.isdecimal() else 0, ("", ""))


def _kind_of(label: str) -> Failure | None:
    try:
        return Failure.of(label)
    except ValueError:
        return None


def _recent(posted: Sequence[datetime], now: datetime) -> list[datetime]:
    return sorted(at for at in posted if timedelta(0) <= now - at <= SILENT)


def _often(times: Sequence[datetime], now: datetime) -> str:
    days = max((now - times[0]).total_seconds() / _DAY, 1.0)
    a_day, a_week, a_month = (len(times) / days * length for length in (1.0, 7.0, 30.4))
    if a_day >= MIN_OFTEN:
        count = max(round(a_day), 1)
        return ngettext("about once a day", "about %(count)d times a day", count) % {"count": count}
    if a_week >= MIN_OFTEN:
        count = max(round(a_week), 1)
        return ngettext("about once a week", "about %(count)d times a week", count) % {"count": count}
    if a_month >= MIN_OFTEN:
        count = max(round(a_month), 1)
        return ngettext("about once a month", "about %(count)d times a month", count) % {"count": count}
    count = max(round(len(times) / days * 365), 1)
    return ngettext("about once a year", "about %(count)d times a year", count) % {"count": count}


def _days(times: Sequence[datetime], zone: tzinfo) -> str:
    """Return the days of the week on which a feed posts, "" if there are no usual ones."""
    counts = Counter(at.astimezone(zone).weekday() for at in times)
    (first, count), *others = counts.most_common()
    if count >= USUAL_SHARE * len(times):
        return _("nearly always on a %(day)s") % {"day": WEEKDAYS[first]}
    if others and count + others[0][1] >= USUAL_SHARE * len(times):
        first_day, second_day = sorted((first, others[0][0]))
        return _("mostly on a %(day)s or a %(other)s") % {
            "day": WEEKDAYS[first_day],
            "other": WEEKDAYS[second_day],
        }
    weekend = counts[5] + counts[6]
    return _("nearly always on a weekday") if len(times) >= 15 and weekend <= 0.05 * len(times) else ""


def _hours(window: tuple[int, int]) -> dict[str, str]:
    return {"start": f"{window[0]:02d}:00", "end": f"{window[1]:02d}:00"}


def _when(at: datetime, now: datetime, zone: tzinfo) -> str:
    """Return when something is next: in minutes, at a time of day, or on a day."""
    away = (at - now).total_seconds()
    if away < _MINUTE:
        return _("within a minute")
    if away < _HOUR:
        return _("in %(duration)s") % {"duration": duration(away)}
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    rounded = local.replace(minute=local.minute - local.minute % 10)
    values = {"time": f"{rounded:%H:%M}", "day": WEEKDAYS[local.weekday()]}
    if local.date() == today:
        return _("at about %(time)s") % values
    if local.date() == today + timedelta(days=1):
        return _("tomorrow at about %(time)s") % values
    if away < 6 * _DAY:
        return _("on %(day)s at about %(time)s") % values
    return _("on %(day)s") % {"day": format_date(local, pgettext("date format after 'on'", "j F"))}


def _on_day(at: datetime, now: datetime) -> str:
    days = (now.date() - at.date()).days
    if days == 0:
        return _("today")
    if days == 1:
        return _("yesterday")
    if days < 7:
        return _("on %(day)s") % {"day": WEEKDAYS[at.weekday()]}
    pattern = (
        pgettext("date format after 'on'", "j F")
        if at.year == now.year
        else pgettext("date format after 'on'", "j F Y")
    )
    return _("on %(day)s") % {"day": format_date(at, pattern)}


def _since(at: datetime, now: datetime) -> str:
    """Return the name of a day in the past, as it stands after "since"."""
    days = (now.date() - at.date()).days
    if days == 1:
        return pgettext("after 'since'", "yesterday")
    if days < 7:
        return str(WEEKDAYS[at.weekday()])
    is_this_year = at.year == now.year
    return format_date(
        at,
        pgettext("date format after 'since'", "j F")
        if is_this_year
        else pgettext("date format after 'since'", "j F Y"),
    )
