"""Limits of what one person may take up: feeds, sites, and requests to the API in a day.

They are settings (LIMIT_...), 0 for none, and do not hold for operators.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied

from crawler.engine.chosen import chosen

NEAR_SHARE = 0.8
"""The share of a limit from which pages mention it."""


class LimitReached(PermissionDenied):
    """A limit of one person; the message is a sentence for them."""


def limit_of(user: User | AnonymousUser, name: str) -> int:
    """Return a limit (`LIMIT_FEEDS`) as it holds for a user, 0 for none."""
    limit: int = chosen(name)
    return 0 if user.is_staff else limit


def check_limit(user: User | AnonymousUser, name: str, number: int, words: str) -> None:
    """Raise LimitReached when `number` of something is more than a user may have.

    `words` is the sentence for them, with places for `number` and `limit`.
    """
    limit = limit_of(user, name)
    if limit and number > limit:
        raise LimitReached(words % {"number": number, "limit": limit})


def is_near(user: User | AnonymousUser, name: str, number: int) -> bool:
    """Return whether a page should tell how much of a limit is used."""
    limit = limit_of(user, name)
    return bool(limit) and number >= NEAR_SHARE * limit
