"""Personal feeds: which articles one holds, and the secret addresses at which it is served."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db import transaction
from django.db.models import Expression

from articles.following import within
from articles.models import (
    Article,
    ArticleQuerySet,
    PersonalFeed,
    PersonalFeedToken,
    Subscriber,
    Subscription,
)
from articles.search import CJK, article_query

MAX_KEYWORDS = 50
_CJK = re.compile(f"[{CJK}]")


def followed(subscriber: Subscriber, folder: str = "") -> ArticleQuerySet:
    """Articles of what a subscriber follows, in one folder with those inside it or in all; newest first."""
    feeds = Subscription.objects.filter(within(folder), subscriber=subscriber).values("feed_id")
    return Article.objects.filter(feed__in=feeds).newest_first()


def selection(personal_feed: PersonalFeed) -> ArticleQuerySet:
    """Articles of a personal feed, newest first: at least one word of `include` and none of `exclude`."""
    articles = followed(personal_feed.subscriber, personal_feed.folder)
    if personal_feed.include:
        articles = articles.filter(search=_any_of(personal_feed.include))
    if personal_feed.exclude:
        articles = articles.exclude(search=_any_of(personal_feed.exclude))
    return articles


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


def _any_of(words: list[str]) -> Expression:
    """One full-text query for any of the words; more than one word in a keyword is a phrase."""
    return reduce(or_, (article_query(_phrase(word)) for word in words))


def _phrase(keyword: str) -> str:
    plain = keyword.replace('"', " ")
    # article_query makes a phrase of Chinese, Japanese and Korean characters itself.
    return plain if _CJK.search(plain) else f'"{plain}"'
