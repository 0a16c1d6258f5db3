"""Good-citizen floors, one behaviour each."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feeds.scheduling.floors import Floor, FloorLimits, VisitOutcome, floor
from feeds.scheduling.redirects import should_move
from feeds.scheduling.skips import day_bits, hour_bits, next_allowed, skipped
from feeds.visiting.outage import it_is_us

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
# Monday 2026-01-05 10:20 UTC.
AT = 1767571200.0 + 10 * HOUR + 20 * MINUTE
FAST = FloorLimits(min_gap=10, tick=5)


def after(limits: FloorLimits | None = None, **reported: Any) -> Floor:
    """The floor after a retrieval at AT; without a lot drawn."""
    return floor(VisitOutcome(at=AT, **{"status": 200, "jitter": 0.0, **reported}), limits or FloorLimits())


def wait(limits: FloorLimits | None = None, **reported: Any) -> float:
    """Seconds from the retrieval to its floor."""
    return after(limits, **reported).not_before - AT


def test_no_feed_is_visited_twice_within_the_minimum_gap() -> None:
    assert (wait(), after().code) == (600, "min-gap")
    assert wait(FloorLimits(min_gap=37)) == 37


@pytest.mark.parametrize("status", [429, 503, 200, 404, 500])
def test_retry_after_is_kept_in_full_for_days(status: int) -> None:
    failure = "" if status == 200 else f"http-{status}"
    found = after(status=status, failure=failure, failure_streak=1, retry_after=5 * DAY)
    assert (found.not_before - AT, found.code) == (5 * DAY, "retry-after")
    assert "5 days" in found.reason


def test_retry_after_does_not_bring_a_visit_forward() -> None:
    assert wait(status=429, failure="throttled", retry_after=5) == 600


def test_retry_after_alone_decides_when_it_is_given() -> None:
    assert wait(status=429, failure="throttled", retry_after=1800, interval=6 * HOUR) == 1800


@pytest.mark.parametrize(("status", "failure"), [(429, "throttled"), (503, "http-503"), (403, "throttled")])
def test_throttled_without_retry_after_doubles_the_interval(status: int, failure: str) -> None:
    found = after(status=status, failure=failure, failure_streak=1, interval=2 * HOUR)
    assert (found.not_before - AT, found.code) == (4 * HOUR, "throttled")
    assert wait(status=status, failure=failure, failure_streak=9, interval=20 * HOUR) == DAY


def test_a_streak_of_403_backs_off_3_to_18_hours() -> None:
    waits = [wait(status=403, failure="http-403", failure_streak=n) / HOUR for n in range(2, 8)]
    assert waits == [3, 6, 12, 18, 18, 18]
    assert after(status=403, failure="http-403", failure_streak=2).code == "forbidden"


def test_a_single_403_is_a_failure_like_others() -> None:
    assert after(status=403, failure="http-403", failure_streak=1).code == "back-off"


@pytest.mark.parametrize("status", [200, 304])
def test_max_age_is_a_lower_bound_on_200_and_304(status: int) -> None:
    found = after(status=status, max_age=2 * HOUR)
    assert (found.not_before - AT, found.code) == (2 * HOUR, "max-age")


def test_max_age_is_believed_for_a_week_at_most() -> None:
    assert wait(max_age=400 * DAY) == 7 * DAY


def test_a_short_max_age_does_not_undercut_the_gap() -> None:
    assert wait(max_age=5) == 600


@pytest.mark.parametrize(("field", "code"), [("ttl", "ttl"), ("update_period", "update-period")])
def test_ttl_and_sy_widen_the_gap_to_twice_its_length_at_most(field: str, code: str) -> None:
    found = after(**{field: 15 * MINUTE})
    assert (found.not_before - AT, found.code) == (15 * MINUTE, code)
    assert wait(**{field: 90 * MINUTE}) == 20 * MINUTE
    assert wait(**{field: 30 * 24 * HOUR}) == 20 * MINUTE


def test_skip_hours_push_to_the_next_allowed_hour() -> None:
    # The gap ends at 10:30; hours 10, 11 and 12 are skipped.
    found = after(skip_hours=(10, 11, 12))
    assert (found.not_before - AT, found.code) == (2 * HOUR + 40 * MINUTE, "skip-hours")
    assert wait(skip_hours=(11, 12)) == 600


def test_skip_hours_apply_to_the_end_of_other_floors() -> None:
    assert wait(max_age=13 * HOUR, skip_hours=(23, 0, 1)) == 15 * HOUR + 40 * MINUTE


def test_skip_days_push_to_the_next_allowed_day() -> None:
    assert AT + wait(skip_days=(0, 1)) == 1767571200 + 2 * DAY


def test_skipping_all_hours_or_all_days_is_ignored() -> None:
    assert wait(skip_hours=tuple(range(24))) == 600
    assert wait(skip_days=tuple(range(7))) == 600


def test_a_tick_within_a_skipped_hour_leaves_the_feed_alone() -> None:
    hours, days = [hour_bits([10]), hour_bits([11]), 0, 0], [0, 0, day_bits([0]), day_bits([1])]
    assert skipped(hours, days, AT).tolist() == [True, False, True, False]


@given(st.sets(st.integers(-3, 30)), st.sets(st.integers(-3, 9)), st.floats(0, 4e9))
def test_the_next_allowed_hour_is_allowed_and_within_a_week(
    hours: set[int], days: set[int], at: float
) -> None:
    found = next_allowed(at, hours, days)
    assert not skipped(hour_bits(hours), day_bits(days), found)
    assert at <= found <= at + 7 * DAY


def test_410_stops() -> None:
    found = after(status=410, failure="gone", failure_streak=1, retry_after=60)
    assert found.stop
    assert (found.not_before, found.code) == (float("inf"), "gone")


def test_404_backs_off_slowly_then_looks_once_a_week_for_ever() -> None:
    missing = {"status": 404, "failure": "http-404"}
    assert [wait(failure_streak=n, **missing) / MINUTE for n in range(1, 5)] == [20, 80, 320, 1280]
    assert wait(failure_streak=5, failing_since=AT - 3 * DAY, **missing) == DAY
    for years in (0.1, 1, 20):
        found = after(failure_streak=900, failing_since=AT - years * 365 * DAY, **missing)
        assert found.not_before - AT == 7 * DAY
        assert not found.stop


def test_other_failures_back_off_exponentially_to_a_day_and_never_die() -> None:
    waits = [wait(status=500, failure="http-500", failure_streak=n) / MINUTE for n in range(1, 9)]
    assert waits == [20, 40, 80, 160, 320, 640, 1280, 1440]
    assert wait(status=0, failure="dns", failure_streak=10**9) == DAY


def test_back_off_starts_from_the_tick_when_it_is_longer_than_the_gap() -> None:
    assert wait(FloorLimits(min_gap=60, tick=600), failure="timeout", failure_streak=1) == 1200


def test_back_off_is_spread_by_up_to_a_quarter() -> None:
    waits = [wait(failure="reset", failure_streak=1, jitter=draw) for draw in (0.0, 0.5, 0.999)]
    assert waits == pytest.approx([1200, 1350, 1500], rel=1e-3)


def test_failures_that_are_ours_do_not_count_against_the_feed() -> None:
    found = after(status=0, failure="unreachable", ours=True, failure_streak=7)
    assert (found.not_before - AT, found.code) == (600, "ours")


def test_quiet_feeds_without_validators_come_down_to_one_visit_a_day() -> None:
    waits = [wait(validators=False, unchanged_streak=n) / 600 for n in (0, 3, 4, 5, 6, 10, 11, 1000)]
    assert waits == [1, 1, 2, 4, 8, 128, 144, 144]
    assert after(validators=False, unchanged_streak=9).code == "unconditional"


def test_quiet_feeds_with_validators_wait_two_gaps_at_most() -> None:
    waits = [wait(unchanged_streak=n) / 600 for n in (0, 3, 4, 7, 8, 1000)]
    assert waits == [1, 1, 2, 2, 2, 2]


def test_an_accelerated_deployment_stays_fast() -> None:
    assert wait(FAST, failure="dns", failure_streak=1) == 20
    assert wait(FAST, status=304, unchanged_streak=500) == 20
    assert wait(FAST, failure="dns", failure_streak=50) == 1440
    assert wait(FAST, status=429, failure="throttled", retry_after=120) == 120


@given(
    status=st.sampled_from([0, 200, 304, 403, 404, 429, 500, 503]),
    failed=st.booleans(),
    retry_after=st.none() | st.floats(allow_nan=True, allow_infinity=True),
    max_age=st.none() | st.floats(allow_nan=True, allow_infinity=True),
    ttl=st.none() | st.floats(allow_nan=True, allow_infinity=True),
    skip_hours=st.lists(st.integers(-100, 100), max_size=30).map(tuple),
    streak=st.integers(0, 10**6),
    validators=st.booleans(),
)
def test_whatever_is_reported_the_floor_is_after_the_gap_and_within_a_year(
    status: int, failed: bool, streak: int, **reported: Any
) -> None:
    found = after(
        status=status,
        failure="http" if failed else "",
        failure_streak=streak,
        unchanged_streak=streak,
        **reported,
    )
    assert AT + 600 <= found.not_before <= AT + 366 * DAY
    assert found.reason.endswith(".")
    assert len(found.code) <= 20


def test_a_permanent_redirect_is_believed_after_repeats_over_days() -> None:
    assert should_move(5, AT - 3 * DAY, AT)
    assert not should_move(4, AT - 30 * DAY, AT)
    assert not should_move(500, AT - 2.9 * DAY, AT)


def test_most_hosts_failing_at_once_is_us() -> None:
    assert it_is_us([("a", True), ("b", True), ("c", True), ("d", False)])
    assert not it_is_us([("a", True), ("b", True), ("c", False), ("d", False)])


def test_many_feeds_of_one_host_are_one_failure() -> None:
    outcomes = [("a", True)] * 50 + [("b", False), ("c", False), ("d", False)]
    assert not it_is_us(outcomes)


def test_a_host_that_answered_once_is_reached() -> None:
    assert not it_is_us([(host, failed) for host in "abcd" for failed in (True, False)])


def test_a_few_hosts_prove_nothing() -> None:
    assert not it_is_us([("a", True), ("b", True), ("c", True)])
    assert not it_is_us([])
