"""Good-citizen floors: the earliest time a feed may be visited again, whatever its policy ranks.

Each rule is a function of the last retrieval's outcome; the latest floor wins. Waits that protect publishers
are multiples of the minimum gap, so that a deployment that is sped up keeps its proportions: with the default
gap of 600 seconds an hour is 6 gaps and a day 144. The publisher's own headers (Retry-After, RFC 9110;
max-age, RFC 9111) are absolute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from feeds.scheduling.base import in_words
from feeds.scheduling.skips import next_allowed

GAPS_PER_HOUR = 6
GAPS_PER_DAY = 144
WEBSUB = "websub"
DAY = 86400.0

# The longest wait that max-age or Expires may cause.
MAX_CACHE_SECONDS = 7 * DAY
# Gaps that a feed's own hint may add up to: most hints are the default of a publishing software (WordPress
# says "hourly" in every feed), and the observed posting is more reliable.
HINT_GAPS = 2
# Retry-After is never shortened; beyond a year it is not a date any more but an attack on arithmetic.
MAX_RETRY_AFTER_SECONDS = 365 * DAY
# Days of 404 after which a feed is visited once a week.
MISSING_DAYS = 14


@dataclass(frozen=True, slots=True)
class FloorLimits:
    """The minimum seconds between two visits of one feed, and the seconds between two ticks."""

    min_gap: float = 600.0
    tick: float = 600.0

    @property
    def day(self) -> float:
        """The longest wait not requested by the publisher, in seconds."""
        return GAPS_PER_DAY * self.min_gap


@dataclass(frozen=True, slots=True)
class VisitOutcome:
    """The outcome of the retrieval at `at`, and the state of the feed.

    Times are epoch seconds, durations seconds. `failure` is the taxonomy's label, empty on success; `ours`
    says that the failure is likely our network's. `retry_after` and `max_age` count from `at`. `interval` is
    the time since the visit before. `validators`: the server offers an ETag or Last-Modified. The streaks
    count consecutive responses of one kind, this one included; `failing_since` is when the failures began.
    `jitter` is a uniform draw in [0, 1). `pushed`: a hub pushes new articles.
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
    """The earliest time of the next visit, `not_before` (epoch seconds), its rule (`code`) and a reason.

    `stop` ends the visits until a person resumes them.
    """

    not_before: float
    code: str
    reason: str
    stop: bool = False


