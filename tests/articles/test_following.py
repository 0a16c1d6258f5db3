"""Following feeds: folders, OPML, and the count that ranks feeds."""

import threading
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from articles.models import Subscriber, Subscription
from articles.personal.following import (
    export_subscriptions,
    follow,
    follow_opml,
    refile,
    subscriber_of,
    unfollow,
)
from feeds.adding.opml import OpmlError, read_opml
from feeds.categories import category_at
from feeds.models import Feed
from tests.factories import make_feed, make_personal_feed, make_subscriber, make_user

pytestmark = pytest.mark.django_db
OPML = b"""<opml><body><outline text="News"><outline text="Tech"><outline xmlUrl="https://a.example/"/></outline>
</outline><outline xmlUrl="https://b.example/"/><outline xmlUrl="ftp://c.example/"/></body></opml>"""


def counts():
    return list(Feed.objects.order_by("id").values_list("subscribers", flat=True))


def test_a_subscriber_is_made_at_the_first_visit():
    user = make_user()
    assert subscriber_of(user) == subscriber_of(user)
    assert Subscriber.objects.count() == 1


def test_subscribers_are_counted_however_subscriptions_change():
    one, two = make_feed(), make_feed()
    ann, ben = make_subscriber(), make_subscriber()
    first, _ = follow(ann, one)
    follow(ann, one)
    follow(ben, one)
    follow(ben, two)
    assert counts() == [2, 1]
    unfollow(first)
    assert counts() == [1, 1]
    Subscription.objects.filter(feed=two).update(feed=one, subscriber=ann)
    assert counts() == [2, 0]
    ben.user.delete()
    assert counts() == [1, 0]
    Subscription.objects.all().delete()
    assert counts() == [0, 0]


@pytest.mark.django_db(transaction=True)
def test_subscribers_that_come_at_once_are_all_counted():
    feed = make_feed()
    subscribers = [make_subscriber() for _ in range(4)]

    def come(subscriber):
        follow(subscriber, feed)
        connection.close()

    threads = [threading.Thread(target=come, args=[subscriber]) for subscriber in subscribers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert counts() == [4]


def test_opml_keeps_folders_and_names_what_was_refused():
    ann = make_subscriber()
    outcomes = follow_opml(ann, OPML)
    assert [outcome.outcome for outcome in outcomes] == ["added", "added", "refused"]
    assert "ftp://c.example/" in outcomes[2].message
    assert dict(ann.subscriptions.values_list("feed__url", "folder")) == {
        "https://a.example/": "News/Tech",
        "https://b.example/": "",
    }
    assert counts() == [1, 1]
    follow_opml(ann, OPML)
    assert counts() == [1, 1]


def test_what_was_exported_says_the_same():
    ann = make_subscriber()
    follow_opml(ann, OPML)
    refile(ann.subscriptions.get(feed__url="https://b.example/"), folder="B", title="My B")
    found = {outline.url: (outline.folder, outline.title) for outline in read_opml(export_subscriptions(ann))}
    assert found["https://a.example/"][0] == ("News", "Tech")
    assert found["https://b.example/"] == (("B",), "My B")


def test_broken_opml_changes_nothing():
    ann = make_subscriber()
    with pytest.raises(OpmlError):
        follow_opml(ann, OPML[:-5])
    assert not Feed.objects.exists()


def test_readers_of_personal_feeds_learn_that_something_changed():
    ann, feed = make_subscriber(), make_feed()
    personal_feed = make_personal_feed(ann)
    seen = [personal_feed.changed]
    subscription, _ = follow(ann, feed)
    for change in (
        lambda: None,
        lambda: refile(subscription, folder="F", title=""),
        lambda: unfollow(subscription),
    ):
        change()
        personal_feed.refresh_from_db()
        seen.append(personal_feed.changed)
    assert seen == sorted(set(seen))


def test_people_who_add_feeds_follow_them(client):
    user = make_user(staff=True)
    client.force_login(user)
    assert "What do you like to read?" in client.get("/read/").content.decode()
    form = {
        "addresses": "https://one.example/feed\nhttps://two.example/feed",
        "category": "News / Local",
        "follow": "on",
    }
    answer = client.post("/feeds/add/", form)
    assert answer.status_code == 302
    followed = Subscription.objects.filter(subscriber__user=user)
    assert set(followed.values_list("folder", flat=True)) == {"News/Local"}
    assert followed.count() == 2
    client.post("/feeds/add/", {"addresses": "https://three.example/feed"})
    client.post("/feeds/add/", {"addresses": "https://two.example/feed", "follow": "on"})
    assert set(followed.values_list("feed__url", flat=True)) == {
        "https://one.example/feed",
        "https://two.example/feed",
    }


def test_who_follows_none_of_the_feeds_that_are_here_is_offered_them(client: Client, settings: Any) -> None:
    client.force_login(user := make_user("mara"))
    make_feed(category=category_at(("News", "Tech")))
    make_feed()
    page = client.get("/read/").content.decode()
    assert "2 feeds are here, and you follow none of them yet." in page
    assert "What do you want to read?" not in page
    assert client.post("/me/following/all/")["Location"] == "/read/"
    folders = subscriber_of(user).subscriptions.values_list("folder", flat=True)
    assert sorted(folders) == ["", "News/Tech"]
    client.force_login(tom := make_user("tom"))
    settings.LIMIT_FEEDS = 1
    assert "What do you want to read?" in client.get("/read/").content.decode()
    client.post("/me/following/all/")
    assert not subscriber_of(tom).subscriptions.exists()
