"""Visits of feeds: the fetches leased to terminals, and the changes that their harvests make."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from crawler.database.bulk import columns_except, insert_rows, update_rows
from crawler.engine.chosen import chosen
from crawler.engine.ticking import tick_seconds
from crawler.messages import Harvest
from crawler.reading.documents import RetrievedFeed
from crawler.text.marking import gettext_noop
from feeds.addresses import follow_discovery, move_to
from feeds.models import Feed, Retrieval
from feeds.scheduling.floors import FloorLimits
from feeds.visiting import posting
from feeds.visiting.decision import COLUMNS, FeedAnswer, FeedDecision, FeedRow, decide
from feeds.visiting.states import training_policy
from feeds.websub.models import HubSubscription
from feeds.websub.subscriptions import follow_hubs

# What a check-in may change; the rest of the row belongs to people and to the tick.
CHANGED = columns_except(
    Feed, "url", "canonical_url", "host", "category", "added", "renamed", "subscribers", "removed", "phase",
    "training_since", "owner",
)  # fmt: skip
"""Fields of a feed that a visit writes: all but those that people and `feeds.training` change."""


@dataclass(frozen=True, slots=True)
class StoredEntries:
    """The entries that a visit stored: new and edited ones in number, publication times in epoch seconds.

    `articles` are the rows of the new ones, with an article's columns but without primary keys.
    """

    new: int = 0
    edited: int = 0
    published: tuple[float, ...] = ()
    articles: Sequence[Any] = ()


@dataclass(slots=True)
class FeedVisit:
    """A locked feed, the harvest received for it, and the feed's subscription at a hub."""

    feed: Feed
    harvest: Harvest
    lease: uuid.UUID
    previous: float | None
    hub: HubSubscription | None = None
    stored: StoredEntries = StoredEntries()
    expected: float | None = None

    @property
    def found(self) -> RetrievedFeed:
        """The retrieved content; empty if the document is unchanged or the fetch failed."""
        return self.harvest.brought(RetrievedFeed) or RetrievedFeed()

    @property
    def pushed(self) -> bool:
        """True when a hub pushed the content, without a request to the feed's server."""
        return self.harvest.kind == "push"


def open_visits(harvests: Iterable[Harvest], leases: Sequence[uuid.UUID]) -> list[FeedVisit]:
    """Return the visits of harvests whose lease still holds. Drops the others. The caller locks the feeds."""
    harvests_by_feed = {harvest.id: harvest for harvest in harvests}
    feeds = Feed.objects.under(leases).filter(id__in=harvests_by_feed).order_by("id")
    hubs = HubSubscription.objects.in_bulk(list(harvests_by_feed))
    return [
        FeedVisit(
            feed=feed,
            harvest=harvests_by_feed[feed.id],
            lease=feed.lease or uuid.UUID(int=0),
            previous=_last_contact(feed, hubs.get(feed.id)),
            hub=hubs.get(feed.id),
        )
        for feed in feeds
    ]


def _last_contact(feed: Feed, hub: HubSubscription | None) -> float | None:
    """Return the time up to which all articles are known, in epoch seconds.

    It is that of the last visit or of a later push. Returns None before the first visit.
    """
    if feed.last_success is None:
        return None
    pushed = hub.last_push if hub is not None else None
    return max(feed.last_success, pushed or feed.last_success).timestamp()


def settle_visits(visits: Sequence[FeedVisit], *, ours: bool = False) -> None:
    """Write the changes of visits in bulk: feed rows, posting histories and the retrieval log.

    The caller's transaction has stored the articles and set `new`, `edited` and `published`. With `ours`,
    most hosts fail by the network at once, so that failures are not held against the feeds. What changes in
    a row is decided by `feeds.visiting.decision`.
    """
    _learn([visit for visit in visits if not visit.harvest.failure])
    limits = FloorLimits(min_gap=float(chosen("FEED_MIN_GAP_SECONDS")), tick=tick_seconds())
    training = training_policy()
    log: list[Retrieval] = []
    decisions = []
    for visit in visits:
        row = FeedRow(**{name: getattr(visit.feed, name) for name in COLUMNS})
        reply = _answer(visit, is_outage=ours)
        decision = decide(row, reply, limits, training)
        log.append(_log_entry(visit, reply, decision))
        for name, value in decision.changes.items():
            setattr(visit.feed, name, value)
        decisions.append((visit, decision))
    update_rows(Feed, [visit.feed for visit in visits], CHANGED)
    insert_rows(Retrieval, log)
    for visit in visits:
        if visit.pushed and visit.hub is not None and visit.found.document is not None:
            visit.hub.last_push, visit.hub.pushes = _utc(visit.harvest.at), visit.hub.pushes + 1
            visit.hub.save(update_fields=["last_push", "pushes"])
    fetched = [visit for visit in visits if not visit.pushed]
    follow_hubs({visit.feed.id: document for visit in fetched if (document := visit.found.document)})
    for visit, decision in decisions:
        if decision.is_discovered:
            follow_discovery(visit.feed, visit.found.links)
        elif decision.moves_to:
            move_to(visit.feed, decision.moves_to)


def _answer(visit: FeedVisit, *, is_outage: bool) -> FeedAnswer:
    return FeedAnswer(
        visit.harvest,
        visit.stored.new,
        is_outage=is_outage,
        is_pushed=visit.hub is not None and visit.hub.holds(_utc(visit.harvest.at)),
        jitter=random.random(),  # noqa: S311 - spreads retries, keeps no secret
    )


def _learn(visits: Sequence[FeedVisit]) -> None:
    """Enter new articles into the posting histories, and note the expected number of articles.

    A first visit has no visit before it, so its period begins at the document's oldest entry.
    """
    watched = [(visit, _watched_since(visit)) for visit in visits]
    dated = [(visit, since) for visit, since in watched if since is not None]
    if not dated:
        return
    expected = posting.observe(
        [visit.feed.id for visit, _ in dated],
        [since for _, since in dated],
        [visit.harvest.at for visit, _ in dated],
        [visit.stored.new if visit.previous else len(visit.stored.published) - 1 for visit, _ in dated],
        [visit.stored.published for visit, _ in dated],
        first=[visit.previous is None for visit, _ in dated],
    )
    for (visit, _), articles in zip(dated, expected.tolist(), strict=True):
        visit.expected = articles if visit.previous else None


def _watched_since(visit: FeedVisit) -> float | None:
    """Return the time since which the harvest shows every post, in epoch seconds.

    Returns None when neither a previous visit nor published times tell.
    """
    if visit.previous is not None:
        return visit.previous
    return min(visit.stored.published) if len(visit.stored.published) > 1 else None


def _log_entry(visit: FeedVisit, reply: FeedAnswer, decision: FeedDecision) -> Retrieval:
    """Return the retrieval's line in the log. The feed is still as it was before the visit."""
    harvest = visit.harvest
    is_trained = decision.toe is not None
    return Retrieval(
        feed_id=visit.feed.id,
        lease=visit.lease,
        at=reply.at,
        outcome=reply.outcome,
        status=harvest.status,
        failure=harvest.failure,
        detail=harvest.detail[:1000],
        new=visit.stored.new,
        edited=visit.stored.edited,
        bytes=harvest.bytes,
        elapsed=harvest.elapsed,
        conditional=harvest.conditional,
        because=gettext_noop("pushed by its hub") if visit.pushed else visit.feed.selected_because,
        pushed=visit.pushed,
        expected=visit.expected,
        m=decision.changes["training_m"] if is_trained else None,
        t=decision.changes["training_t"] if is_trained else None,
        toe=decision.toe,
    )


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
