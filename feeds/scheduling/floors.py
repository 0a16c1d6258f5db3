"""Good-citizen floors: the earliest time a feed may be visited again, whatever the policy wishes.

Each rule is a function of what the last retrieval reported; the latest wins. Waits that protect
publishers are multiples of the minimum gap, so that a deployment that is sped up keeps its
proportions: with the default gap of 600 seconds an hour is 6 gaps and a day 144. What a publisher says
itself in a header (Retry-After, RFC 9110; max-age, RFC 9111) is absolute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from feeds.scheduling.base import in_words
from feeds.scheduling.skips import next_allowed

GAPS_PER_HOUR = 6
GAPS_PER_DAY = 144
WEBSUB = "websub"
DAY = 86400.0

# A header decides at most this far ahead.
LONGEST_MAX_AGE = 7 * DAY
# Gaps that a feed's own hint may add up to: most hints are the default of a publishing software (WordPress
# says "hourly" in every feed), and what the feed is seen to do tells more.
HINT_GAPS = 2
# Retry-After is never shortened; beyond a year it is not a date any more but an attack on arithmetic.
LONGEST_RETRY_AFTER = 365 * DAY
# Days of 404 after which a feed is looked at once a week.
MISSING_DAYS = 14


@dataclass(frozen=True, slots=True)
class FloorLimits:
    """Settings: seconds between two visits of one feed at least, and between two ticks."""

    min_gap: float = 600.0
    tick: float = 600.0

    @property
    def day(self) -> float:
        """The longest wait that is not the publisher's word."""
        return GAPS_PER_DAY * self.min_gap


@dataclass(frozen=True, slots=True)
class VisitOutcome:
    """What the retrieval at `at` reported, and what was known of the feed.

    Times are epoch seconds, durations seconds. `failure` is the taxonomy's label, empty on success;
    `ours` says that the failure is likely our network's. `retry_after` and `max_age` count from `at`.
    `interval` is the time since the visit before. `validators`: the server offers an ETag or
    Last-Modified. The streaks count answers of one kind in a row, this one included; `failing_since` is
    when the failures began. `jitter` is a uniform draw in [0, 1). `pushed`: a hub pushes what is new.
    """

    at: float
    status: int = 0
    failure: str = ""
    ours: bool = False
    retry_after: float | None = None
    max_age: float | None = None
    ttl: float | None = None
    update_period: float | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()
    interval: float = 0.0
    validators: bool = True
    unchanged_streak: int = 0
    failure_streak: int = 0
    failing_since: float | None = None
    jitter: float = 0.5
    pushed: bool = False


@dataclass(frozen=True, slots=True)
class Floor:
    """No visit before `not_before` (epoch seconds), by which rule (`code`), and why, in one sentence.

    `stop`: never again, unless a person says so.
    """

    not_before: float
    code: str
    reason: str
    stop: bool = False


