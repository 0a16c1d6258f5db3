"""When an article appeared: missing, future, rewritten and impossible dates."""

import pytest

from articles.dating import Dated, date_entry, date_first_entries, delay

FETCHED = 1_770_000_000.0
DAY = 86_400.0


@pytest.mark.parametrize(
    ("published", "updated", "expected"),
    [
        (FETCHED - DAY, None, Dated(FETCHED - DAY, "feed")),
        (None, FETCHED - DAY, Dated(FETCHED - DAY, "feed")),
        (FETCHED - DAY, FETCHED, Dated(FETCHED - DAY, "feed")),
        (None, None, Dated(FETCHED, "fetched")),
        # A clock that is minutes ahead means now; a date of next week means nothing.
        (FETCHED + 300, None, Dated(FETCHED, "feed")),
        (FETCHED + 7 * DAY, None, Dated(FETCHED, "fetched")),
        (FETCHED + 7 * DAY, FETCHED - DAY, Dated(FETCHED - DAY, "feed")),
        # The zero of some clock.
        (0.0, None, Dated(FETCHED, "fetched")),
        (-62135596800.0, None, Dated(FETCHED, "fetched")),
    ],
)
def test_the_first_believable_date_is_taken(published, updated, expected):
    assert date_entry(published, updated, FETCHED) == expected


def test_entries_without_dates_keep_the_order_of_their_document():
    dated = [date_entry(None, None, FETCHED, position).published for position in range(50)]
    assert dated == sorted(dated, reverse=True)
    assert FETCHED - dated[-1] < 1


@pytest.mark.parametrize(
    ("dated", "previous", "expected"),
    [
        (Dated(FETCHED - 60, "feed"), FETCHED - 600, 60.0),
        (Dated(FETCHED - 60, "feed"), None, None),  # the first document: we were not there
        (Dated(FETCHED - 6000, "feed"), FETCHED - 600, None),  # dated back
        (Dated(FETCHED, "fetched"), FETCHED - 600, None),
    ],
)
def test_a_delay_is_measured_only_where_both_ends_are_sure(dated, previous, expected):
    assert delay(dated, FETCHED, previous) == expected


def test_first_entries_without_a_date_are_as_old_as_their_neighbours() -> None:
    """Issue 57: those of a feed's first visit stood on top as new."""
    fetched = 1_800_000_000.0
    old, older = fetched - 50_000, fetched - 90_000
    dates = date_first_entries(
        [(None, None), (old, None), (None, None), (older, None), (None, None)], fetched
    )
    assert [date.source for date in dates] == ["fetched", "feed", "fetched", "feed", "fetched"]
    assert dates[0].published == old
    assert dates[1].published == old
    assert older - 1 < dates[2].published <= older
    assert older - 1 < dates[4].published <= older


def test_first_entries_that_all_have_none_are_a_day_old_in_their_order() -> None:
    fetched = 1_800_000_000.0
    dates = date_first_entries([(None, None), (-62_000_000_000.0, None), (None, None)], fetched)
    assert [date.source for date in dates] == ["fetched"] * 3
    times = [date.published for date in dates]
    assert times == sorted(times, reverse=True)
    assert max(times) <= fetched - 86_400
