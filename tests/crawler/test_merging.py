"""Merging of rows: everything that refers to the one refers to the other afterwards."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection, models

from articles.models import Article, CarriedMark, FeedVersion, Page, Subscriber, Subscription
from crawler.database.merging import merge, references
from crawler.notices.models import Rule
from feeds.addresses import move_to
from feeds.models import Feed, FeedAlias
from recrawl.models import Site, WatchedPage
from tests.factories import make_feed, make_user

pytestmark = pytest.mark.django_db
HOME, FEED = "https://news.example/", "https://news.example/feed.xml"


def subscriber(name: str) -> Subscriber:
    user = make_user(name)
    return Subscriber.objects.get_or_create(user=user)[0]


def test_a_second_person_who_gives_the_home_page_follows_the_known_feed() -> None:
    first, second = subscriber("first"), subscriber("second")
    known = make_feed(FEED)
    Subscription.objects.create(subscriber=first, feed=known)
    given = make_feed(HOME)
    Subscription.objects.create(subscriber=second, feed=given, folder="News", title="Mine")
    rule = Rule.objects.create(user=second.user, feed=given, looked=datetime.now(UTC))
    CarriedMark.objects.create(
        subscriber=second, feed=given, identity_key="00000000-0000-0000-0000-000000000001"
    )
    assert move_to(given, FEED) == known
    moved = Subscription.objects.get(subscriber=second)
    assert (moved.feed, moved.folder, moved.title) == (known, "News", "Mine")
    rule.refresh_from_db()
    assert rule.feed == known
    assert CarriedMark.objects.get().feed == known
    assert Subscription.objects.get(subscriber=first).feed == known


def test_who_follows_both_follows_one() -> None:
    person = subscriber("first")
    known, given = make_feed(FEED), make_feed(HOME)
    Subscription.objects.create(subscriber=person, feed=known, folder="Kept")
    Subscription.objects.create(subscriber=person, feed=given)
    FeedVersion.objects.update_or_create(feed=known, defaults={"version": 3})
    FeedVersion.objects.update_or_create(feed=given, defaults={"version": 1})
    merge(given, known)
    assert Subscription.objects.get().folder == "Kept"
    assert FeedVersion.objects.get().version == 3
    assert not Feed.with_removed.filter(canonical_url=HOME).exists()


@pytest.mark.parametrize("model", [Feed, Article, Page, Site, WatchedPage, User])
def test_no_foreign_key_is_forgotten(model: type[models.Model]) -> None:
    """Each column of the database that refers to the model's table is among the references."""
    found = {(field.model._meta.db_table, field.column) for field in references(model)}
    assert found == columns_that_refer_to(model._meta.db_table)
    assert model is not Feed or (FeedAlias._meta.db_table, "feed_id") in found


def columns_that_refer_to(table: str) -> set[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT conrelid::regclass::text, attname FROM pg_constraint
            JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
            WHERE contype = 'f' AND confrelid = %s::regclass AND conparentid = 0
            """,
            [table],
        )
        return {(name.strip('"'), column) for name, column in cursor.fetchall()}
