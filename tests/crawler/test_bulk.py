"""Rows in bulk by one JSON parameter: what comes out of the database is what went in."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import DataError

from articles.models import Article
from crawler.database.bulk import (
    columns_except,
    insert_rows,
    row_builder,
    select_blocks,
    update_rows,
    upsert_rows,
)
from crawler.frontier.models import CrawlUrl
from crawler.text.keys import digest
from feeds.models import Category, Feed, PostingHistory
from tests.factories import make_feed

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 4, 5, 6, 7, 123456, tzinfo=UTC)


def article(feed, identity="tag:1", **fields):
    """An unsaved article with something in every kind of column."""
    given = {"title": "A title", "text": "Línea\n\\ \t 🜚"} | fields
    return Article(
        feed=feed,
        identity=identity,
        identity_key=digest(identity),
        categories=["a, b", '"c"', ""],
        enclosures=[{"url": "x", "length": 1}],
        delay=0.1,
        dating=Article.Dating.FEED,
        published=AT,
        fetched=AT,
        **given,
    )


def test_every_kind_of_value_comes_back_as_it_was():
    given = article(make_feed())
    insert_rows(Article, [given])
    kept = Article.objects.get()
    for name in ("identity_key", "published", "text", "categories", "enclosures", "delay", "dating"):
        assert getattr(kept, name) == getattr(given, name), name


def test_what_the_database_fills_is_left_to_it():
    insert_rows(Article, [article(make_feed(), title="Rivers rise")])
    kept = Article.objects.get()
    assert kept.id and kept.updated
    assert Article.objects.search("rivers").get() == kept


def test_a_row_that_a_constraint_refuses_is_left_out_and_the_others_stay():
    feed = make_feed()
    insert_rows(Article, [article(feed)])
    insert_rows(Article, [article(feed, title="again"), article(feed, "tag:2")])
    assert sorted(Article.objects.values_list("identity", flat=True)) == ["tag:1", "tag:2"]
    assert not Article.objects.filter(title="again").exists()


def test_an_update_writes_the_named_fields_of_the_given_rows_only():
    feeds = [make_feed(title="old", etag="old") for _ in range(3)]
    for feed in feeds:
        feed.title, feed.etag, feed.skip_hours, feed.fingerprints = "new", "new", [1, 23], b"\x00\xff\\"
    update_rows(Feed, feeds[:2], ["title", "skip_hours", "fingerprints"])
    kept = Feed.objects.order_by("id").values_list("title", "etag", "skip_hours")
    assert list(kept) == [("new", "old", [1, 23])] * 2 + [("old", "old", [])]
    assert bytes(Feed.objects.get(id=feeds[0].id).fingerprints) == b"\x00\xff\\"


def test_an_upsert_makes_a_row_once_and_renews_it_later():
    feed = make_feed()
    for byte in (b"\x01", b"\x02"):
        history = PostingHistory(
            feed=feed, hourly=byte * 96, week_counts=byte * 672, week_exposure=byte * 672, updated=AT
        )
        upsert_rows(PostingHistory, [history])
    assert bytes(PostingHistory.objects.get().hourly) == b"\x02" * 96


def test_more_rows_than_go_into_one_statement_are_all_written(monkeypatch):
    monkeypatch.setattr("crawler.database.bulk.MAX_ROWS", 2)
    feed = make_feed()
    insert_rows(Article, [article(feed, f"tag:{number}") for number in range(5)])
    assert Article.objects.count() == 5


def test_no_rows_are_no_statement(django_assert_num_queries):
    with django_assert_num_queries(0):
        insert_rows(Article, [])


def test_half_a_surrogate_pair_is_refused_by_name():
    with pytest.raises(ValueError, match="a row cannot be written"):
        insert_rows(Article, [article(make_feed(), text="\ud800")])


def test_a_zero_byte_is_the_databases_error():
    with pytest.raises(DataError):
        insert_rows(Article, [article(make_feed(), text="a\x00b")])


def test_selected_rows_come_as_they_are_stored():
    feeds = [make_feed(fingerprints=bytes([number, 0, 255]), title=f"Feed {number}") for number in (1, 2)]
    query = (
        Feed.objects.order_by("id").filter(skip_hours__contains=[]).values_list("id", "title", "fingerprints")
    )
    rows = [(feed.id, feed.title, bytes(feed.fingerprints)) for feed in feeds]
    assert list(select_blocks(query, 10)) == [rows]
    assert list(select_blocks(query, 1)) == [[rows[0]], [rows[1]]]
    assert list(select_blocks(query[1:], 2)) == [[(feeds[1].id, "Feed 2", b"\x02\x00\xff")]]


@pytest.mark.django_db(transaction=True)
def test_blocks_need_no_transaction_of_the_callers():
    make_feed()
    assert [len(block) for block in select_blocks(Feed.objects.values_list("id"), 5)] == [1]


def test_who_stops_in_the_midst_of_blocks_leaves_the_connection_usable():
    for number in range(5):
        make_feed(title=f"Feed {number}")
    blocks = select_blocks(Feed.objects.order_by("id").values_list("id"), 2)
    assert len(next(blocks)) == 2
    assert Feed.objects.count() == 5, "while the next block is fetched"
    blocks.close()
    assert Feed.objects.count() == 5


def test_a_query_that_can_have_no_rows_is_not_asked(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert list(select_blocks(Feed.objects.filter(id__in=[]).values_list("id"), 5)) == []


def test_a_built_row_has_the_columns_and_defaults_of_its_model() -> None:
    new_url = row_builder(CrawlUrl)
    first, second = (
        new_url(
            crawl_id=1, host_id=2, url="u", key=UUID(int=number), link="seed", score=1.0, queued=AT,
            not_before=AT,
        )
        for number in (1, 2)
    )  # fmt: skip
    assert (first.state, first.depth, first.title, first.waited, first.headers) == ("queued", 0, "", None, [])
    assert first.headers is not second.headers
    with pytest.raises(TypeError, match="crawl_id"):
        new_url(url="u")
    with pytest.raises(TypeError, match="colour"):
        new_url(colour="red")


def test_the_fields_that_are_written_are_all_but_those_named() -> None:
    assert columns_except(Category, "parent") == ["name"]
    with pytest.raises(ValueError, match="colour"):
        columns_except(Category, "colour")
