"""Undo of unfollowing and hiding, which the next page offers."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles.interest.log import said_of
from articles.models import Subscriber
from articles.personal.following import subscriber_of
from tests.factories import make_article, make_feed, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return make_user("reader")


@pytest.fixture
def visitor(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


@pytest.fixture
def subscriber(user: User) -> Subscriber:
    return subscriber_of(user)


def undo_it(visitor: Client) -> str:
    """Undo what the next page offers to undo. Returns the page after it."""
    offer = re.search(r'name="token" value="([^"]+)"', flat(visitor.get("/me/following/").content))
    assert offer is not None
    return visitor.post("/undo/", {"token": offer[1], "next": "/me/following/"}, follow=True).content.decode()


def test_an_unfollowed_feed_is_followed_again_as_it_was(visitor: Client, subscriber: Subscriber) -> None:
    row = subscriber.subscriptions.create(feed=make_feed(), folder="News/Tech", title="My name for it")
    visitor.post(f"/me/following/{row.pk}/unfollow/")
    assert not subscriber.subscriptions.exists()
    assert "You follow My name for it again" in undo_it(visitor)
    again = subscriber.subscriptions.get()
    assert (again.feed_id, again.folder, again.title) == (row.feed_id, "News/Tech", "My name for it")


def test_undoing_after_the_feed_is_gone_says_so(visitor: Client, subscriber: Subscriber) -> None:
    row = subscriber.subscriptions.create(feed=make_feed())
    visitor.post(f"/me/following/{row.pk}/unfollow/")
    row.feed.delete()
    assert "removed meanwhile" in undo_it(visitor)
    assert not subscriber.subscriptions.exists()


def test_an_unfollowed_topic_is_followed_again(visitor: Client, subscriber: Subscriber) -> None:
    topic = subscriber.topics.create(kind="keyword", value="rain")
    visitor.post(f"/me/following/topics/{topic.pk}/unfollow/")
    assert not subscriber.topics.exists()
    undo_it(visitor)
    assert subscriber.topics.get().value == "rain"


def test_undoing_says_so_when_other_topics_took_the_place(
    visitor: Client, subscriber: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = subscriber.topics.create(kind="keyword", value="rain")
    visitor.post(f"/me/following/topics/{topic.pk}/unfollow/")
    monkeypatch.setattr("articles.personal.topics.MAX_TOPICS", 0)
    assert "not followed again" in undo_it(visitor)
    assert not subscriber.topics.exists()


def test_a_hidden_article_is_shown_again(visitor: Client, subscriber: Subscriber) -> None:
    article = make_article()
    visitor.post(f"/me/interest/feedback/{article.pk}/hide/", {"next": "/me/following/"})
    assert said_of(subscriber, [article.pk])[article.pk] == {"hidden"}
    assert "back in your lists" in undo_it(visitor)
    assert said_of(subscriber, [article.pk])[article.pk] == frozenset()