def floor(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """The latest of all floors that apply, moved out of the hours the publisher asks to skip."""
    if gone := _gone(outcome):
        return gone
    floors = [_min_gap(outcome, limits)]
    floors += [found for found in (_retry_after(outcome),) if found]
    if outcome.failure:
        floors.append(_failed(outcome, limits))
    else:
        said = (
            _max_age(outcome), _hint(outcome, limits), _quiet(outcome, limits), _websub(outcome, limits)
        )  # fmt: skip
        floors += [found for found in said if found]
    # Of rules that end together the particular one is the better explanation.
    latest = max(reversed(floors), key=lambda found: found.not_before)
    return _outside_skips(outcome, latest)


def _gone(outcome: VisitOutcome) -> Floor | None:
    """410 stops at once: the publisher says it will not come back."""
    if outcome.status != 410:
        return None
    return Floor(float("inf"), "gone", "The publisher says that the feed is gone for good (410).", stop=True)


def _min_gap(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """No two visits of one feed closer than the gap."""
    reason = f"No feed is visited twice within {in_words(limits.min_gap)}."
    return Floor(outcome.at + limits.min_gap, "min-gap", reason)


def _retry_after(outcome: VisitOutcome) -> Floor | None:
    """Retry-After in full, whatever the status it came with, days included."""
    if outcome.retry_after is None or not outcome.retry_after > 0:
        return None
    wait = min(outcome.retry_after, LONGEST_RETRY_AFTER)
    return Floor(
        outcome.at + wait, "retry-after", f"The server asked to wait {in_words(wait)} (Retry-After)."
    )


def _failed(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """The rule for a failure: whose fault it is, and what the server meant by it."""
    if outcome.ours:
        reason = "Most hosts failed at once, so the fault is likely here and the feed is not held to blame."
        return Floor(outcome.at + limits.min_gap, "ours", reason)
    if outcome.status == 403 and outcome.failure != "throttled" and outcome.failure_streak > 1:
        return _forbidden(outcome, limits)
    if outcome.status in {429, 503} or outcome.failure == "throttled":
        return _throttled(outcome, limits)
    if outcome.status == 404:
        return _missing(outcome, limits)
    return _back_off(outcome, limits)


def _throttled(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """429, 503 or a challenge: double the interval, up to a day. With Retry-After that alone decides."""
    if outcome.retry_after is not None:
        return _min_gap(outcome, limits)
    wait = min(2 * max(outcome.interval, limits.min_gap), limits.day)
    reason = f"The server asked for fewer visits, the interval is doubled to {in_words(wait)}."
    return Floor(outcome.at + wait, "throttled", reason)


def _forbidden(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """A streak of 403 is throttling in disguise: 3, 6, 12, then 18 hours."""
    doubled = 3 * 2.0 ** min(outcome.failure_streak - 2, 3)
    wait = min(doubled, 18) * GAPS_PER_HOUR * limits.min_gap
    reason = (
        f"The server refused {outcome.failure_streak} times in a row (403), which is treated as a request "
        f"for fewer visits: {in_words(wait)}."
    )
    return Floor(outcome.at + wait, "forbidden", reason)


def _missing(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """404: four times the wait after each, up to a day; after two weeks once a week, but for ever.

    The first look follows as soon as after any failure: pages are missing for minutes while sites
    are deployed.
    """
    missing_for = outcome.at - (outcome.at if outcome.failing_since is None else outcome.failing_since)
    if missing_for >= MISSING_DAYS * limits.day:
        wait = 7 * limits.day
        reason = (
            f"Nothing was found for {in_words(missing_for)} (404), it is looked for every {in_words(wait)}."
        )
        return Floor(outcome.at + wait, "missing", reason)
    wait = _growing(outcome, limits, factor=4.0)
    return Floor(
        outcome.at + wait, "missing", f"Nothing was found there (404), the next look is in {in_words(wait)}."
    )


def _back_off(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """Any other failure: twice the wait after each, up to a day, and never an end."""
    wait = _growing(outcome, limits, factor=2.0)
    times = "once" if outcome.failure_streak <= 1 else f"{outcome.failure_streak} times in a row"
    reason = f"The visit failed {times} ({outcome.failure}), the next try is in {in_words(wait)}."
    return Floor(outcome.at + wait, "back-off", reason)


def _growing(outcome: VisitOutcome, limits: FloorLimits, factor: float) -> float:
    """Two base intervals, times `factor` for each failure before, up to a day; a quarter of it by lot.

    The lot keeps feeds that failed together from coming back together.
    """
    base = max(limits.min_gap, limits.tick)
    earlier = min(max(outcome.failure_streak - 1, 0), 64)
    wait = min(2 * base * factor**earlier, max(limits.day, 2 * base))
    return wait * (1 + outcome.jitter / 4)


def _max_age(outcome: VisitOutcome) -> Floor | None:
    """max-age and Expires: until then the answer is fresh by the server's own word, on 304 as on 200."""
    if outcome.max_age is None or not outcome.max_age > 0:
        return None
    wait = min(outcome.max_age, LONGEST_MAX_AGE)
    return Floor(outcome.at + wait, "max-age", f"The server says its answer is fresh for {in_words(wait)}.")


def _hint(outcome: VisitOutcome, limits: FloorLimits) -> Floor | None:
    """The feed's own ttl and sy:updatePeriod, as hints that widen the gap, to twice its length at most."""
    hints = [hint for hint in (outcome.ttl, outcome.update_period) if hint is not None and hint > 0]
    if not hints:
        return None
    wait = min(max(hints), HINT_GAPS * limits.min_gap)
    code = "ttl" if max(hints) == outcome.ttl else "update-period"
    return Floor(
        outcome.at + wait,
        code,
        f"The feed says that it is renewed every {in_words(max(hints))}, so the gap is {in_words(wait)}.",
    )


def _quiet(outcome: VisitOutcome, limits: FloorLimits) -> Floor | None:
    """Feeds that brought nothing new several times running.

    Where a visit costs the server a whole document (no validators), the gap doubles from the fourth
    unchanged answer on, up to a day. Where it costs a 304, the gap doubles
    after four and grows no further: the hourly mean that publishers ask of such pollers is kept
    by the budget and by the training phase's ceiling, and a feed that wakes up is not missed.
    """
    unchanged = outcome.unchanged_streak
    if unchanged < 4:
        return None
    if outcome.validators:
        wait = 2 * limits.min_gap
        reason = f"Nothing was new {unchanged} times in a row, the next visit is after {in_words(wait)}."
        return Floor(outcome.at + wait, "quiet", reason)
    wait = min(limits.min_gap * 2.0 ** min(unchanged - 3, 64), limits.day)
    reason = (
        f"Nothing was new {unchanged} times in a row, and each visit costs the server the whole document: "
        f"{in_words(wait)}."
    )
    return Floor(outcome.at + wait, "unconditional", reason)


def _websub(outcome: VisitOutcome, limits: FloorLimits) -> Floor | None:
    """A feed whose hub pushes needs a visit a day, for what the hub may have missed."""
    if not outcome.pushed:
        return None
    reason = f"Its hub pushes what is new (WebSub), so it is visited only every {in_words(limits.day)}."
    return Floor(outcome.at + limits.day, WEBSUB, reason)


def _outside_skips(outcome: VisitOutcome, found: Floor) -> Floor:
    """The floor moved to the next hour that skipHours and skipDays leave open."""
    moved = next_allowed(found.not_before, outcome.skip_hours, outcome.skip_days)
    if moved == found.not_before:
        return found
    rest = in_words(moved - found.not_before)
    reason = f"{found.reason} Then the feed asks to be left alone for {rest} more (skipHours, skipDays)."
    return replace(found, not_before=moved, code="skip-hours", reason=reason)
