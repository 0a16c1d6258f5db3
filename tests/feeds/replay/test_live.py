"""The live controller, driven over a trace with a simulated clock, picks what the replay picks."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils.translation import override

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out
from crawler.messages import Assignment, Batch, Harvest, Report
from crawler.web.sentences import translated
from feeds.models import Feed, Tick
from feeds.replay.setup import Setup
from feeds.replay.simulation import Selection, simulate
from feeds.replay.trace import Trace
from feeds.scheduling.registry import make_policy
from feeds.visiting import planning
from feeds.visiting.priors import default_prior
from feeds.visiting.ticks import tick
from tests.factories import make_feed
from tests.feeds.replay.traces import DAY, invented
from tests.harvests import entry, found, unchanged

pytestmark = pytest.mark.django_db
DAYS = 3
SETUP = Setup(budget=0.5, tick=3600.0, train_days=0, prior=default_prior())


class Terminal:
    """Answers as the feeds of a trace would have at that time: scripted, without any network."""

    def __init__(self, trace: Trace) -> None:
        self._news: dict[int, list[float]] = defaultdict(list)
        for owner, published in zip(trace.owner.tolist(), trace.published.tolist(), strict=True):
            self._news[owner].append(published)

    def serve(self, batch: Batch, now: float, numbers: dict[int, int]) -> Report:
        harvests = [self._harvest(assignment, now, numbers) for assignment in batch.assignments]
        return Report(batch.host, batch.lease, tuple(harvests))

    def _harvest(self, assignment: Assignment, now: float, numbers: dict[int, int]) -> Harvest:
        feed = numbers[assignment.id]
        posted = [time for time in self._news[feed] if time <= now]
        if not posted:
            return unchanged(assignment, at=now)
        entries = [entry(1000 * feed + i, published=time, url="") for i, time in enumerate(posted)]
        return found(assignment, *entries, at=now)


def live(trace: Trace) -> list[tuple[float, list[int]]]:
    """The same ticks by the controller: what each selected, best first."""
    begin = datetime.fromtimestamp(trace.start, UTC)
    feeds = [
        make_feed(f"https://feed{number:03}.example/", phase="normal", last_success=begin, not_before=begin)
        for number in range(len(trace.feeds))
    ]
    numbers = {feed.id: number for number, feed in enumerate(feeds)}
    terminal, picked = Terminal(trace), []
    last = max(trace.published)
    now = trace.start
    while now <= last + SETUP.tick:
        clock = datetime.fromtimestamp(now, UTC)
        if planning.claim(clock):
            planning.plan(clock)
        assert tick(clock) is not None
        chosen = Feed.objects.filter(selected_at=clock)
        order = sorted(chosen, key=lambda feed: int(feed.selected_because.split()[1]))
        picked.append((now, [numbers[feed.id] for feed in order]))
        while batches := hand_out(clock):
            check_in([terminal.serve(batch, now, numbers) for batch in batches])
        now += SETUP.tick
    return picked


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("advarss", "new articles expected"),
        ("freshness", "delay index"),
        ("round-robin", "last retrieved 2 hours ago"),
    ],
)
@pytest.mark.django_db
def test_the_reason_of_a_visit_is_the_number_that_ranked_it(policy: str, words: str, settings: Any) -> None:
    """Under advaRSS the weekly forecast stood there, and feeds of "0.00 new articles expected" went first."""
    settings.FEED_POLICY = policy
    now = datetime(2026, 3, 2, 12, tzinfo=UTC)
    make_feed(phase="normal", last_success=now - timedelta(hours=2), not_before=now - timedelta(hours=1))
    planning.plan(now)
    made = tick(now, everything=True)
    assert made is not None
    assert made.ranked == 1
    feed = Feed.objects.get()
    assert feed.selected_because.startswith("rank 1 of 1: ")
    assert words in feed.selected_because
    with override("de"):
        assert translated(feed.selected_because).startswith("Rang 1 von 1: ")
        assert words not in translated(feed.selected_because)


@pytest.fixture(autouse=True)
def _same_rules(settings: Any) -> None:
    """A budget and a tick as in the replay; no pages, and no floors but the tick itself."""
    settings.FEED_TICK_SECONDS = int(SETUP.tick)
    settings.FEED_BUDGET = SETUP.budget
    settings.FEED_MIN_GAP_SECONDS = 0
    settings.FEED_ARTICLE_PAGES = False
    settings.FEED_AUDIENCE_WEIGHT = 0.0


@pytest.mark.parametrize("name", ["round-robin", "advarss", "freshness"])
def test_the_controller_picks_the_same_feeds_at_the_same_ticks(name: str, settings: Any) -> None:
    settings.FEED_POLICY = name
    trace = invented(feeds=12, days=DAYS)
    told: list[Selection] = []
    simulate(trace, make_policy(name), SETUP, selected=told.append)
    replayed = [(selection.at, selection.rows.tolist()) for selection in told]
    assert live(trace)[: len(replayed)] == replayed
    assert Tick.objects.count() >= DAYS * DAY / SETUP.tick
