"""A feed pays for so many dates of rare languages and no more: dateparser takes milliseconds for each."""

from __future__ import annotations

from crawler.reading.dates import MAX_FOREIGN
from crawler.reading.feeds import parse_feed


def test_a_feed_pays_for_so_many_foreign_dates_and_no_more() -> None:
    days = [
        f"{day}. {month} {year}"
        for year in range(2000, 2026)
        for month in ("března", "září")
        for day in range(1, 29)
    ]
    items = "".join(
        f"<item><guid>{n}</guid><pubDate>{day}</pubDate></item>" for n, day in enumerate(days[:900])
    )
    found = parse_feed(f"<rss><channel>{items}</channel></rss>".encode(), url="https://example.org/feed")
    assert sum(entry.published is not None for entry in found.entries) == MAX_FOREIGN
