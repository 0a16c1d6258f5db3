"""The update rule of feeds: what an answer changes in a feed's row, when, and why. Pure.

`decide` takes what matters of the old row, and the answer, whose time is the decision's. It returns the new
values of the columns that change. `feeds.visiting.visits` reads rows, draws lots and writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec.structs import asdict

from crawler.failures import Failure
from crawler.messages import Harvest
from crawler.reading.documents import Disagreement, FeedDocument, RetrievedFeed
from crawler.reading.sources.kinds import SITEMAP, SITEMAP_FORMATS
from crawler.text.characters import indexable, storable
from feeds.rules import stored_rules
from feeds.scheduling.floors import FloorLimits, VisitOutcome, floor
from feeds.scheduling.redirects import should_move
from feeds.scheduling.skips import hour_bits
from feeds.scheduling.training import AdvarssTraining, after_retrieval, due_at

MAX_DISAGREEMENTS = 10
"""Disagreements of a second reader that are kept of a feed."""
MAX_WORDS = 300
"""Characters that are kept of one reader's reading."""

Outcome = Literal["failed", "not-modified", "same-body", "new", "nothing-new"]
"""The outcomes of `feeds.models.Retrieval`."""
Changes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FeedRow:
    """The columns of a feed that decide what an answer changes, as they were before it."""

    phase: str = "training"
    title: str = ""
    renamed: bool = False
    etag: str = ""
    last_modified: str = ""
    last_attempt: datetime | None = None
    last_success: datetime | None = None
    unchanged_streak: int = 0
    failure_streak: int = 0
    failing_since: datetime | None = None
    ttl: float | None = None
    update_period: float | None = None
    skip_hours: Sequence[int] = ()
    skip_days: Sequence[int] = ()
    moved_to: str = ""
    moved_count: int = 0
    moved_since: datetime | None = None
    training_m: float = 4.0
    training_t: float = 1.0

    def after(self, changes: Changes) -> FeedRow:
        """Return the row with those of the changes that it has columns for."""
        return replace(self, **{name: changes[name] for name in COLUMNS if name in changes})


COLUMNS = tuple(field.name for field in fields(FeedRow))


@dataclass(frozen=True, slots=True)
class FeedAnswer:
    """An answer: its harvest, the number of `new` articles in it, and what else was the case at that time.

    `is_outage`: most hosts failed by the network at once. `is_pushed`: a hub pushes the feed's articles.
    `jitter` is a uniform draw in [0, 1), which spreads retries.
    """

    harvest: Harvest
    new: int = 0
    is_outage: bool = False
    is_pushed: bool = False
    jitter: float = 0.5

    @property
    def content(self) -> RetrievedFeed:
        """The retrieved content; empty if the document is unchanged or the fetch failed."""
        return self.harvest.brought(RetrievedFeed) or RetrievedFeed()

    @property
    def at(self) -> datetime:
        """The time of the answer."""
        return datetime.fromtimestamp(self.harvest.at, UTC)

    @property
    def outcome(self) -> Outcome:
        """The outcome in the log of retrievals."""
        if self.harvest.failure:
            return "failed"
        if self.harvest.status == 304:
            return "not-modified"
        if self.harvest.unchanged:
            return "same-body"
        return "new" if self.new else "nothing-new"


@dataclass(frozen=True, slots=True)
class FeedDecision:
    """The columns that an answer changes, with their values, and the reason: a failure's code or the outcome.

    `toe` is ToE in ticks while training. The feed then moves to `moves_to`, or with `is_discovered` to the
    first usable feed that the retrieved page names.
    """

    reason: str
    changes: Mapping[str, Any]
    toe: int | None = None
    moves_to: str = ""
    is_discovered: bool = False


def decide(row: FeedRow, reply: FeedAnswer, limits: FloorLimits, training: AdvarssTraining) -> FeedDecision:
    """Return what an answer changes in a feed's row, and the reason."""
    harvest = reply.harvest
    # No request was made: neither the failures nor the schedule of the feed's own server are touched.
    if harvest.kind == "push":
        return FeedDecision(harvest.failure or reply.outcome, {"lease": None} | _after_push(reply))
    changes = _after_failure(row, reply) if harvest.failure else _after_success(row, reply)
    changes |= _next_visit(row, row.after(changes), reply, limits)
    changes |= {"last_attempt": reply.at}
    changes |= {"lease": None, "losses": 0, "selected_at": None, "selected_because": ""}
    if harvest.failure:
        # Only before the first success: a feed that became a page is broken, and must not silently be another
        # one.
        is_page = harvest.failure == Failure.NOT_A_FEED and bool(reply.content.links)
        is_discovered = is_page and row.last_success is None
        return FeedDecision(harvest.failure, changes, is_discovered=is_discovered)
    toe = None
    if row.phase == "training":
        m, t, ticks = after_retrieval(row.training_m, row.training_t, reply.new > 0)
        due = float(due_at(harvest.at, ticks, training.tick, training.max_ticks))
        changes |= {"training_m": float(m), "training_t": float(t), "training_due": _utc(due)}
        toe = int(ticks)
    return FeedDecision(reply.outcome, changes, toe, moves_to=_believed_redirect(row.after(changes), reply))


def _after_push(reply: FeedAnswer) -> Changes:
    """Return what a push changes. Visits continue as selected, because a hub may miss articles."""
    if reply.content.document is None:
        return {}
    news = {"last_new": reply.at} if reply.new else {}
    return {"fingerprints": reply.content.document.fingerprints} | news


