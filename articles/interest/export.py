"""Exports of a subscriber's events and interests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from articles.interest.facts import Facts
from articles.interest.learned import weight_rows
from articles.interest.model import DAY, HALF_LIFE, STRENGTHS, VERSION
from articles.interest.models import Event, Interest
from articles.interest.stored import facts_of
from articles.models import Subscriber

MAX_EXPORTED = 20_000
WORDS = {"shown": "impression", "opened": "click", "hidden": "hide", "saved": "save"}
"""Kinds as `manage.py evaluate_interest` calls them, if it has another word."""


def export(subscriber: Subscriber, now: datetime) -> dict[str, Any]:
    """Return the weights (aged to now) and the newest MAX_EXPORTED events with the facts of their articles.

    Each event has the fields of docs/interest.md, so that `events`, one a line, can be replayed elsewhere.
    """
    row = Interest.objects.filter(pk=subscriber.pk).first()
    events = Event.objects.filter(subscriber=subscriber).order_by("-id")
    newest = list(events[: MAX_EXPORTED + 1])
    exported = newest[:MAX_EXPORTED][::-1]
    facts = facts_of({event.article_id for event in exported})
    return {
        "subscriber": str(subscriber),
        "exported": now.isoformat(),
        "model": {
            "version": VERSION,
            "half_life_days": HALF_LIFE / DAY,
            "strengths": {kind: {"target": y, "strength": s} for kind, (y, s) in STRENGTHS.items()},
        },
        "learned_events": row.learned if row else 0,
        "weights": [
            {"feature": each.feature, "weight": each.weight, "deviation": each.deviation}
            for each in weight_rows(subscriber, now)
        ],
        "set_by_hand": dict(row.tuned) if row else {},
        "muted": {name: _iso(since) for name, since in (row.muted if row else {}).items()},
        "learns": row.learns if row else True,
        "forgotten": {name: _iso(until) for name, until in (row.forgotten if row else {}).items()},
        "events": [_event(event, facts) for event in exported],
        "older_events_left_out": len(newest) > MAX_EXPORTED,
    }


def _event(event: Event, facts: dict[int, Facts]) -> dict[str, Any]:
    about = facts[event.article_id]
    plain = {
        "at": event.at.isoformat(),
        "subscriber": event.subscriber_id,
        "event": WORDS.get(event.kind, event.kind),
        "article": event.article_id,
        "feed": about.feed,
        "category": about.categories,
        "author": about.author,
        "keywords": about.keywords,
        "published": _iso(about.published or 0.0),
    }
    return plain | ({"undone": event.undone.isoformat()} if event.undone else {})


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
