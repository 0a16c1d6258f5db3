"""No text that a database indexes is longer than a row of its index, however badly it can be compressed."""

from __future__ import annotations

import random

import pytest
from django.db import connection

from articles.models import Article
from crawler.engine.check_in import check_in
from crawler.reading.documents import FeedDocument, RetrievedFeed
from crawler.text.characters import INDEXED_BYTES
from feeds.adding.opml import import_opml
from feeds.models import Category, Feed, Retrieval
from tests.factories import make_feed
from tests.harvests import entry, found, lease, report

pytestmark = pytest.mark.django_db
CUT_WHERE_THEY_COME_IN = {
    ("articles_article", "category"),  # articles.intake
    (
        "feeds_feed",
        "title",
    ),  # crawler.text.characters.indexable, crawler.text.characters.MAX_INDEXED_CHARACTERS
    ("feeds_feed", "canonical_url"),  # crawler.fetching.http.urls.MAX_URL_LENGTH, in ASCII
    ("feeds_feedalias", "canonical_url"),
    ("crawler_sitelogin", "url"),  # canonical, too
    ("recrawl_site", "url"),
}
ROOM = 2_704


def test_every_indexed_text_has_a_length_that_its_index_holds() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT place.relname, entry.indexrelid::regclass::text,
                array_agg(part.attname::text), array_agg(part.atttypmod - 4)
            FROM pg_index AS entry JOIN pg_class AS place ON place.oid = entry.indrelid
            JOIN pg_class AS index ON index.oid = entry.indexrelid
            JOIN pg_am ON pg_am.oid = index.relam AND amname = 'btree'
            JOIN pg_namespace AS space ON space.oid = place.relnamespace AND nspname = current_schema()
            JOIN pg_attribute AS part ON part.attrelid = index.oid
                AND part.atttypid IN ('text'::regtype, 'varchar'::regtype)
            GROUP BY place.relname, entry.indexrelid
            """
        )
        rows = cursor.fetchall()
    assert len(rows) > 20
    for table, index, columns, lengths in rows:
        free = [(table, column) for column, length in zip(columns, lengths, strict=True) if length < 0]
        assert set(free) <= CUT_WHERE_THEY_COME_IN, f"{index}: how long may {free} be?"
        if not free:
            assert 4 * sum(lengths) < ROOM, index


def hard(length: int) -> str:
    """Four-byte characters that no compression makes shorter."""
    dice = random.Random(1)
    return "".join(chr(dice.randrange(0x20000, 0x2A6DF)) for _ in range(length))


def test_a_feed_whose_title_and_entries_are_of_such_characters_is_stored() -> None:
    feed = make_feed()
    (batch,) = lease(feed)
    entries = (entry(1, title=hard(5000), categories=(hard(5000),)),)
    document = FeedDocument("rss20", hard(1000), entries=entries)
    check_in([report(batch, found(batch.assignments[0], payload=RetrievedFeed(document)))])
    feed.refresh_from_db()
    assert (feed.failure, Retrieval.objects.get().outcome) == ("", "new")
    assert hard(5000).startswith(Article.objects.get().category)
    assert hard(1000).startswith(feed.title)
    assert INDEXED_BYTES - 4 < len(feed.title.encode()) <= INDEXED_BYTES


def test_an_outlines_title_and_folder_of_such_characters_are_cut() -> None:
    text = hard(1000)
    body = f'<outline text="{text}"><outline text="{text}" xmlUrl="https://a.example/"/></outline>'
    told = import_opml(f"<opml><body>{body}</body></opml>".encode())
    assert told.added == 1
    for said in (Feed.objects.get().title, Category.objects.get().name):
        assert len(said) > 100
        assert text.startswith(said)