def floor(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """Return the latest floor that applies, moved out of hours and days that the publisher asks to skip."""
    if final := _gone_floor(outcome):
        return final
    # Retry-After holds for successes as well (RFC 9110, section 10.2.3).
    floors = [_min_gap(outcome, limits)]
    floors += [candidate for candidate in (_retry_after(outcome),) if candidate]
    if outcome.failure:
        floors.append(_failed(outcome, limits))
    else:
        optional = (
            _max_age(outcome), _hint(outcome, limits), _quiet(outcome, limits), _websub(outcome, limits)
        )  # fmt: skip
        floors += [candidate for candidate in optional if candidate]
    # When several floors end together, the more specific rule (later in the list) explains better.
    latest = max(reversed(floors), key=lambda candidate: candidate.not_before)
    return _outside_skips(outcome, latest)


def _gone_floor(outcome: VisitOutcome) -> Floor | None:
    """Stop visits at once after a 410: the publisher says that the feed will not come back."""
    if outcome.status != 410:
        return None
    return Floor(
        float("inf"),
        "gone",
        gettext_noop("The publisher says that the feed is gone for good (410)."),
        stop=True,
    )


def _min_gap(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """Keep visits of one feed at least the minimum gap apart."""
    reason = Reason("No feed is visited twice within {0}.", in_words(limits.min_gap))
    return Floor(outcome.at + limits.min_gap, "min-gap", reason)


def _retry_after(outcome: VisitOutcome) -> Floor | None:
    """Honour Retry-After whatever the status of the response, up to MAX_RETRY_AFTER_SECONDS."""
    if outcome.retry_after is None or not outcome.retry_after > 0:
        return None
    wait = min(outcome.retry_after, MAX_RETRY_AFTER_SECONDS)
    return Floor(
        outcome.at + wait,
        "retry-after",
        Reason("The server asked to wait {0} (Retry-After).", in_words(wait)),
    )


def _failed(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """Return the floor of the rule that matches the failure."""
    if outcome.ours:
        reason = gettext_noop(
            "Most hosts failed at once, so the fault is likely here and the feed is not held to blame."
        )
        return Floor(outcome.at + limits.min_gap, "ours", reason)
    # The first 403 is often a passing fault; a challenge is throttling and not a refusal.
    if outcome.status == 403 and outcome.failure != "throttled" and outcome.failure_streak > 1:
        return _forbidden(outcome, limits)
    # omnivore 3511: an answer 429 asks for rest, and is no fault of the feed.
    if outcome.status in {429, 503} or outcome.failure == "throttled":
        return _throttled(outcome, limits)
    if outcome.status == 404:
        return _missing(outcome, limits)
    return _back_off(outcome, limits)


def _throttled(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """Double the interval, up to a day, after a 429, a 503 or a challenge.

    Only the minimum gap applies when the response has a Retry-After, which has its own floor. One of zero, or
    of a time that has passed, names no wait, and is as good as none.
    """
    if _retry_after(outcome):
        return _min_gap(outcome, limits)
    # Doubled from the interval that the server saw, up to a day: a wait that grows without end is a lost
    # feed.
    wait = min(2 * max(outcome.interval, limits.min_gap), limits.day)
    reason = Reason("The server asked for fewer visits, the interval is doubled to {0}.", in_words(wait))
    return Floor(outcome.at + wait, "throttled", reason)


def _forbidden(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """Treat a streak of 403 responses as throttling: wait 3, 6, 12, then 18 hours."""
    doubled = 3 * 2.0 ** min(outcome.failure_streak - 2, 3)
    wait = min(doubled, 18) * GAPS_PER_HOUR * limits.min_gap
    reason = Reason(
        "The server refused {0} times in a row (403), which is treated as a request for fewer visits: {1}.",
        outcome.failure_streak,
        in_words(wait),
    )
    return Floor(outcome.at + wait, "forbidden", reason)


def _missing(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """Quadruple the wait after each 404, up to a day. After two weeks, visit once a week without end.

    The first retry comes as soon as after any other failure, because pages are missing for minutes while
    sites are deployed.
    """
    missing_for = outcome.at - (outcome.at if outcome.failing_since is None else outcome.failing_since)
    if missing_for >= MISSING_DAYS * limits.day:
        wait = 7 * limits.day
        reason = Reason(
            "Nothing was found for {0} (404), it is looked for every {1}.",
            in_words(missing_for),
            in_words(wait),
        )
        return Floor(outcome.at + wait, "missing", reason)
    wait = _growing(outcome, limits, factor=4.0)
    return Floor(
        outcome.at + wait,
        "missing",
        Reason("Nothing was found there (404), the next look is in {0}.", in_words(wait)),
    )


def _back_off(outcome: VisitOutcome, limits: FloorLimits) -> Floor:
    """Double the wait after each other failure, up to a day, without end."""
    wait = _growing(outcome, limits, factor=2.0)
    times = (
        gettext_noop("once")
        if outcome.failure_streak <= 1
        else Reason("{0} times in a row", outcome.failure_streak)
    )
    reason = Reason(
        "The visit failed {0} ({1}), the next try is in {2}.", times, outcome.failure, in_words(wait)
    )
    return Floor(outcome.at + wait, "back-off", reason)


def _growing(outcome: VisitOutcome, limits: FloorLimits, factor: float) -> float:
    """Return a wait of two base intervals, times `factor` for each earlier failure, up to about a day.

    Adds up to a quarter at random, so that feeds that failed together do not come back together.
    """
    base = max(limits.min_gap, limits.tick)
    # The exponent is bounded first: 4.0**600 is no float any more.
    earlier = min(max(outcome.failure_streak - 1, 0), 64)
    wait = min(2 * base * factor**earlier, max(limits.day, 2 * base))
    return wait * (1 + outcome.jitter / 4)


def _max_age(outcome: VisitOutcome) -> Floor | None:
    """Wait until the response is no longer fresh by max-age or Expires, for 304 responses as for 200."""
    if outcome.max_age is None or not outcome.max_age > 0:
        return None
    wait = min(outcome.max_age, MAX_CACHE_SECONDS)
    return Floor(
        outcome.at + wait, "max-age", Reason("The server says its answer is fresh for {0}.", in_words(wait))
    )


def _hint(outcome: VisitOutcome, limits: FloorLimits) -> Floor | None:
    """Widen the gap by the feed's own ttl and sy:updatePeriod, to at most HINT_GAPS times its length."""
    hints = [hint for hint in (outcome.ttl, outcome.update_period) if hint is not None and hint > 0]
    if not hints:
        return None
    # The largest of two hints, and never more than HINT_GAPS: WordPress says "hourly" of every weblog.
    wait = min(max(hints), HINT_GAPS * limits.min_gap)
    code = "ttl" if max(hints) == outcome.ttl else "update-period"
    return Floor(
        outcome.at + wait,
        code,
        Reason(
            "The feed says that it is renewed every {0}, so the gap is {1}.",
            in_words(max(hints)),
            in_words(wait),
        ),
    )


def _quiet(outcome: VisitOutcome, limits: FloorLimits) -> Floor | None:
    """Widen the gap of feeds without new articles in several consecutive visits.

    Where a visit costs the server a whole document (no validators), the gap doubles with each unchanged
    response from the fourth on, up to a day. Where it costs a 304, the gap doubles after four and grows no
    further: the budget and the training phase's ceiling keep the hourly mean that publishers ask of such
    pollers, and a feed that becomes active again is not missed.
    """
    unchanged = outcome.unchanged_streak
    # Three quiet visits are usual at night.
    if unchanged < 4:
        return None
    if outcome.validators:
        wait = 2 * limits.min_gap
        reason = Reason(
            "Nothing was new {0} times in a row, the next visit is after {1}.", unchanged, in_words(wait)
        )
        return Floor(outcome.at + wait, "quiet", reason)
    wait = min(limits.min_gap * 2.0 ** min(unchanged - 3, 64), limits.day)
    reason = Reason(
        "Nothing was new {0} times in a row, and each visit costs the server the whole document: {1}.",
        unchanged,
        in_words(wait),
    )
    return Floor(outcome.at + wait, "unconditional", reason)


def _websub(outcome: VisitOutcome, limits: FloorLimits) -> Floor | None:
    """Visit a feed whose hub pushes once a day, to retrieve articles that the hub missed."""
    if not outcome.pushed:
        return None
    reason = Reason(
        "Its hub pushes what is new (WebSub), so it is visited only every {0}.", in_words(limits.day)
    )
    return Floor(outcome.at + limits.day, WEBSUB, reason)


def _outside_skips(outcome: VisitOutcome, earlier: Floor) -> Floor:
    """Move the floor to the next hour that skipHours and skipDays allow."""
    moved = next_allowed(earlier.not_before, outcome.skip_hours, outcome.skip_days)
    if moved == earlier.not_before:
        return earlier
    extension = in_words(moved - earlier.not_before)
    reason = Reason(
        "{0} Then the feed asks to be left alone for {1} more (skipHours, skipDays).",
        earlier.reason,
        extension,
    )
    return replace(earlier, not_before=moved, code="skip-hours", reason=reason)
