# ruff: noqa: E501 (documents stand as they come)
"""Dates as feeds write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.dates import epoch, forms

EXACT = datetime(2021, 3, 6, 14, 5, 9, tzinfo=UTC)

SAME_MOMENT = """
Sat, 06 Mar 2021 14:05:09 +0000|Sat, 06 Mar 2021 14:05:09 GMT|Sat, 06 Mar 2021 14:05:09|Mon, 06 Mar 2021 14:05:09 Z
06 Mar 21 14:05:09 UT|6 March 2021 14:05:09 UTC|Saturday, 06-Mar-21 14:05:09 GMT|Sat, 06 Mar 2021 09:05:09 EST
Sat, 06 Mar 2021 06:05:09 PST|Sat, 06 Mar 2021 15:05:09 CET|Sat, 06 Mar 2021 23:05:09 JST|Sat,06 Mar 2021 14:05:09 GMT
Sat, 06 Mar 2021 19:35:09 +0530|Sat, 06 Mar 2021 19:35:09 +05:30|Sat, 06 Mar 2021 15:05:09 GMT+1|Sat Mar  6 14:05:09 2021
Sat Mar 6 15:05:09 CET 2021|March 6, 2021 2:05:09 PM|Mar. 6th, 2021 02:05:09 pm UTC|Sa, 06 Mär 2021 15:05:09 +0100
sam., 06 mars 2021 14:05:09 +0000|sáb, 06 marzo 2021 14:05:09 GMT|Сб, 06 мар 2021 17:05:09 +0300|06.03.2021 14:05:09
2021-03-06T14:05:09Z|2021-03-06T14:05:09.123456Z|2021-03-06T14:05:09+00:00|2021-03-06 14:05:09|2021-03-06 15:05:09 +0100
2021-03-06T15:05:09+01|20210306T140509Z|2021/03/06 14:05:09|2021-03-06t14:05:09z|2021-03-06 14:05:09 UTC|1615039509
1615039509000|20210306140509|2021年3月6日 14:05:09|2021-03-06T09:05:09-05:00|2021-03-06T09:05:09 EST|2021-03-06T14:05:09 +0000
Sat, 06 Mar 2021 09:05:09 Eastern Standard Time|Sat, 06 Mar 2021 07:05:09 Pacific Daylight Time|Sat, 06 Mar 2021 14:05:09 Coordinated Universal Time
Sat, 06 Mar 2021 14:05:09 GMT Standard Time|06 Mar 2021 15:05:09 British Summer Time|2021-03-06 19:35:09 India Standard Time|2021-03-06 14:05:09 Arctic Standard Time
"""


@pytest.mark.parametrize("text", [t for line in SAME_MOMENT.strip().splitlines() for t in line.split("|")])
def test_all_spellings_of_one_moment_agree(text: str) -> None:
    assert epoch(f" {text}\n") == EXACT.timestamp()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2021-03-06", datetime(2021, 3, 6, tzinfo=UTC)),
        ("2021-03", datetime(2021, 3, 1, tzinfo=UTC)),
        ("2021", datetime(2021, 1, 1, tzinfo=UTC)),
        ("6 de septiembre de 2021", datetime(2021, 9, 6, tzinfo=UTC)),
        ("06 Mar 99", datetime(1999, 3, 6, tzinfo=UTC)),
        ("Sat, 06 Mar 2021 24:00:00 GMT", datetime(2021, 3, 7, tzinfo=UTC)),
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC)),
        ("Fri, 30 Jul 2021 00:00 GMT", datetime(2021, 7, 30, tzinfo=UTC)),
        ("10 août 2021", datetime(2021, 8, 10, tzinfo=UTC)),
    ],
)
def test_short_and_odd_dates(text: str, day: datetime) -> None:
    assert epoch(text) == day.timestamp()


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "0000-00-00 00:00:00", "0001-01-01T00:00:00", "2021-02-30", "31 Apr 2021 10:00 GMT", "2021-03-06T25:00Z",
     "06 Foo 2021", "03/04/2021", "Mon, 32 Jan 2021", "99999999999999999999", "2021-13-01", "١٢ mars", "1" * 5000,
     "Sat, 06 Mar 2021 14:05 for the first time"],
)  # fmt: skip
def test_what_is_no_date_is_none(text: str) -> None:
    assert epoch(text) is None


@given(
    st.integers(0, 4_102_444_800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)),
    st.integers(-14 * 4, 14 * 4).map(lambda quarters: timedelta(minutes=15 * quarters)),
)
def test_standard_forms_round_trip_in_any_zone(utc: datetime, offset: timedelta) -> None:
    local = utc + offset
    sign, minutes = ("-" if offset < timedelta(0) else "+"), abs(offset) // timedelta(minutes=1)
    zone = f"{sign}{minutes // 60:02d}{minutes % 60:02d}"
    assert epoch(f"{local:%a, %d %b %Y %H:%M:%S} {zone}") == utc.timestamp()
    assert epoch(f"{local:%Y-%m-%dT%H:%M:%S}{zone[:3]}:{zone[3:]}") == utc.timestamp()


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    assert isinstance(epoch(text), float | None)


DAYS = st.tuples(st.integers(1890, 2110), st.integers(1, 12), st.integers(0, 32))
CLOCKS = st.tuples(st.integers(0, 25), st.integers(0, 61), st.integers(0, 61))
ZONES = st.sampled_from(["Z", "+0000", "-0330", "+1400", "-1459", "+1500", "+0160", "-16:00"])


@given(DAYS, CLOCKS, ZONES)
def test_the_short_way_of_usual_dates_says_what_the_long_one_does(
    day: tuple[int, int, int], clock: tuple[int, int, int], zone: str
) -> None:
    year, month, number = day
    name = datetime(2000, month, 1, tzinfo=UTC).strftime("%b")
    at = "{:02}:{:02}:{:02}".format(*clock)
    iso = zone if zone == "Z" else f"{zone[:3]}:{zone[-2:]}"
    for text in (
        f"Fri, {number} {name} {year} {at} {zone}",
        f"{number:02} {name} {year} {at} GMT",
        f"{year}-{month:02}-{number:02}T{at}{iso}",
    ):
        found = forms.usual(text)
        assert found is None or forms.read(text) == (found, True)
