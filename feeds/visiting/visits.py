"""Visits of feeds: the fetches leased to terminals, and the changes that their harvests make."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from msgspec.structs import asdict

from crawler.database.bulk import columns_except, insert_rows, update_rows
from crawler.engine.ticking import tick_seconds
from crawler.failures import Failure
from crawler.messages import Harvest
from crawler.reading.documents import Disagreement, FeedDocument, RetrievedFeed
from crawler.reading.sources.kinds import SITEMAP, SITEMAP_FORMATS
from crawler.text.characters import indexable, storable
from crawler.text.marking import gettext_noop
from feeds.addresses import follow_discovery, move_to
from feeds.models import Feed, Retrieval
from feeds.rules import stored_rules
from feeds.scheduling.floors import FloorLimits, VisitOutcome, floor
from feeds.scheduling.redirects import should_move
from feeds.scheduling.skips import hour_bits
from feeds.scheduling.training import after_retrieval, due_at
from feeds.visiting import posting
from feeds.visiting.states import training_policy
from feeds.websub.models import HubSubscription
from feeds.websub.subscriptions import follow_hubs

# What a check-in may change; the rest of the row belongs to people and to the tick.
CHANGED = columns_except(
    Feed, "url", "canonical_url", "host", "category", "added", "renamed", "subscribers", "removed", "phase",
    "training_since", "owner",
)  # fmt: skip
"""Fields of a feed that a visit writes: all but those that people and `feeds.training` change."""

MAX_DISAGREEMENTS = 10
"""Disagreements of a second reader that are kept of a feed."""
MAX_WORDS = 300
"""Characters that are kept of one reader's reading."""


@dataclass(frozen=True, slots=True)
class StoredEntries:
    """The entries that a visit stored: new and edited ones in number, publication times in epoch seconds."""

    new: int = 0
    edited: int = 0
    published: tuple[float, ...] = ()


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
    most hosts fail by the network at once, so that failures are not held against the feeds.
    """
    _learn([visit for visit in visits if not visit.harvest.failure])
    log: list[Retrieval] = []
    for visit in visits:
        toe = None
        if visit.pushed:
            _take_push(visit)
        elif visit.harvest.failure:
            _failed(visit, ours)
        else:
            toe = _succeeded(visit)
        log.append(_log_entry(visit, toe))
        _release(visit)
    update_rows(Feed, [visit.feed for visit in visits], CHANGED)
    insert_rows(Retrieval, log)
    fetched = [visit for visit in visits if not visit.pushed]
    follow_hubs({visit.feed.id: document for visit in fetched if (document := visit.found.document)})
    for visit in fetched:
        _change_address(visit)


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


def _succeeded(visit: FeedVisit) -> int | None:
    """Update the feed after a successful fetch. Returns ToE in ticks while training, else None."""
    feed, harvest = visit.feed, visit.harvest
    at = _utc(harvest.at)
    if visit.found.document is not None:
        _describe(feed, visit.found.document)
    if visit.found.opinion is not None:
        feed.opinion, feed.opinion_at = _stored_opinion(visit.found.opinion), at
    if harvest.status != 304:
        feed.etag, feed.last_modified, feed.body_hash = harvest.etag, harvest.last_modified, harvest.body_hash
    else:
        feed.etag = harvest.etag or feed.etag
        feed.last_modified = harvest.last_modified or feed.last_modified
    feed.last_success = at
    feed.last_new = at if visit.stored.new else feed.last_new
    feed.unchanged_streak = 0 if visit.stored.new else feed.unchanged_streak + 1
    feed.failure_streak, feed.failing_since, feed.failure, feed.failure_detail = 0, None, "", ""
    feed.proposed = {}
    if visit.found.proposal is not None:  # the list that was found at the first visit
        feed.rules = stored_rules(visit.found.proposal)
    _watch_redirect(feed, harvest)
    _set_floor(visit, ours=False)
    feed.last_attempt = at
    return _train(visit) if feed.phase == Feed.Phase.TRAINING else None


def _take_push(visit: FeedVisit) -> None:
    """Update the feed after a push. Visits continue, because a hub may miss articles."""
    feed, harvest, document = visit.feed, visit.harvest, visit.found.document
    if document is None:
        return
    feed.fingerprints = document.fingerprints
    feed.last_new = _utc(harvest.at) if visit.stored.new else feed.last_new
    if visit.hub is not None:
        visit.hub.last_push = _utc(harvest.at)
        visit.hub.pushes += 1
        visit.hub.save(update_fields=["last_push", "pushes"])


def _train(visit: FeedVisit) -> int:
    feed, policy = visit.feed, training_policy()
    m, t, toe = after_retrieval(feed.training_m, feed.training_t, visit.stored.new > 0)
    feed.training_m, feed.training_t = float(m), float(t)
    feed.training_due = _utc(float(due_at(visit.harvest.at, toe, policy.tick, policy.max_ticks)))
    return int(toe)


def _failed(visit: FeedVisit, ours: bool) -> None:
    """Update the feed after a failure: keep everything learned, and delay the next attempt."""
    feed, harvest = visit.feed, visit.harvest
    at = _utc(harvest.at)
    kind = Failure.of(harvest.failure)
    blameless = ours and kind.ours
    if not blameless:
        feed.failure_streak += 1
        feed.failing_since = feed.failing_since or at
    feed.failure, feed.failure_detail = harvest.failure, harvest.detail[:1000]
    if visit.found.proposal is not None:
        feed.proposed = stored_rules(visit.found.proposal)
    elif visit.found.links and feed.last_success is not None:
        feed.proposed = {"url": visit.found.links[0].url}
    _set_floor(visit, ours=blameless)
    feed.last_attempt = at


def _set_floor(visit: FeedVisit, *, ours: bool) -> None:
    feed, harvest = visit.feed, visit.harvest
    new_floor = floor(
        VisitOutcome(
            at=harvest.at,
            status=harvest.status,
            failure=harvest.failure,
            ours=ours,
            retry_after=harvest.retry_after,
            max_age=harvest.max_age,
            ttl=feed.ttl,
            update_period=feed.update_period,
            skip_hours=tuple(feed.skip_hours),
            skip_days=tuple(feed.skip_days),
            interval=harvest.at - feed.last_attempt.timestamp() if feed.last_attempt else 0.0,
            validators=feed.validators,
            unchanged_streak=feed.unchanged_streak,
            failure_streak=feed.failure_streak,
            failing_since=feed.failing_since.timestamp() if feed.failing_since else None,
            jitter=random.random(),  # noqa: S311 - spreads retries, keeps no secret
            pushed=visit.hub is not None and visit.hub.holds(_utc(harvest.at)),
        ),
        FloorLimits(min_gap=float(settings.FEED_MIN_GAP_SECONDS), tick=tick_seconds()),
    )
    feed.floor, feed.floor_detail = new_floor.code, new_floor.reason
    if new_floor.stop:
        feed.status = Feed.Status.GONE
    else:
        feed.not_before = _utc(new_floor.not_before)


def _describe(feed: Feed, document: FeedDocument) -> None:
    """Copy the document's description of its feed."""
    feed.title = feed.title if feed.renamed else indexable(document.title) or feed.title
    feed.site_url, feed.description, feed.language = (
        document.site_url,
        document.description,
        document.language,
    )
    feed.format, feed.hub = document.format, document.hub
    if document.format in SITEMAP_FORMATS:  # its address was added as that of a feed
        feed.kind = SITEMAP
    feed.icon, feed.image = document.icon, document.image
    feed.ttl, feed.update_period = document.ttl, document.update_period
    # A feed that skips every hour or day cannot mean it.
    feed.skip_hours = list(document.skip_hours) if hour_bits(document.skip_hours) else []
    feed.skip_days = list(document.skip_days) if len(set(document.skip_days)) < 7 else []
    feed.document_size, feed.fingerprints = document.size, document.fingerprints


