"""The life of hub subscriptions: requested for feeds that name a hub, confirmed, renewed, ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Least
from django.urls import reverse

from crawler.engine.models import Host
from crawler.fetching.http.urls import BadUrl, canonical_url, host_key
from crawler.reading.documents import FeedDocument
from feeds.models import Feed
from feeds.scheduling.floors import WEBSUB
from feeds.websub.models import HubSubscription, new_secret, new_token
from feeds.websub.protocol import lease_seconds, renew_after, subscribe_form

State = HubSubscription.State
DENIED_DAYS = 7


def follow_hubs(documents: Mapping[int, FeedDocument]) -> None:
    """Create, renew or delete subscriptions to match the hubs and topics named by retrieved documents.

    `documents` by feed id, as just retrieved. Does nothing without PUBLIC_URL, because no hub could reach us.
    """
    if not settings.PUBLIC_URL or not documents:
        return
    subscriptions = HubSubscription.objects.in_bulk(list(documents))
    for feed, document in documents.items():
        subscription = subscriptions.get(feed)
        # The topic is the feed's own name for itself (rel=self), by which its hub knows it.
        hub, topic = _usable(document.hub), document.self_url
        if not hub or not topic:
            if subscription is not None:
                _end(subscription)
        elif subscription is None or (subscription.hub, subscription.topic) != (hub, topic):
            _want(feed, hub, topic)


def ask_again(subscriptions: QuerySet[HubSubscription]) -> int:
    """Request these subscriptions again at the next tick. Returns their number."""
    return subscriptions.update(not_before=datetime.now(UTC), attempts=0)


def lapse(now: datetime) -> int:
    """End subscriptions that were not renewed; their feeds are polled again. Returns their number."""
    ended = HubSubscription.objects.filter(state=State.ACTIVE, expires__lte=now)
    feeds = list(ended.values_list("feed_id", flat=True))
    if feeds:
        ended.update(state=State.WANTED, not_before=Least("not_before", now))
        _visit_as_others(feeds, now)
    return len(feeds)


def confirm(subscription: HubSubscription, topic: str, granted: str, now: datetime) -> bool:
    """Activate the subscription if we requested it (5.3). Returns whether we did."""
    # Anybody may call the address: only what was asked for is confirmed (5.3).
    if topic != subscription.topic or subscription.asked is None or subscription.state == State.DENIED:
        return False
    lease = lease_seconds(granted)
    HubSubscription.objects.filter(pk=subscription.pk).update(
        state=State.ACTIVE,
        attempts=0,
        expires=now + timedelta(seconds=lease),
        not_before=now + timedelta(seconds=renew_after(lease)),
        detail="",
    )
    return True


def deny(subscription: HubSubscription, reason: str, now: datetime) -> None:
    """Store a hub's denial (5.2): visit the feed as usual, and request the subscription again in a week."""
    HubSubscription.objects.filter(pk=subscription.pk).update(
        state=State.DENIED,
        expires=None,
        not_before=now + timedelta(days=DENIED_DAYS),
        detail=f"denied: {reason}"[:1000],
    )
    _visit_as_others([subscription.feed_id], now)


def request_form(subscription: HubSubscription) -> bytes:
    """Return the form of a request to the hub, with our callback address."""
    callback = f"{settings.PUBLIC_URL}{reverse('websub', args=[subscription.token])}"
    return subscribe_form(callback, subscription.topic, subscription.secret)


def _want(feed: int, hub: str, topic: str) -> None:
    """Store a wanted subscription with a new token, so that the old hub's callbacks get 410."""
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


def _end(subscription: HubSubscription) -> None:
    subscription.delete()
    _visit_as_others([subscription.feed_id], datetime.now(UTC))


def _visit_as_others(feeds: Sequence[int], now: datetime) -> None:
    """Remove the WebSub floor of these feeds, so that they are visited as usual."""
    waiting = Feed.objects.filter(id__in=feeds, floor=WEBSUB)
    waiting.update(not_before=Least("not_before", now), floor="", floor_detail="")


def _usable(hub: str) -> str:
    """Return the hub's canonical address. Returns "" for an unusable one."""
    try:
        return canonical_url(hub) if hub else ""
    except BadUrl:
        return ""
