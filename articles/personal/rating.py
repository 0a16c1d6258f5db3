"""Feedback links in personal feeds: an address for each item that allows to rate this one article, nothing
else.

It is signed, not secret: an item that is passed on reveals neither the feed nor its address.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable
from functools import lru_cache

from django.conf import settings
from django.urls import reverse

from articles.models import Article, PersonalFeed

_VALUE = re.compile(r"(\d{1,18})-(\d{1,18})-([\w-]{22})")


def feedback_addresses(personal_feed: PersonalFeed, articles: Iterable[int]) -> dict[int, str]:
    """Return the paths at which the subscriber of a personal feed rates these articles. They never change."""
    before, _, after = reverse("feedback", args=["-"]).rpartition("-")
    feed = personal_feed.pk
    return {key: f"{before}{feed}-{key}-{_signature(feed, key)}{after}" for key in articles}


def read_feedback_address(value: str) -> tuple[PersonalFeed, Article] | None:
    """Read a signed value. Returns None for a forged value, or when feed or article no longer exist."""
    match = _VALUE.fullmatch(value)
    if match is None:
        return None
    feed, article = int(match[1]), int(match[2])
    if not hmac.compare_digest(_signature(feed, article), match[3]):
        return None
    rows = PersonalFeed.objects.select_related("subscriber__user").filter(pk=feed)
    personal_feed = rows.filter(tokens__revoked__isnull=True, subscriber__user__is_active=True).first()
    articles = Article.objects.select_related("feed").defer("search", "text", "content")
    about = articles.filter(pk=article).first()
    return (personal_feed, about) if personal_feed is not None and about is not None else None


def _signature(feed: int, article: int) -> str:
    """Return a signature of 128 bits that only this deployment can make."""
    digest = hmac.digest(_key(settings.SECRET_KEY), f"{feed}-{article}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")


@lru_cache(2)
def _key(secret: str) -> bytes:
    """Derive the same key as `salted_hmac` for "articles.personal.rating", once instead of for every item."""
    return hashlib.sha256(b"articles.personal.rating" + secret.encode()).digest()
