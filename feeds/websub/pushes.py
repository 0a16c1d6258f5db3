"""Pushes as they come: kept until a terminal has read them."""

from __future__ import annotations

import zlib

from crawler.text.characters import one_line
from feeds.models import Feed
from feeds.websub.models import Push

MOST_WAITING = 20  # of one feed; then a visit brings what further pushes would


def keep(feed: Feed, body: bytes, content_type: str) -> bool:
    """Store a push until it is read; False where too many of this feed wait already."""
    if Push.objects.filter(feed=feed)[:MOST_WAITING].count() >= MOST_WAITING:
        return False
    Push.objects.create(feed=feed, body=zlib.compress(body, 1), content_type=one_line(content_type, 200))
    return True
