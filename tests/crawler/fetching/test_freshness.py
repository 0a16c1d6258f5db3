"""Retry-After, max-age and Expires, as seconds from now."""

import pytest

from crawler.fetching.http.freshness import LONGEST, max_age, retry_after

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT
DATE = "Tue, 14 Nov 2023 22:13:20 GMT"
IN_AN_HOUR = "Tue, 14 Nov 2023 23:13:20 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "120"}, 120),
        ({"retry-after": " 0 "}, 0),
        ({"retry-after": "259200"}, 259200),
        ({"retry-after": IN_AN_HOUR}, 3600),
        ({"retry-after": "Tuesday, 14-Nov-23 23:13:20 GMT"}, 3600),
        ({"retry-after": "Tue Nov 14 23:13:20 2023"}, 3600),
        ({"retry-after": "Mon, 13 Nov 2023 22:13:20 GMT"}, 0),
        ({"retry-after": "9" * 29}, LONGEST),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "9" * 100_000}, None),
        # a server whose clock is a day behind means an hour, not minus 23
        ({"retry-after": "Mon, 13 Nov 2023 23:13:20 GMT", "date": "Mon, 13 Nov 2023 22:13:20 GMT"}, 3600),
    ],
)
def test_retry_after_is_read_in_full(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"cache-control": "max-age=600"}, 600),
        ({"cache-control": "public, MAX-AGE = 600"}, 600),
        ({"cache-control": 'max-age="600"'}, 600),
        ({"cache-control": "max-age=600", "age": "100"}, 500),
        ({"cache-control": "max-age=600", "age": "1000"}, 0),
        ({"cache-control": "max-age=600, max-age=60"}, 60),
        ({"cache-control": "no-cache, max-age=600"}, None),
        ({"cache-control": "max-age=600, no-store"}, None),
        ({"cache-control": 'no-cache="set-cookie", max-age=600'}, 600),
        ({"cache-control": "no-cache", "expires": IN_AN_HOUR}, None),
        ({"cache-control": "max-age=60", "expires": IN_AN_HOUR}, 60),
        ({"expires": IN_AN_HOUR}, 3600),
        ({"expires": IN_AN_HOUR, "age": "600"}, 3000),
        ({"expires": IN_AN_HOUR, "date": "Tue, 14 Nov 2023 22:43:20 GMT"}, 1800),
        ({"expires": "0"}, 0),
        ({"expires": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({"cache-control": "max-age=x"}, None),
        ({"cache-control": "max-age=" + "9" * 30}, LONGEST),
        ({"cache-control": "s-maxage=600"}, None),
    ],
)
def test_the_promised_freshness_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert max_age(headers, NOW) == seconds
