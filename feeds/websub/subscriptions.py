"""Subscriptions at hubs: wanted where a feed names one, asked for, confirmed, renewed, given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Least
from django.urls import reverse

from crawler.engine.models import Host
from crawler.http.urls import BadUrl, canonical_url, host_key
from crawler.reading.documents import FeedDocument
from feeds.models import Feed
from feeds.scheduling.floors import WEBSUB
from feeds.websub.models import HubSubscription, new_secret, new_token
from feeds.websub.protocol import lease_seconds, renew_after, subscribe_form

State = HubSubscription.State
DENIED_DAYS = 7


def follow_hubs(documents: Mapping[int, FeedDocument]) -> None:
    """Want a subscription where a feed names a hub, anew where hub or topic changed, none where no hub is.

    `documents` by feed id, as just retrieved. Without PUBLIC_URL no hub could reach us: nothing is wanted.
    """
    if not settings.PUBLIC_URL or not documents:
        return
    kept = HubSubscription.objects.in_bulk(list(documents))
    for feed, document in documents.items():
        known = kept.get(feed)
        hub, topic = _usable(document.hub), document.self_url
        if not hub or not topic:
            if known is not None:
                _end(known)
        elif known is None or (known.hub, known.topic) != (hub, topic):
            _want(feed, hub, topic)


def ask_again(subscriptions: QuerySet[HubSubscription]) -> int:
    """Ask the hubs of these subscriptions at the next tick; how many."""
    return subscriptions.update(not_before=datetime.now(UTC), attempts=0)


def lapse(now: datetime) -> int:
    """Subscriptions that ended unrenewed: their feeds are visited as others are. How many."""
    ended = HubSubscription.objects.filter(state=State.ACTIVE, expires__lte=now)
    feeds = list(ended.values_list("feed_id", flat=True))
    if feeds:
        ended.update(state=State.WANTED, not_before=Least("not_before", now))
        _visit_as_others(feeds, now)
    return len(feeds)


def confirm(one: HubSubscription, topic: str, granted: str, now: datetime) -> bool:
    """Whether we did ask for this subscription; it is active from now on (5.3)."""
    if topic != one.topic or one.asked is None or one.state == State.DENIED:
        return False
    lease = lease_seconds(granted)
    HubSubscription.objects.filter(pk=one.pk).update(
        state=State.ACTIVE,
        attempts=0,
        expires=now + timedelta(seconds=lease),
        not_before=now + timedelta(seconds=renew_after(lease)),
        detail="",
    )
    return True


def deny(one: HubSubscription, reason: str, now: datetime) -> None:
    """No pushes, or no longer (5.2): the feed is visited as others are, the hub asked again in a week."""
    HubSubscription.objects.filter(pk=one.pk).update(
        state=State.DENIED,
        expires=None,
        not_before=now + timedelta(days=DENIED_DAYS),
        detail=f"denied: {reason}"[:1000],
    )
    _visit_as_others([one.feed_id], now)


def request_form(one: HubSubscription) -> bytes:
    """What the hub is asked with, and where it reaches us."""
    callback = f"{settings.PUBLIC_URL}{reverse('websub', args=[one.token])}"
    return subscribe_form(callback, one.topic, one.secret)


def _want(feed: int, hub: str, topic: str) -> None:
    """A new token with a new hub or topic: the old hub then hears that nobody is here."""
    name = host_key(hub)
    values = {
        "hub": hub,
        "host_id": Host.objects.named({name})[name],
        "topic": topic,
        "token": new_token(),
        "secret": new_secret(),
        "state": State.WANTED,
        "lease": None,
        "not_before": datetime.now(UTC),
        "attempts": 0,
        "asked": None,
        "expires": None,
        "detail": "",
    }
    HubSubscription.objects.update_or_create(feed_id=feed, defaults=values)


def _end(one: HubSubscription) -> None:
    one.delete()
    _visit_as_others([one.feed_id], datetime.now(UTC))


def _visit_as_others(feeds: Sequence[int], now: datetime) -> None:
    """No longer wait for the slow backup visit."""
    waiting = Feed.objects.filter(id__in=feeds, floor=WEBSUB)
    waiting.update(not_before=Least("not_before", now), floor="", floor_detail="")


def _usable(hub: str) -> str:
    """The hub's canonical address; nothing for one that cannot be asked."""
    try:
        return canonical_url(hub) if hub else ""
    except BadUrl:
        return ""
