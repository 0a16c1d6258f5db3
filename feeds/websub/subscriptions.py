"""Subscriptions at hubs: wanted where a feed names one, asked for, confirmed, renewed, given up."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest, Least
from django.urls import reverse

from crawler.engine.leased import Room, lose_rows, lost
from crawler.engine.models import Host
from crawler.http.urls import BadUrl, canonical_url, host_key
from crawler.messages import Assignment, Harvest
from crawler.reading.documents import FeedDocument
from feeds.models import Feed
from feeds.scheduling.floors import WEBSUB
from feeds.websub.models import HubSubscription, new_secret, new_token
from feeds.websub.protocol import lease_seconds, renew_after, retry_after, subscribe_form

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


def lease_hubs(
    leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], now: datetime
) -> dict[int, list[Assignment]]:
    """Put due requests under the leases of the hubs' hosts: at most `room` of a host.

    The next request is planned here, so that one that is lost, or never confirmed, is repeated.
    """
    taken: dict[int, list[Assignment]] = {}
    if not settings.PUBLIC_URL:
        return taken
    due = HubSubscription.objects.due(now).filter(host__in=leases)
    due = due.order_by(Least("losses", 1), "not_before", "feed_id")
    for one in due.select_for_update(skip_locked=True, of=("self",)):
        assigned, left = taken.setdefault(one.host_id, []), room[one.host_id]
        suspect = one.losses > 0
        if len(assigned) >= left.places or (suspect and (assigned or not left.empty)):
            continue
        one.lease, one.asked = leases[one.host_id], now
        one.attempts += 1
        one.not_before = now + timedelta(seconds=retry_after(one.attempts))
        one.state = one.state if one.state == State.ACTIVE else State.ASKED
        one.save(update_fields=["lease", "asked", "attempts", "not_before", "state"])
        form = subscribe_form(callback_address(one), one.topic, one.secret)
        assigned.append(Assignment("hub", one.feed_id, one.hub, content=form, suspect=suspect))
    return {host: assigned for host, assigned in taken.items() if assigned}


def due(now: datetime) -> QuerySet[HubSubscription]:
    """Requests that wait only for the hub's host to be free."""
    rows = HubSubscription.objects.due(now)
    return rows if settings.PUBLIC_URL else rows.none()


def check_in_hubs(harvests: Iterable[Harvest], leases: Sequence[uuid.UUID]) -> None:
    """Write down what hubs answered; the confirmation comes by itself, before or after."""
    brought = {harvest.id: harvest for harvest in harvests}
    if not brought:
        return
    rows = HubSubscription.objects.select_for_update().filter(feed__in=brought, lease__in=leases)
    for one in rows.order_by("feed_id"):
        harvest = brought[one.feed_id]
        one.lease, one.losses = None, 0
        one.detail = f"{harvest.failure}: {harvest.detail}"[:1000] if harvest.failure else ""
        if harvest.retry_after:
            wait = timedelta(seconds=min(harvest.retry_after, 30 * 86_400))
            one.not_before = max(one.not_before, datetime.fromtimestamp(harvest.at, UTC) + wait)
        one.save(update_fields=["lease", "losses", "detail", "not_before"])


def release_hubs(leases: Sequence[uuid.UUID]) -> int:
    """Give back requests that were not made: they are due again, and no attempt is counted."""
    attempts = Greatest(F("attempts") - 1, 0)
    out = HubSubscription.objects.filter(lease__in=leases)
    return out.update(lease=None, not_before=datetime.now(UTC), attempts=attempts)


def lose_hubs(leases: Sequence[uuid.UUID], now: datetime) -> list[Harvest]:
    """Take back requests whose lease was lost, due again; failures of those that lost too many."""
    out = list(HubSubscription.objects.filter(lease__in=leases).values_list("pk", flat=True))
    rows = HubSubscription.objects.filter(pk__in=lose_rows(HubSubscription, leases))
    HubSubscription.objects.filter(pk__in=out, lease=None).update(not_before=now)
    return [lost("hub", one.feed_id, one.hub, now) for one in rows]


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


def callback_address(one: HubSubscription) -> str:
    """Where the hub reaches us."""
    return f"{settings.PUBLIC_URL}{reverse('websub', args=[one.token])}"


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