def _after_failure(row: FeedRow, reply: FeedAnswer) -> Changes:
    """Return what a failure changes: everything learned stays, and a list found anew is proposed."""
    harvest, content = reply.harvest, reply.content
    changes: Changes = {"failure": harvest.failure, "failure_detail": harvest.detail[:1000]}
    # An outage on our side would otherwise back off every feed for hours.
    if not _is_blameless(reply):
        changes["failure_streak"] = row.failure_streak + 1
        # The first failure counts, as 404 means something else after two weeks.
        changes["failing_since"] = row.failing_since or reply.at
    if content.proposal is not None:
        changes["proposed"] = stored_rules(content.proposal)
    # A feed that once worked is a person's choice: another address is proposed, not taken.
    elif content.links and row.last_success is not None:
        changes["proposed"] = {"url": content.links[0].url}
    return changes


def _is_blameless(reply: FeedAnswer) -> bool:
    """Return whether the failure is likely our network's, so that it is not held against the feed."""
    failure = reply.harvest.failure
    return bool(failure) and Failure.of(failure).ours and reply.is_outage


def _after_success(row: FeedRow, reply: FeedAnswer) -> Changes:
    harvest, content = reply.harvest, reply.content
    changes = _description(row, content.document) if content.document is not None else {}
    if content.opinion is not None:
        changes |= {"opinion": _stored_opinion(content.opinion), "opinion_at": reply.at}
    # A 304 may renew a validator, or leave it out: then the stored one holds on.
    if harvest.status == 304:
        changes["etag"] = harvest.etag or row.etag
        changes["last_modified"] = harvest.last_modified or row.last_modified
    else:
        validators = ("etag", "last_modified", "body_hash")
        changes |= {name: getattr(harvest, name) for name in validators}
    if reply.new:
        changes["last_new"] = reply.at
    changes |= {
        "last_success": reply.at,
        "unchanged_streak": 0 if reply.new else row.unchanged_streak + 1,
        "failure_streak": 0,
        # One success ends the streak, so that a flaky server is not backed off for days.
        "failing_since": None,
        "failure": "",
        "failure_detail": "",
        "proposed": {},
    }
    if content.proposal is not None:  # the list that was found at the first visit
        changes["rules"] = stored_rules(content.proposal)
    return changes | _redirect(row, reply)


def _description(row: FeedRow, document: FeedDocument) -> Changes:
    """Return the document's description of its feed."""
    copied = ("site_url", "description", "language", "format", "hub", "icon", "image", "ttl", "update_period")
    return {
        **{name: getattr(document, name) for name in copied},
        **({"kind": SITEMAP} if document.format in SITEMAP_FORMATS else {}),  # it was added as a feed
        # A name that a person gave stays; a document without title keeps the last one.
        "title": row.title if row.renamed else indexable(document.title) or row.title,
        # A feed that skips every hour or day cannot mean it.
        "skip_hours": list(document.skip_hours) if hour_bits(document.skip_hours) else [],
        "skip_days": list(document.skip_days) if len(set(document.skip_days)) < 7 else [],
        "document_size": document.size,
        "fingerprints": document.fingerprints,
    }


def _stored_opinion(opinion: Sequence[Disagreement]) -> list[dict[str, str]]:
    """Return disagreements as the feed's row keeps them."""
    return [
        {name: storable(text, MAX_WORDS) for name, text in asdict(point).items()}
        for point in opinion[:MAX_DISAGREEMENTS]
    ]


def _redirect(row: FeedRow, reply: FeedAnswer) -> Changes:
    """Count consecutive answers that redirect permanently to the same address."""
    target = reply.harvest.moved_to
    if target == row.moved_to:
        return {"moved_count": row.moved_count + bool(target)}
    return {
        "moved_to": target, "moved_count": int(bool(target)), "moved_since": reply.at if target else None
    }  # fmt: skip


def _believed_redirect(row: FeedRow, reply: FeedAnswer) -> str:
    """Return the address that the feed moves to, "" while its redirect is not believed."""
    since = row.moved_since
    is_believed = since and should_move(row.moved_count, since.timestamp(), reply.harvest.at)
    return row.moved_to if is_believed else ""


def _next_visit(old: FeedRow, row: FeedRow, reply: FeedAnswer, limits: FloorLimits) -> Changes:
    """Return the time of the earliest next visit and the rule behind it; a feed that is gone gets none."""
    harvest = reply.harvest
    bound = floor(
        VisitOutcome(
            at=harvest.at,
            status=harvest.status,
            failure=harvest.failure,
            ours=_is_blameless(reply),
            retry_after=harvest.retry_after,
            max_age=harvest.max_age,
            ttl=row.ttl,
            update_period=row.update_period,
            skip_hours=tuple(row.skip_hours),
            skip_days=tuple(row.skip_days),
            # Measured and not planned: doubling starts from how often the server was really asked.
            interval=harvest.at - old.last_attempt.timestamp() if old.last_attempt else 0.0,
            validators=bool(row.etag or row.last_modified),
            unchanged_streak=row.unchanged_streak,
            failure_streak=row.failure_streak,
            failing_since=row.failing_since.timestamp() if row.failing_since else None,
            jitter=reply.jitter,
            pushed=reply.is_pushed,
        ),
        limits,
    )
    when = {"status": "gone"} if bound.stop else {"not_before": _utc(bound.not_before)}
    return {"floor": bound.code, "floor_detail": bound.reason} | when


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
