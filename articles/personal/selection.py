"""Personal feeds: which articles one holds, and the secret addresses at which it is served."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, Expression, F, Func, Q, Value
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
from articles.search import CJK, article_query
from crawler.database.prepared import rows_of
from crawler.web.syndication.formats import FORMATS

MAX_KEYWORDS = 50
RANKED = 500
"""So many of the newest are ordered by interest."""
_CJK = re.compile(f"[{CJK}]")


def followed(subscriber: Subscriber, folder: str = "") -> ArticleQuerySet:
    """Articles of what a subscriber follows, in one folder with those inside it or in all; newest first.

    Topics are in no folder: their articles come with those of all feeds.
    """
    feeds = Subscription.objects.filter(within(folder), subscriber=subscriber).values("feed_id")
    wanted = Q(feed__in=feeds)
    if not folder:
        wanted |= _on_topics(list(subscriber.topics.all()))
    return Article.objects.filter(wanted).newest_first()


def selection(personal_feed: PersonalFeed) -> ArticleQuerySet:
    """Articles of a personal feed, newest first: at least one word of `include` and none of `exclude`,
    one of the categories; without those that the subscriber hid.
    """
    articles = followed(personal_feed.subscriber, personal_feed.folder)
    if personal_feed.include:
        articles = articles.filter(search=_any_of(personal_feed.include))
    if personal_feed.exclude:
        articles = articles.exclude(search=_any_of(personal_feed.exclude))
    if personal_feed.categories:
        articles = articles.filter(_in_categories(personal_feed.categories))
    return articles.exclude(pk__in=hidden_articles(personal_feed.subscriber))


def chosen(personal_feed: PersonalFeed, first: int, most: int) -> list[int]:
    """Primary keys of at most `most` articles from place `first` on, in the personal feed's order.

    Of a story only the article that came first. By interest are ordered the newest RANKED; older ones
    follow, newest first.
    """
    articles = once_a_story(selection(personal_feed), personal_feed.subscriber)
    if personal_feed.order == PersonalFeed.Order.NEWEST:
        return _keys(articles[first : first + most])
    keys: list[int] = []
    if first < RANKED:
        placed = ranked(personal_feed.subscriber, articles[:RANKED], first + most)
        keys = [one.article_id for one in placed[first : first + most]]
    rest = most - len(keys)
    start = max(first, RANKED)
    return keys + (_keys(articles[start : start + rest]) if rest else [])


def once_a_story(articles: ArticleQuerySet, subscriber: Subscriber) -> ArticleQuerySet:
    """Without articles of a story of which an earlier one is in a feed that the subscriber follows."""
    return articles.filter(_FirstOfStory(F("pk"), Value(subscriber.pk)))


def keywords(text: str) -> list[str]:
    """Keywords as people type them, separated by commas or lines; each once, at most MAX_KEYWORDS."""
    words = (" ".join(word.split())[:200] for word in re.split(r"[,\n]", text))
    return list(dict.fromkeys(word for word in words if word))[:MAX_KEYWORDS]


def address_token(personal_feed: PersonalFeed) -> str | None:
    """The token of the valid address, if there is one."""
    token: str | None = (
        personal_feed.tokens.filter(revoked__isnull=True).values_list("token", flat=True).first()
    )
    return token


def addresses(personal_feed: PersonalFeed, request: HttpRequest) -> dict[str, str]:
    """Where a personal feed is served, by format; none while its address is revoked."""
    token = address_token(personal_feed)
    paths = {kind: reverse("personal-feed", args=[token, kind]) for kind in FORMATS} if token else {}
    return {kind: request.build_absolute_uri(path) for kind, path in paths.items()}


@transaction.atomic
def create_personal_feed(subscriber: Subscriber, **fields: Any) -> PersonalFeed:
    """A personal feed with its first address."""
    personal_feed = PersonalFeed.objects.create(subscriber=subscriber, **fields)
    PersonalFeedToken.objects.create(personal_feed=personal_feed)
    return personal_feed


@transaction.atomic
def rotate_address(personal_feed: PersonalFeed) -> str:
    """Revoke the address and make a new one; the new token."""
    # The row is locked so that two requests at once do not both make one.
    PersonalFeed.objects.select_for_update().get(pk=personal_feed.pk)
    revoke_address(personal_feed)
    return PersonalFeedToken.objects.create(personal_feed=personal_feed).token


def revoke_address(personal_feed: PersonalFeed) -> bool:
    """Let the address answer 410 from now on; whether there was a valid one."""
    valid = personal_feed.tokens.filter(revoked__isnull=True)
    return bool(valid.update(revoked=datetime.now(UTC)))


def _keys(articles: ArticleQuerySet) -> list[int]:
    return [key for (key,) in rows_of(articles.values_list("pk"))]


class _FirstOfStory(Func):
    """Whether no earlier article of an article's story is in a feed that a subscriber follows.

    As Django would say it, PostgreSQL would join the list with all enrichments there are.
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
        """Its parameters come in the order of the template."""
        (article, of_article), (subscriber, of_subscriber) = map(compiler.compile, self.source_expressions)
        return self.template % {"article": article, "subscriber": subscriber}, [*of_subscriber, *of_article]


def _on_topics(topics: Sequence[Topic]) -> Q:
    """Articles of any feed that one of these topics names."""
    words = [topic.value for topic in topics if topic.kind == Topic.Kind.KEYWORD]
    categories = [topic.value for topic in topics if topic.kind == Topic.Kind.CATEGORY]
    sites = [topic.value for topic in topics if topic.kind == Topic.Kind.SITE]
    wanted = Q()
    if words:
        wanted |= Q(search=_any_of(words))
    if categories:
        wanted |= _in_categories(categories)
    if sites:
        wanted |= Q(page__host__name__in=sites) | Q(feed__host__name__in=sites)
    return wanted


def _in_categories(names: Sequence[str]) -> Q:
    """Filed under one of these by the deployment, or by the entry itself."""
    return Q(enrichment__category__in=names) | Q(categories__overlap=list(names))


def _any_of(words: list[str]) -> Expression:
    """One full-text query for any of the words; more than one word in a keyword is a phrase."""
    return reduce(or_, (article_query(_phrase(word)) for word in words))


def _phrase(keyword: str) -> str:
    plain = keyword.replace('"', " ")
    # article_query makes a phrase of Chinese, Japanese and Korean characters itself.
    return plain if _CJK.search(plain) else f'"{plain}"'
