"""Personal feeds: selection of their articles, and the secret addresses at which they are served."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, F, Func, Q, Value
from django.db.models.sql.compiler import SQLCompiler
from django.http import HttpRequest
from django.urls import reverse

from articles.enrichment.models import Enrichment
from articles.interest.log import hidden_articles
from articles.interest.scoring import ranked
from articles.models import (
    Article,
    ArticleQuerySet,
    PersonalFeed,
    PersonalFeedToken,
    Subscriber,
    Subscription,
    Topic,
)
from articles.personal.following import within
from articles.search import condition_of
from crawler.database.prepared import rows_of
from crawler.text.search import Search, spaced
from crawler.web.syndication.formats import FORMATS

MAX_KEYWORDS = 50
RANKED = 500
"""Number of newest articles that the order by interest ranks."""


def followed_articles(subscriber: Subscriber, folder: str = "") -> ArticleQuerySet:
    """Return the articles that a subscriber follows, in one folder and its subfolders or in all, newest
    first.

    Topics are in no folder: their articles are included only when no folder is given.
    """
    rows = Subscription.objects.filter(within(folder), subscriber=subscriber, feed__removed__isnull=True)
    feeds = rows.values("feed_id")
    condition = Q(feed__in=feeds)
    if not folder:
        condition |= on_topics(list(subscriber.topics.all()))
    return Article.objects.filter(condition).newest_first()


def of_topics_only(subscriber: Subscriber) -> ArticleQuerySet:
    """Return the articles on a subscriber's topics in feeds that the subscriber does not follow."""
    feeds = Subscription.objects.filter(subscriber=subscriber).values("feed_id")
    topics = list(subscriber.topics.all())
    return (
        Article.objects.filter(on_topics(topics)).exclude(feed__in=feeds)
        if topics
        else Article.objects.none()
    )


def selection(personal_feed: PersonalFeed) -> ArticleQuerySet:
    """Return the articles of a personal feed, newest first.

    Starts from the results of its search, or from the followed articles if it has no search. Keeps articles
    with a word of `include`, no word of `exclude`, and one of the categories; an empty filter keeps all.
    Excludes articles that the subscriber hid.
    """
    if personal_feed.query:
        articles = Article.objects.search(personal_feed.query).newest_first()
    else:
        articles = followed_articles(personal_feed.subscriber, personal_feed.folder)
    if personal_feed.include:
        articles = articles.filter(_any_of(personal_feed.include))
    if personal_feed.exclude:
        articles = articles.exclude(_any_of(personal_feed.exclude))
    if personal_feed.categories:
        articles = articles.filter(_in_categories(personal_feed.categories))
    return articles.exclude(pk__in=hidden_articles(personal_feed.subscriber))


def chosen(personal_feed: PersonalFeed, first: int, limit: int) -> list[int]:
    """Return primary keys of at most `limit` articles from place `first` on, in the personal feed's order.

    Only the first article of a story is included. With order by interest, the newest RANKED articles are
    ranked; older ones follow, newest first.
    """
    articles = once_a_story(selection(personal_feed), personal_feed.subscriber)
    if personal_feed.order == PersonalFeed.Order.NEWEST:
        return _keys(articles[first : first + limit])
    keys: list[int] = []
    if first < RANKED:
        placed = ranked(personal_feed.subscriber, articles[:RANKED], first + limit)
        keys = [entry.article_id for entry in placed[first : first + limit]]
    remaining = limit - len(keys)
    start = max(first, RANKED)
    return keys + (_keys(articles[start : start + remaining]) if remaining else [])


def once_a_story(articles: ArticleQuerySet, subscriber: Subscriber) -> ArticleQuerySet:
    """Exclude articles whose story has an earlier article in a feed that the subscriber follows."""
    return articles.filter(_FirstOfStory(F("pk"), Value(subscriber.pk)))


def keywords(text: str) -> list[str]:
    """Parse keywords separated by commas or lines; each once, at most MAX_KEYWORDS."""
    words = (" ".join(word.split())[:200] for word in re.split(r"[,\n]", text))
    return list(dict.fromkeys(word for word in words if word))[:MAX_KEYWORDS]


def address_token(personal_feed: PersonalFeed) -> str | None:
    """Return the token of the valid address, None if there is none."""
    token: str | None = (
        personal_feed.tokens.filter(revoked__isnull=True).values_list("token", flat=True).first()
    )
    return token


def addresses(personal_feed: PersonalFeed, request: HttpRequest) -> dict[str, str]:
    """Return the addresses of a personal feed by format. Empty while its address is revoked."""
    token = address_token(personal_feed)
    paths = {kind: reverse("personal-feed", args=[token, kind]) for kind in FORMATS} if token else {}
    return {kind: request.build_absolute_uri(path) for kind, path in paths.items()}


