"""Undoing of marks: a signed token says which marks were set at which time."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.core.signing import BadSignature, TimestampSigner

from articles.models import Mark, Subscriber

UNDO_FOR = timedelta(minutes=2)
"""The page offers it for ten seconds; a reload or a slow connection may take longer."""
_SIGNER = TimestampSigner(salt="articles.reader.undo")


def undo_token(subscriber: Subscriber, marked: datetime, count: int) -> str:
    """Return a token that undoes what a subscriber marked as read at exactly this time.

    `count` is the number of articles that the list showed: each may have copies, which are marked with it.
    """
    return _SIGNER.sign(f"{subscriber.pk} {count} {marked.isoformat()}")


def undo_reading(subscriber: Subscriber, token: str) -> int | None:
    """Make articles unread again that were marked with the token. Returns their number.

    Returns None for a token that is too old, not ours, or another subscriber's.
    """
    try:
        owner, count, marked = _SIGNER.unsign(token, max_age=UNDO_FOR).split(" ")
    except (BadSignature, ValueError):
        return None
    # A token may be sent by another person's page.
    if owner != str(subscriber.pk):
        return None
    marks = Mark.objects.filter(subscriber=subscriber, read=datetime.fromisoformat(marked))
    # Copies of the articles were marked with them, and the sentence names those that the list showed.
    return min(int(count), marks.update(read=None))
