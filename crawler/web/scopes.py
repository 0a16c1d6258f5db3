"""Scopes of tokens, from the least to the most: read, mark, manage. Each includes those before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.contrib.auth.models import AnonymousUser, User
from django.utils.translation import gettext_lazy

from crawler.text.words import Words
from crawler.web.roles import READER, is_at_least

READ, MARK, MANAGE = SCOPES = ("read", "mark", "manage")
SCOPE_CHOICES = [(scope, scope) for scope in SCOPES]
TOKEN_SENTENCES: Mapping[str, Words] = {
    READ: gettext_lazy("It may read, and change nothing."),
    MARK: gettext_lazy("It may also mark, star, label, save and highlight."),
    MANAGE: gettext_lazy("It may do all that you may."),
}
"""What a token of each scope may do, in a sentence for its owner."""
ASSISTANT_SENTENCES: Mapping[str, Words] = {
    READ: gettext_lazy("It may read your articles, and what you saved and marked."),
    MARK: gettext_lazy("It may mark articles as read, star, label, save and highlight them for you."),
    MANAGE: gettext_lazy("It may follow and unfollow feeds and watch pages for you."),
}
"""What an assistant may do with each scope, in a sentence for the person who allows it."""


def with_included(scopes: Iterable[str]) -> frozenset[str]:
    """Return the scopes together with those that they include. Unknown ones are left out."""
    ranks = [SCOPES.index(scope) for scope in scopes if scope in SCOPES]
    return frozenset(SCOPES[: max(ranks) + 1]) if ranks else frozenset()


def scopes_open_to(user: User | AnonymousUser) -> frozenset[str]:
    """Return the scopes that a person may give to an assistant.

    Everybody follows feeds; what a role may not do, such as watching sites, the API refuses as it does them.
    """
    return frozenset(SCOPES) if is_at_least(user, READER) else frozenset()
