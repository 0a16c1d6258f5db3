"""Feedback of subscribers by buttons (more, less, hide, save), and openings of articles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from django.http import HttpRequest

from articles.interest.log import Kind, note, said_of, undo
from articles.interest.log import take_back as take_back_event
from articles.interest.models import Event
from articles.models import Subscriber
from articles.personal import marking
from articles.personal.following import subscriber_of

WORDS: Mapping[str, Kind] = {
    "more": Kind.MORE,
    "less": Kind.LESS,
    "hide": Kind.HIDDEN,
    "save": Kind.SAVED,
}
"""The words of addresses and buttons."""


def give(subscriber: Subscriber, article: int, word: str, now: datetime) -> None:
    """Note the feedback of a button; saving stars the article. Raises KeyError for an unknown button."""
    if WORDS[word] == Kind.SAVED:
        marking.star(subscriber, [article], now)
    else:
        note(subscriber, [article], WORDS[word], now)


def take_back(subscriber: Subscriber, article: int, word: str, now: datetime) -> None:
    """Undo the feedback of a button. Raises KeyError for an unknown button."""
    if WORDS[word] == Kind.SAVED:
        marking.star(subscriber, [article], now, starred=False)
    else:
        take_back_event(subscriber, [article], WORDS[word], now)


def undo_event(event: Event, now: datetime) -> None:
    """Undo one event of the log. Undoing a save also removes the star."""
    if event.kind == Kind.SAVED and event.undone is None:
        marking.star(event.subscriber, [event.article_id], now, starred=False)
    else:
        undo(event, now)


def given(subscriber: Subscriber, articles: Sequence[int]) -> dict[int, frozenset[str]]:
    """Return the button words that a subscriber chose for each article, in one query, for
    `interest/_feedback.html`.
    """
    words = {str(kind): word for word, kind in WORDS.items()}
    return {
        article: frozenset(words[kind] for kind in kinds)
        for article, kinds in said_of(subscriber, articles).items()
    }


def note_opening(request: HttpRequest, article: int) -> bool:
    """Note that the requesting user opened the article's page. Returns whether it was an opening.

    Prefetches, HEAD requests and anonymous requests are no openings.
    """
    purpose = request.headers.get("Sec-Purpose", "") + request.headers.get("Purpose", "")
    opened = request.method == "GET" and "prefetch" not in purpose and request.user.is_authenticated
    if opened:
        note(subscriber_of(request.user), [article], Kind.OPENED, datetime.now(UTC))
    return opened
