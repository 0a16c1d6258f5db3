"""Labels of features for people: their kind, name and URL."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.text.bylines import plain_byline
from feeds.models import Feed

MAX_REASON_LENGTH = 60
_UNSAID = re.compile(
    r"[<>{}\\|]|&\w+;|://|^www\.|^(?:nbsp|amp|quot|apos|href|https?|img|src|div|utm\w*)$", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Label:
    """A feature for people: "keyword", "rain", and the URL of articles or the feed with it (may be empty)."""

    kind: str
    name: str
    url: str = ""

    @property
    def kind_name(self) -> str:
        """Return the kind in the reader's language."""
        return str(KINDS.get(self.kind, self.kind))

    def __str__(self) -> str:
        return f"{self.kind_name} {self.name}"


KINDS = {
    "feed": pgettext_lazy("kind of feature", "feed"),
    "author": pgettext_lazy("kind of feature", "author"),
    "keyword": pgettext_lazy("kind of feature", "keyword"),
    "category": pgettext_lazy("kind of feature", "category"),
}
CROWD = {
    "personal": gettext_lazy("how much your own interests count beside what others open"),
    "recency": gettext_lazy("how much your own liking for news counts"),
    "popularity": gettext_lazy("how often others open it"),
    "exposure": gettext_lazy("how often it was shown to others"),
    "category": gettext_lazy("how often articles of its category or author are opened"),
    "feed": gettext_lazy("how often articles of its feed are opened"),
    "words": gettext_lazy("how often articles with its words are opened"),
    "age": gettext_lazy("how much everybody likes news"),
    "seen": gettext_lazy("it was in a list of yours before"),
}
"""Sentences for the signals of `crowd.SIGNALS`."""
OTHERS_OPEN_IT = gettext_lazy("Because many here open it")
REASONS = {
    "feed": gettext_lazy("Because you read {}"),
    "author": gettext_lazy("Because you read what {} writes"),
    "keyword": gettext_lazy("Because you read about {}"),
    "category": gettext_lazy("Because you read about {}"),
}


def is_sayable(kind: str, name: str) -> bool:
    """Return whether a person would say it: any feed, and names of words that are no markup or address."""
    return kind == "feed" or (_UNSAID.search(name) is None and _LETTERS.search(name) is not None)


def reason_of(label: Label) -> str:
    """Return the sentence that says why an article with this feature is listed.

    Returns "" for an unknown kind, and for a name that nobody would give as a reason.
    """
    if not is_sayable(label.kind, label.name):
        return ""
    return str(REASONS.get(label.kind, "")).format(label.name[:MAX_REASON_LENGTH])


def labels(features: Iterable[str]) -> dict[str, Label]:
    """Return the label of each feature. Feeds take one query."""
    parts = {feature: feature.partition(":") for feature in features}
    keys = {int(name) for kind, _, name in parts.values() if kind == "feed" and _is_key(name)}
    feeds = Feed.objects.only("id", "title", "url").in_bulk(list(keys)) if keys else {}
    return {feature: _label(kind, name, feeds) for feature, (kind, _, name) in parts.items()}


def _label(kind: str, name: str, feeds: dict[int, Feed]) -> Label:
    if kind == "feed":
        feed = feeds.get(int(name)) if _is_key(name) else None
        return (
            Label("feed", str(feed), feed.get_absolute_url())
            if feed
            else Label("feed", _("%(feed)s (gone)") % {"feed": name})
        )
    name = plain_byline(name) or name
    if kind in {"keyword", "author"}:
        quoted = urlencode({"q": f'"{name}"'})
        return Label(kind, name, f"{reverse('articles')}?{quoted}")
    return Label(kind, name)


def _is_key(name: str) -> bool:
    """Return whether a name may be a feed's primary key: people can forget features that never existed."""
    return name.isascii() and name.isdecimal() and len(name) < 19