def has_list(personal_feed: PersonalFeed) -> bool:
    """Return whether the list of its feeds tells readers no more than the personal feed does."""
    filters = (personal_feed.include, personal_feed.exclude, personal_feed.categories)
    return not personal_feed.query and (bool(personal_feed.folder) or not any(filters))


def list_address(personal_feed: PersonalFeed, request: HttpRequest) -> str:
    """Return the address of the list (OPML) of feeds in a personal feed, "" if there is none."""
    token = address_token(personal_feed) if has_list(personal_feed) else ""
    return request.build_absolute_uri(reverse("personal-list", args=[token])) if token else ""


def own_feeds_of(subscriber: Subscriber, folder: str) -> list[tuple[str, str]]:
    """Return names and paths of the personal feeds made of a folder, or of everything for no folder."""
    rows = PersonalFeedToken.objects.filter(
        revoked__isnull=True,
        personal_feed__subscriber=subscriber,
        personal_feed__folder=folder,
        personal_feed__query="",
    )
    names = rows.order_by("pk").values_list("personal_feed__name", "token")
    return [(name, reverse("personal-feed", args=[token, "atom"])) for name, token in names]


@transaction.atomic
def create_personal_feed(subscriber: Subscriber, **fields: Any) -> PersonalFeed:
    """Create a personal feed with its first address."""
    personal_feed = PersonalFeed.objects.create(subscriber=subscriber, **fields)
    PersonalFeedToken.objects.create(personal_feed=personal_feed)
    return personal_feed


@transaction.atomic
def rotate_address(personal_feed: PersonalFeed) -> str:
    """Revoke the address and create a new one. Returns the new token."""
    # The row is locked so that two requests at once do not both make one.
    PersonalFeed.objects.select_for_update().get(pk=personal_feed.pk)
    revoke_address(personal_feed)
    return PersonalFeedToken.objects.create(personal_feed=personal_feed).token


def revoke_address(personal_feed: PersonalFeed) -> bool:
    """Revoke the address, which answers 410 from now on. Returns whether there was a valid one."""
    valid = personal_feed.tokens.filter(revoked__isnull=True)
    return bool(valid.update(revoked=datetime.now(UTC)))


def _keys(articles: ArticleQuerySet) -> list[int]:
    return [key for (key,) in rows_of(articles.values_list("pk"))]


class _FirstOfStory(Func):
    """The condition that no earlier article of an article's story is in a feed that a subscriber follows.

    With Django's own SQL for it, PostgreSQL would join the list with all enrichments.
    """

    output_field = BooleanField()
    template = f"""(
        SELECT EXISTS (
            SELECT FROM {Enrichment._meta.db_table} AS earlier
            JOIN {Article._meta.db_table} AS beside ON beside.id = earlier.article_id
            JOIN {Subscription._meta.db_table} AS followed ON followed.feed_id = beside.feed_id
            WHERE earlier.story_id = own.story_id AND earlier.article_id < own.article_id
                AND followed.subscriber_id = %(subscriber)s
        )
        FROM {Enrichment._meta.db_table} AS own
        WHERE own.story_id IS NOT NULL AND own.article_id = %(article)s
    ) IS NOT TRUE"""  # noqa: S608 - the tables' own names

    def as_sql(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any
    ) -> tuple[str, list[Any]]:
        """Compile the template, with parameters in its order."""
        (article, of_article), (subscriber, of_subscriber) = map(compiler.compile, self.source_expressions)
        return self.template % {"article": article, "subscriber": subscriber}, [*of_subscriber, *of_article]


def on_topics(topics: Sequence[Topic]) -> Q:
    """Return the condition for articles of any feed that match one of these topics."""
    words = [topic.value for topic in topics if topic.kind == Topic.Kind.KEYWORD]
    categories = [topic.value for topic in topics if topic.kind == Topic.Kind.CATEGORY]
    sites = [topic.value for topic in topics if topic.kind == Topic.Kind.SITE]
    condition = Q()
    if words:
        condition |= _any_of(words)
    if categories:
        condition |= _in_categories(categories)
    if sites:
        condition |= Q(page__host__name__in=sites) | Q(feed__host__name__in=sites)
    return condition


def _in_categories(names: Sequence[str]) -> Q:
    """Return the condition that the deployment, the feed or the entry gives one of these categories."""
    of_feed = Q(feed__category__name__in=names)
    return of_feed | Q(enrichment__category__in=names) | Q(categories__overlap=list(names))


def _any_of(words: list[str]) -> Q:
    """Return the condition for articles with any of the words; a keyword of several words is a phrase."""
    return condition_of(Search(tuple((spaced(word.replace('"', " ")),) for word in words)))
