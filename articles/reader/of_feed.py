"""A feed as its page shows it to one person: its newest articles, what is unread of it, the subscription."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count, Max
from django.urls import reverse

from articles.models import Article, Subscriber, Subscription
from articles.personal.following import subscriber_of
from articles.personal.marking import marked_read, marked_starred
from articles.reader.counts import unread_of_feed
from articles.reader.lists import ReadingList
from feeds.models import Feed

NEWEST = 10


@dataclass(frozen=True, slots=True)
class ArticleLine:
    """One of the newest articles of a feed, with the address that it opens at and the person's marks."""

    article: Article
    address: str
    is_read: bool
    is_starred: bool


@dataclass(frozen=True, slots=True)
class FeedReading:
    """A feed for one person. `subscription` is None when the person does not follow the feed."""

    subscription: Subscription | None
    lines: list[ArticleLine]
    unread: int
    total: int
    unread_address: str
    all_address: str
    newest: int
    """The key of the article that was stored last, 0 when there is none."""


def reading_of(feed: Feed, user: User | AnonymousUser) -> FeedReading:
    """Return a feed for one person, in a few queries whatever the number of its articles."""
    subscriber = subscriber_of(user)
    subscription = subscriber.subscriptions.filter(feed=feed).first()
    reading_list = ReadingList(feed=feed.pk)
    is_followed = subscription is not None
    everything = reading_list.address(show="all") if is_followed else f"{reverse('articles')}?feed={feed.pk}"
    numbers = feed.articles.aggregate(total=Count("pk"), newest=Max("pk"))
    return FeedReading(
        subscription=subscription,
        lines=_newest(feed, subscriber, is_followed=is_followed),
        unread=unread_of_feed(subscriber, feed.pk) if is_followed else 0,
        total=numbers["total"],
        unread_address=reading_list.address(),
        all_address=everything,
        newest=numbers["newest"] or 0,
    )


def _newest(feed: Feed, subscriber: Subscriber, *, is_followed: bool) -> list[ArticleLine]:
    articles = feed.articles.newest_first().only("title", "identity", "language", "published", "feed")[
        :NEWEST
    ]
    by_key = {article.pk: article for article in articles}
    marks = {
        article: (is_read, is_starred)
        for article, is_read, is_starred in Article.objects.filter(pk__in=by_key)
        .annotate(read=marked_read(subscriber), starred=marked_starred(subscriber))
        .values_list("pk", "read", "starred")
    }
    whole = ReadingList(feed=feed.pk, show="all")
    return [
        ArticleLine(
            article,
            whole.address(key) if is_followed else article.get_absolute_url(),
            *marks.get(key, (False, False)),
        )
        for key, article in by_key.items()
    ]
