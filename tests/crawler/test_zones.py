"""Times on pages in the reader's time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from django.test import Client

from articles.models import Article
from articles.personal.following import subscriber_of
from articles.reader.lists import ReadingList
from crawler.web.zones import COOKIE, zone_named
from tests.factories import make_article, make_feed, make_user

NAMES = ["Europe/Paris", "Asia/Kolkata", "America/Argentina/Ushuaia", "Etc/GMT+12", "Pacific/Kiritimati"]


@pytest.mark.parametrize("name", NAMES)
def test_a_zone_of_the_database_is_known(name: str) -> None:
    assert str(zone_named(name)) == name


@pytest.mark.parametrize(
    "name",
    [
        "", "Europe", "Europe/Nowhere", "../../etc/passwd", "/etc/passwd", "Europe/../Paris", "a" * 500,
        "posixrules\0", "zone.tab", "tzdata.zi", "Europe/Paris\n", "é", "right", "UTC; x",
    ],
)  # fmt: skip
def test_any_other_text_is_utc(name: str) -> None:
    assert zone_named(name) is UTC


@pytest.mark.django_db
def test_pages_show_times_in_the_zone_of_the_cookie_and_the_api_in_utc(client: Client) -> None:
    user = make_user("reader")
    client.force_login(user)
    article = make_article(make_feed(), published=datetime(2026, 1, 10, 23, 30, tzinfo=UTC))
    page = client.get(f"/read/{article.pk}/?show=all").content.decode()
    assert "Saturday 10 January 2026, 23:30 UTC" in page
    client.cookies[COOKIE] = quote("Asia/Tokyo", safe="")
    page = client.get(f"/read/{article.pk}/?show=all").content.decode()
    assert "Sunday 11 January 2026, 08:30 JST" in page
    answer = client.get(f"/api/articles/{article.pk}/").json()
    assert answer["published"] == "2026-01-10T23:30:00Z"


@pytest.mark.django_db
def test_a_day_is_marked_as_it_begins_where_the_reader_is(client: Client) -> None:
    user = make_user("reader")
    client.force_login(user)
    feed, midnight = make_feed(), datetime(2026, 1, 10, 15, tzinfo=UTC)  # midnight in Tokyo
    subscriber = subscriber_of(user)
    subscriber.subscriptions.create(feed=feed)
    evening, night = (make_article(feed, published=midnight + timedelta(minutes=m)) for m in (-1, 1))
    client.cookies[COOKIE] = quote("Asia/Tokyo", safe="")
    client.post("/read/mark/", {"day": "2026-01-11"})
    unread = ReadingList().articles(subscriber)
    assert list(unread) == [evening]
    assert Article.objects.filter(marks__subscriber=subscriber).get() == night


@pytest.mark.django_db
@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "2026-03-29", "2026-02-30", "x", "2026-W01-1"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "Europe/Berlin"])
def test_the_first_and_the_last_of_all_days_are_marked_anywhere(client: Client, day: str, zone: str) -> None:
    client.force_login(make_user("reader"))
    client.cookies[COOKIE] = quote(zone, safe="")
    assert client.post("/read/mark/", {"day": day}).status_code == 200
