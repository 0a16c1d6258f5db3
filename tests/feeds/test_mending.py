"""Feeds with entries that cannot be stored."""

from __future__ import annotations

import pytest

from crawler.messages import Harvest
from crawler.reading.documents import Entry, FeedDocument, RetrievedFeed
from feeds.work import FeedWork


def harvest(count: int) -> Harvest:
    entries = tuple(Entry(identity=f"e{number}", url="", title="") for number in range(count))
    payload = RetrievedFeed(FeedDocument("rss", entries=entries))
    return Harvest(kind="feed", id=1, at=0.0, url="http://a.example/", payload=payload)


def identities(part: Harvest) -> list[str]:
    retrieved = part.brought(RetrievedFeed)
    assert retrieved is not None
    assert retrieved.document is not None
    return [entry.identity for entry in retrieved.document.entries]


@pytest.mark.parametrize("step", [1000, 50, 25])
def test_only_the_entries_that_cannot_be_stored_are_left_out(step: int) -> None:
    bad = {f"e{number}" for number in range(7, 1000, step)}

    def refusal(part: Harvest) -> Exception | None:
        return ValueError() if bad.intersection(identities(part)) else None

    part = FeedWork().mended(harvest(1000), refusal)
    assert part is not None
    assert set(identities(part)) == {f"e{number}" for number in range(1000)} - bad
    assert part.detail.startswith(f"{len(bad)} of its entries cannot be stored")


def test_a_feed_with_too_many_such_entries_fails_whole() -> None:
    def refusal(part: Harvest) -> Exception | None:
        return ValueError() if any(int(each[1:]) % 3 == 0 for each in identities(part)) else None

    assert FeedWork().mended(harvest(1000), refusal) is None
