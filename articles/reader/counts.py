"""Unread counts of everything a person follows, in one query.

Like the lists (`once_a_story`), folders and the total count an article that several followed feeds have once;
each of these feeds counts it. Totals that counted copies said "94 unread" beside "All read".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from articles.enrichment.models import Enrichment
from articles.models import Article, Subscriber, Subscription
from articles.personal.marking import unread_in_lists
from articles.personal.selection import of_topics_only, once_a_story
from crawler.database.prepared import planned_rows
from feeds.models import Feed

_NOBODY = -1
"""The key of a subscriber that does not exist."""
_COUNTS = f"""
WITH unread (id, feed_id) AS NOT MATERIALIZED (
    {{unread}}
), of_feed AS (
    SELECT feed_id, count(*) AS number FROM unread GROUP BY feed_id
), copies AS (
    SELECT unread.feed_id, count(*) AS number FROM unread
    JOIN {Enrichment._meta.db_table} AS own ON own.article_id = unread.id
    WHERE own.story_id IS NOT NULL AND EXISTS (
        SELECT FROM {Enrichment._meta.db_table} AS earlier
        JOIN {Article._meta.db_table} AS beside ON beside.id = earlier.article_id
        JOIN {Subscription._meta.db_table} AS followed ON followed.feed_id = beside.feed_id
        WHERE earlier.story_id = own.story_id AND earlier.article_id < own.article_id
            AND followed.subscriber_id = %s
    )
    GROUP BY unread.feed_id
)
SELECT followed.feed_id, followed.folder,
    coalesce(nullif(followed.title, ''), nullif(feed.title, ''), feed.canonical_url),
    feed.failure_streak >= 3, coalesce(of_feed.number, 0),
    coalesce(of_feed.number, 0) - coalesce(copies.number, 0)
FROM {Subscription._meta.db_table} AS followed
JOIN {Feed._meta.db_table} AS feed ON feed.id = followed.feed_id
LEFT JOIN of_feed ON of_feed.feed_id = followed.feed_id
LEFT JOIN copies ON copies.feed_id = followed.feed_id
WHERE followed.subscriber_id = %s AND feed.removed IS NULL
ORDER BY lower(
    coalesce(nullif(followed.title, ''), nullif(feed.title, ''), feed.canonical_url)
), followed.feed_id
"""  # noqa: S608 - the tables' own names


@dataclass(frozen=True, slots=True)
class FeedCount:
    """A followed feed: its name, its folder, its unread articles, and whether it cannot be read now.

    `once` is the number of its unread articles that no earlier article of a followed feed is a copy of.
    """

    feed: int
    folder: str
    name: str
    fails: bool
    unread: int
    once: int


@dataclass(slots=True)
class FolderCount:
    """A folder with its feeds, and the unread articles in it and in the folders inside of it."""

    name: str
    feeds: list[FeedCount] = field(default_factory=list)
    unread: int = 0

    @property
    def depth(self) -> int:
        """The number of folders around it."""
        return self.name.count("/")

    @property
    def label(self) -> str:
        """The last part of its name."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Counts:
    """The unread articles of all feeds that a subscriber follows."""

    feeds: list[FeedCount]
    folders: list[FolderCount]
    loose: list[FeedCount]
    """Feeds in no folder."""
    on_topics: int = 0
    """Unread articles on topics, in feeds that are not followed."""

    @property
    def total(self) -> int:
        """The unread articles of all feeds and topics."""
        return self.on_topics + sum(feed.once for feed in self.feeds)

    @property
    def names(self) -> dict[int, str]:
        """The names of the followed feeds by their keys."""
        return {count.feed: count.name for count in self.feeds}

    def unread_of(self, feed: int | None, folder: str) -> int:
        """Return the unread articles of a feed, else of a folder, else of all."""
        if feed is not None:
            return sum(count.unread for count in self.feeds if count.feed == feed)
        if folder:
            return sum(
                count.once
                for count in self.feeds
                if count.folder == folder or count.folder.startswith(f"{folder}/")
            )
        return self.total


def unread_of_feed(subscriber: Subscriber, feed: int) -> int:
    """Count the unread articles of one feed."""
    return Article.objects.filter(unread_in_lists(subscriber), feed=feed).count()


def unread_counts(subscriber: Subscriber) -> Counts:
    """Count the unread articles of every feed that a subscriber follows, and those on topics."""
    statement, parameters = _statement()
    rows = planned_rows(statement, [subscriber.pk if value == _NOBODY else value for value in parameters])
    feeds = [FeedCount(*row) for row in rows]
    loose = [count for count in feeds if not count.folder]
    return Counts(feeds, _folders(feeds, subscriber.folders), loose, unread_on_topics(subscriber))


@cache
def _statement() -> tuple[str, tuple[Any, ...]]:
    """Return the SQL that counts, and its parameters for _NOBODY: to compile it takes as long as to count."""
    nobody = Subscriber(pk=_NOBODY)
    followed = Article.objects.filter(feed__in=nobody.subscriptions.values("feed_id")).order_by()
    unread = followed.filter(unread_in_lists(nobody)).values_list("id", "feed_id")
    statement, parameters = unread.query.sql_with_params()
    return _COUNTS.format(unread=statement), (*parameters, _NOBODY, _NOBODY)


def unread_on_topics(subscriber: Subscriber) -> int:
    """Count the unread articles on a subscriber's topics in feeds that are not followed."""
    unread = of_topics_only(subscriber).filter(unread_in_lists(subscriber))
    return once_a_story(unread, subscriber).count()


def feeds_with(subscriber: Subscriber, article: int) -> set[int]:
    """Return the followed feeds that have an article or a copy of it, if it has copies; else none."""
    story = Enrichment.objects.filter(pk=article, story__isnull=False).values("story")
    members = Article.objects.filter(enrichment__story__in=story)
    return set(
        subscriber.subscriptions.filter(feed__in=members.values("feed")).values_list("feed", flat=True)
    )


def _folders(feeds: Iterable[FeedCount], folder_names: Iterable[str]) -> list[FolderCount]:
    folders: dict[str, FolderCount] = {}
    inside: defaultdict[str, int] = defaultdict(int)
    for count in feeds:
        parts = count.folder.split("/") if count.folder else []
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            folders.setdefault(name, FolderCount(name))
            inside[name] += count.once
        if count.folder:
            folders[count.folder].feeds.append(count)
    for name in folder_names:
        folders.setdefault(name, FolderCount(name))
    for name, folder in folders.items():
        folder.unread = inside[name]
    return [folders[name] for name in sorted(folders, key=str.casefold)]
