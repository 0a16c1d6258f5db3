"""Keyset pages: every row exactly once, whatever comes in meanwhile."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def reader(client):
    client.force_login(make_user())
    return client


def walk(client, url, between=lambda: None):
    seen = []
    while url:
        page = client.get(url).json()
        seen += [row["id"] for row in page["results"]]
        url = page["next"]
        between()
    return seen


@pytest.mark.parametrize("ordering", ["published", "-published", "-fetched", "id", "-id"])
def test_ties_are_neither_lost_nor_doubled(reader, ordering):
    feed = make_feed()
    ids = [make_article(feed, published=NOW + timedelta(hours=i // 5), fetched=NOW).pk for i in range(17)]
    seen = walk(reader, f"/api/articles/?page_size=4&ordering={ordering}")
    assert sorted(seen) == ids
    assert seen == sorted(seen, reverse=ordering.startswith("-"))


def test_rows_that_come_in_meanwhile_shift_nothing(reader):
    feed = make_feed()
    ids = {make_article(feed, published=NOW).pk for _ in range(9)}
    later = NOW + timedelta(days=1)
    seen = walk(
        reader, f"/api/articles/?feed={feed.pk}&page_size=2", lambda: make_article(feed, published=later)
    )
    assert sorted(seen) == sorted(ids)


@pytest.mark.parametrize(
    "cursor", ["x", "W10", "bnVsbA", "WyJ4IiwxXQ", "%00", "W1tbW1tb", "WzEsMTBd" * 200, "é"]
)
def test_a_made_up_cursor_answers_400(reader, cursor):
    make_article()
    assert reader.get("/api/articles/", {"cursor": cursor}).status_code == 400


@pytest.mark.parametrize(("size", "rows"), [("2", 2), ("0", 1), ("-3", 1), ("x", 3), ("9999", 3)])
def test_odd_page_sizes_are_put_right(reader, size, rows):
    for _ in range(3):
        make_article()
    assert len(reader.get("/api/articles/", {"page_size": size}).json()["results"]) == rows