def _stored_opinion(opinion: Sequence[Disagreement]) -> list[dict[str, str]]:
    """Return disagreements as the feed's row keeps them."""
    return [
        {name: storable(text, MAX_WORDS) for name, text in asdict(point).items()}
        for point in opinion[:MAX_DISAGREEMENTS]
    ]


def _watch_redirect(feed: Feed, harvest: Harvest) -> None:
    """Count consecutive responses that redirect permanently to the same address."""
    if harvest.moved_to != feed.moved_to:
        feed.moved_to, feed.moved_count = harvest.moved_to, 0
        feed.moved_since = _utc(harvest.at) if harvest.moved_to else None
    feed.moved_count += bool(harvest.moved_to)


def _change_address(visit: FeedVisit) -> None:
    """Rewrite the address after a believed redirect, or to the feed named by a page."""
    feed, harvest = visit.feed, visit.harvest
    if harvest.failure == Failure.NOT_A_FEED and visit.found.links and feed.last_success is None:
        follow_discovery(feed, visit.found.links)
    elif (
        not harvest.failure
        and feed.moved_since
        and should_move(feed.moved_count, feed.moved_since.timestamp(), harvest.at)
    ):
        move_to(feed, feed.moved_to)


def _release(visit: FeedVisit) -> None:
    feed = visit.feed
    feed.lease = None
    if not visit.pushed:  # else a visit that was selected still comes
        feed.losses = 0
        feed.selected_at = None
        feed.selected_because = ""


def _log_entry(visit: FeedVisit, toe: int | None) -> Retrieval:
    feed, harvest = visit.feed, visit.harvest
    training = toe is not None
    return Retrieval(
        feed_id=feed.id,
        lease=visit.lease,
        at=_utc(harvest.at),
        outcome=_outcome(visit),
        status=harvest.status,
        failure=harvest.failure,
        detail=harvest.detail[:1000],
        new=visit.stored.new,
        edited=visit.stored.edited,
        bytes=harvest.bytes,
        elapsed=harvest.elapsed,
        conditional=harvest.conditional,
        because=gettext_noop("pushed by its hub") if visit.pushed else feed.selected_because,
        pushed=visit.pushed,
        expected=visit.expected,
        m=feed.training_m if training else None,
        t=feed.training_t if training else None,
        toe=toe,
    )


def _outcome(visit: FeedVisit) -> Retrieval.Outcome:
    harvest = visit.harvest
    if harvest.failure:
        return Retrieval.Outcome.FAILED
    if harvest.status == 304:
        return Retrieval.Outcome.NOT_MODIFIED
    if harvest.unchanged:
        return Retrieval.Outcome.SAME_BODY
    return Retrieval.Outcome.NEW if visit.stored.new else Retrieval.Outcome.NOTHING_NEW


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
