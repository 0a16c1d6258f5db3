"""Plain functions that make rows for tests, each with sensible defaults."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from rest_framework.authtoken.models import Token

from articles.models import Article, PersonalFeed, PersonalFeedToken, Subscriber, Subscription
from articles.personal.versions import touch
from crawler.engine.models import Host
from crawler.fetching.http.urls import canonical_url, host_key
from crawler.text.keys import digest
from feeds.models import Feed

_numbers = itertools.count(1)


def make_user(username: str = "", *, staff: bool = False, **fields: Any) -> User:
    """A user who can sign in with the password "water"."""
    name = username or f"user{next(_numbers)}"
    return get_user_model().objects.create_user(name, password="water", is_staff=staff, **fields)


def make_token(user: User) -> str:
    """The value of the Authorization header of this user's API token."""
    return f"Token {Token.objects.get_or_create(user=user)[0].key}"


def make_feed(url: str = "", **fields: Any) -> Feed:
    """An active feed in training, never visited."""
    url = url or f"https://feed{next(_numbers)}.example/feed.xml"
    canonical = canonical_url(url)
    host = Host.objects.named({host_key(canonical)})[host_key(canonical)]
    defaults = {"title": f"Feed at {host_key(canonical)}"}
    return Feed.objects.create(url=url, canonical_url=canonical, host_id=host, **(defaults | fields))


def make_article(feed: Feed | None = None, **fields: Any) -> Article:
    """An article of some feed, published and fetched now."""
    feed = feed or make_feed()
    number = next(_numbers)
    now = datetime.now(UTC)
    defaults = {
        "identity": f"tag:example,{number}",
        "title": f"Article {number}",
        "url": f"https://{feed.host.name}/{number}",
        "published": now,
        "fetched": now,
        "dating": Article.Dating.FEED,
        "text": f"Text of article {number}.",
    }
    values: dict[str, Any] = defaults | fields
    values.setdefault("identity_key", digest(values["identity"]))
    values.setdefault("text_length", len(values["text"]))
    article = Article.objects.create(feed=feed, **values)
    touch([feed.pk])
    return article


def make_subscriber(username: str = "", *feeds: Feed, folder: str = "") -> Subscriber:
    """A subscriber with a user of their own who follows the given feeds."""
    subscriber = Subscriber.objects.create(user=make_user(username))
    for feed in feeds:
        Subscription.objects.create(subscriber=subscriber, feed=feed, folder=folder)
    return subscriber


def make_personal_feed(subscriber: Subscriber, **fields: Any) -> PersonalFeed:
    """A personal feed with a valid address."""
    values = {"name": f"Personal {next(_numbers)}"} | fields
    personal_feed = PersonalFeed.objects.create(subscriber=subscriber, **values)
    PersonalFeedToken.objects.create(personal_feed=personal_feed)
    return personal_feed
