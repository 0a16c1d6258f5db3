"""Feedback from a feed reader: an address for each item that allows to rate this one article, nothing else.

It is signed, not secret: an item that is passed on gives away neither the feed nor its address.
"""

from __future__ import annotations

import base64
import hmac
import re

from django.urls import reverse
from django.utils.crypto import salted_hmac

from articles.models import Article, PersonalFeed

_VALUE = re.compile(r"(\d{1,18})-(\d{1,18})-([\w-]{22})")


def feedback_address(personal_feed: PersonalFeed, article: int) -> str:
    """The path at which the subscriber of a personal feed rates an article; always the same one."""
    return reverse("feedback", args=[f"{personal_feed.pk}-{article}-{_signature(personal_feed.pk, article)}"])


def read_feedback_address(value: str) -> tuple[PersonalFeed, Article] | None:
    """What a signed value stands for; None for one that is forged, or whose feed or article is gone."""
    match = _VALUE.fullmatch(value)
    if match is None:
        return None
    feed, article = int(match[1]), int(match[2])
    if not hmac.compare_digest(_signature(feed, article), match[3]):
        return None
    rows = PersonalFeed.objects.select_related("subscriber__user").filter(pk=feed)
    found = rows.filter(tokens__revoked__isnull=True, subscriber__user__is_active=True).first()
    articles = Article.objects.select_related("feed").defer("search", "text", "content")
    about = articles.filter(pk=article).first()
    return (found, about) if found is not None and about is not None else None


def _signature(feed: int, article: int) -> str:
    """128 bits that only this deployment can make."""
    digest = salted_hmac("articles.feedback", f"{feed}-{article}", algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")
