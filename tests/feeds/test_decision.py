"""The update rule of feeds, one branch each, without a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from crawler.messages import Harvest
from crawler.reading.documents import FeedDocument, FeedLink, RetrievedFeed, SourceRules
from feeds.models import Feed, Retrieval
from feeds.scheduling.floors import FloorLimits
from feeds.scheduling.training import AdvarssTraining
from feeds.visiting.decision import COLUMNS, FeedAnswer, FeedDecision, FeedRow, Outcome, decide

AT = datetime(2026, 1, 5, 10, 20, tzinfo=UTC)
EARLIER = AT - timedelta(hours=2)
NORMAL = FeedRow(phase="normal", title="Old", etag='"1"', last_attempt=EARLIER, last_success=EARLIER)
LINK = FeedLink("https://site.example/feed")
RULES = SourceRules(entry="li")


def decided(
    row: FeedRow, *, new: int = 0, outage: bool = False, hub: bool = False, **said: Any
) -> FeedDecision:
    """The decision about an answer at AT."""
    values = {"kind": "feed", "status": 200, **said}
    harvest = Harvest(id=1, at=AT.timestamp(), url="https://site.example/", **values)
    answer = FeedAnswer(harvest, new, is_outage=outage, is_pushed=hub, jitter=0.0)
    return decide(row, answer, FloorLimits(), AdvarssTraining())


def seconds_until_next(decision: FeedDecision) -> float:
    return float((decision.changes["not_before"] - AT).total_seconds())


def test_its_words_are_those_of_the_database() -> None:
    assert set(get_args(Outcome)) == set(Retrieval.Outcome.values)
    assert set(COLUMNS) <= {field.name for field in Feed._meta.get_fields()}
    assert {Feed.Phase.TRAINING.value, Feed.Status.GONE.value} == {"training", "gone"}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"new": 2}, "new"),
        ({}, "nothing-new"),
        ({"unchanged": True}, "same-body"),
        ({"unchanged": True, "status": 304}, "not-modified"),
        ({"failure": "http-500", "status": 500}, "http-500"),
        ({"kind": "push", "new": 1}, "new"),
    ],
)
def test_the_reason_is_the_failure_or_the_outcome(said: dict[str, Any], reason: str) -> None:
    assert decided(NORMAL, **said).reason == reason


def test_every_visit_ends_its_lease_and_its_selection() -> None:
    for said in ({}, {"failure": "dns", "status": 0}):
        changes = decided(NORMAL, **said).changes
        ended = {name: changes[name] for name in ("lease", "losses", "selected_at", "selected_because")}
        assert ended == {"lease": None, "losses": 0, "selected_at": None, "selected_because": ""}
        assert changes["last_attempt"] == AT


@pytest.mark.parametrize(("new", "streak"), [(1, 0), (0, 4)])
def test_a_success_ends_failures_and_counts_answers_without_news(new: int, streak: int) -> None:
    row = replace(NORMAL, unchanged_streak=3, failure_streak=2, failing_since=EARLIER)
    changes = decided(row, new=new).changes
    assert (changes["unchanged_streak"], changes["failure_streak"]) == (streak, 0)
    assert (changes["failing_since"], changes["last_success"]) == (None, AT)
    assert changes.get("last_new") == (AT if new else None)


@pytest.mark.parametrize(("status", "etag", "kept"), [(200, "", ""), (304, "", '"1"'), (304, '"2"', '"2"')])
def test_a_304_keeps_the_validators_that_it_does_not_repeat(status: int, etag: str, kept: str) -> None:
    changes = decided(NORMAL, status=status, etag=etag).changes
    assert (changes["etag"], "body_hash" in changes) == (kept, status == 200)


@pytest.mark.parametrize(
    ("failure", "outage", "changed"),
    [
        ("dns", False, {"failure_streak": 3, "failing_since": EARLIER, "floor": "back-off"}),
        ("dns", True, {"floor": "ours"}),
        ("malformed", True, {"failure_streak": 3, "failing_since": EARLIER, "floor": "back-off"}),
    ],
)
def test_a_failure_of_our_network_is_not_held_against_a_feed(
    failure: str, outage: bool, changed: dict[str, Any]
) -> None:
    row = replace(NORMAL, failure_streak=2, failing_since=EARLIER)
    changes = decided(row, outage=outage, failure=failure).changes
    names = ("failure_streak", "failing_since", "floor")
    assert {name: changes[name] for name in names if name in changes} == changed
    assert changes["failure"] == failure


def test_a_first_failure_begins_the_time_of_failing() -> None:
    changes = decided(NORMAL, failure="dns").changes
    assert (changes["failure_streak"], changes["failing_since"]) == (1, AT)


@pytest.mark.parametrize(
    ("last_success", "content", "proposed", "is_discovered"),
    [
        (EARLIER, RetrievedFeed(proposal=RULES), {"entry": "li"}, False),
        (EARLIER, RetrievedFeed(links=(LINK,)), {"url": LINK.url}, False),
        (None, RetrievedFeed(links=(LINK,)), None, True),
        (None, RetrievedFeed(), None, False),
    ],
)
def test_a_page_in_the_place_of_a_feed_proposes_or_replaces_it(
    last_success: datetime | None,
    content: RetrievedFeed,
    proposed: dict[str, str] | None,
    is_discovered: bool,
) -> None:
    row = replace(NORMAL, last_success=last_success)
    decision = decided(row, failure="not-a-feed", payload=content)
    assert (decision.changes.get("proposed"), decision.is_discovered) == (proposed, is_discovered)


def test_a_410_ends_the_visits() -> None:
    changes = decided(NORMAL, failure="gone", status=410).changes
    assert (changes["status"], changes["floor"], "not_before" in changes) == ("gone", "gone", False)


def test_the_document_describes_its_feed_but_keeps_a_name_given_by_people() -> None:
    content = RetrievedFeed(
        FeedDocument("sitemap", "New", skip_hours=tuple(range(24)), skip_days=(6,), ttl=900.0)
    )
    changes = decided(NORMAL, payload=content).changes
    assert (changes["title"], changes["kind"]) == ("New", "sitemap")
    assert (changes["skip_hours"], changes["skip_days"]) == ([], [6])
    assert (changes["floor"], seconds_until_next(decided(NORMAL, payload=content))) == ("ttl", 900)
    assert decided(replace(NORMAL, renamed=True), payload=content).changes["title"] == "Old"
    assert decided(NORMAL, payload=RetrievedFeed(proposal=RULES)).changes["rules"] == {"entry": "li"}


@pytest.mark.parametrize(
    ("moved_to", "count", "since", "counted", "moves_to"),
    [
        ("", 0, None, 1, ""),
        ("/b", 4, AT - timedelta(days=4), 1, ""),
        ("/a", 1, AT - timedelta(days=4), 2, ""),
        ("/a", 4, AT - timedelta(days=1), 5, ""),
        ("/a", 4, AT - timedelta(days=4), 5, "/a"),
    ],
)
def test_a_redirect_is_believed_after_five_answers_in_three_days(
    moved_to: str, count: int, since: datetime | None, counted: int, moves_to: str
) -> None:
    row = replace(NORMAL, moved_to=moved_to, moved_count=count, moved_since=since)
    decision = decided(row, moved_to="/a")
    assert (decision.changes["moved_count"], decision.moves_to) == (counted, moves_to)
    assert decision.changes.get("moved_since", since) == (since if moved_to == "/a" else AT)
    assert decided(row).changes["moved_count"] == 0


def test_only_a_success_in_training_moves_toe() -> None:
    training = replace(NORMAL, phase="training")
    decision = decided(training, new=1)
    assert (decision.toe, decision.changes["training_m"], decision.changes["training_t"]) == (2, 1.6, 1.0)
    assert decision.changes["training_due"] == AT + timedelta(seconds=1.5 * 600)
    for other in (decided(training, failure="dns"), decided(NORMAL, new=1), decided(training, kind="push")):
        assert other.toe is None
        assert "training_m" not in other.changes


def test_a_push_leaves_a_selected_visit_as_it_is() -> None:
    content = RetrievedFeed(FeedDocument("rss20", fingerprints=b"1"))
    changes = decided(NORMAL, kind="push", new=1, payload=content).changes
    assert changes == {"lease": None, "fingerprints": b"1", "last_new": AT}
    assert decided(NORMAL, kind="push", failure="malformed").changes == {"lease": None}


def test_a_feed_that_a_hub_pushes_is_visited_daily() -> None:
    assert decided(NORMAL, hub=True).changes["floor"] == "websub"
