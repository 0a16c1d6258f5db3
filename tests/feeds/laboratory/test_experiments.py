"""Experiments: replayed one step at a time, by workers of which any may die."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from celery.exceptions import SoftTimeLimitExceeded

from feeds.laboratory import experiments
from feeds.laboratory.experiments import advance, begin, checked_trace, forgotten, planned, stop
from feeds.laboratory.models import Experiment, Outcome
from feeds.laboratory.own_history import own_trace
from feeds.replay.comparison import Options, replay
from feeds.replay.trace import Trace, TraceError, pack_trace, unpack_trace
from tests.factories import make_article, make_feed
from tests.feeds.replay.traces import invented

pytestmark = pytest.mark.django_db


def started(trace: Trace | None = None, **fields: Any) -> Experiment:
    """An experiment of two quick policies on a small trace."""
    values = {"policies": ["round-robin", "advarss"], "curve": False, "source": "upload"} | fields
    return begin(Experiment(**values), trace or invented(feeds=8, days=6))


def run(experiment: Experiment) -> int:
    """Advance it to its end; how many steps."""
    steps = 1
    while advance(experiment.pk) is not None:
        steps += 1
    experiment.refresh_from_db()
    return steps


def test_it_gives_the_numbers_of_the_replay_command() -> None:
    experiment = started()
    assert run(experiment) == 2
    assert (experiment.state, bytes(experiment.trace)) == ("done", b"")
    assert experiment.finished is not None
    expected = replay(invented(feeds=8, days=6), "advarss", experiment.setup(), Options())
    outcome = experiment.outcomes.get(policy="advarss")
    assert outcome.metrics["total_pending"] == pytest.approx(expected.metrics.total_pending)
    assert outcome.pending_by_hour == pytest.approx(expected.pending_by_hour)
    assert outcome.delays == pytest.approx(expected.delays)
    assert outcome.spent == pytest.approx(0.15, rel=0.02)


def test_a_curve_has_more_budgets_and_unbudgeted_policies_only_one() -> None:
    experiment = started(policies=["round-robin", "advarss-training"], curve=True)
    assert planned(experiment)[:2] == [("round-robin", 0.15), ("advarss-training", 0.15)]
    run(experiment)
    rows = experiment.outcomes.values_list("policy", "budget")
    assert sorted(b for p, b in rows if p == "round-robin") == pytest.approx([0.0375, 0.075, 0.15, 0.3, 0.6])
    assert [b for p, b in rows if p == "advarss-training"] == [0.15]


def test_a_third_is_learned_from_unless_something_else_is_said() -> None:
    assert started().learned_days() == pytest.approx(2, rel=0.02)
    assert started(train_days=0.0).learned_days() == 0


def test_nothing_left_to_measure_is_said_at_once() -> None:
    with pytest.raises(TraceError, match=r"5\.9 days long: with 9 days of learning"):
        started(train_days=9.0)
    assert not Experiment.objects.exists()


def test_two_workers_do_not_replay_the_same() -> None:
    experiment = started()
    Experiment.objects.filter(pk=experiment.pk).update(heard=datetime.now(UTC))
    assert advance(experiment.pk) == 120
    assert not experiment.outcomes.exists()


def test_a_dead_workers_replay_is_taken_over() -> None:
    experiment = started()
    long_ago = datetime.now(UTC) - timedelta(minutes=3)
    Experiment.objects.filter(pk=experiment.pk).update(heard=long_ago, created=long_ago)
    assert forgotten(datetime.now(UTC)) == [experiment.pk]
    assert advance(experiment.pk) == 0
    assert experiment.outcomes.count() == 1


def test_a_replay_that_kills_its_workers_is_given_up_and_the_next_one_done() -> None:
    experiment = started()
    Experiment.objects.filter(pk=experiment.pk).update(attempts=experiments.MAX_ATTEMPTS)
    run(experiment)
    assert [bool(o.error) for o in experiment.outcomes.all()] == [True, False]
    assert experiment.outcomes.first().error == "its worker died 3 times"


def test_a_replay_that_takes_too_long_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: Any) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(experiments, "replay", slow)
    experiment = started()
    run(experiment)
    assert {o.error for o in experiment.outcomes.all()} == {"took longer than 540 s"}
    assert experiment.state == "done"


@pytest.mark.parametrize("end", ["stop", "delete"])
def test_it_ends_in_the_middle_of_a_replay_when_it_is_told_to(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = started()

    def ended_meanwhile(trace: Any, name: Any, setup: Any, options: Any, progress: Any) -> None:
        _ = stop(experiment) if end == "stop" else Experiment.objects.all().delete()
        progress(0.5)
        raise AssertionError("the replay should have ended")

    monkeypatch.setattr(experiments, "_SIGN_EVERY", 0.0)
    monkeypatch.setattr(experiments, "replay", ended_meanwhile)
    assert advance(experiment.pk) is None
    assert not Outcome.objects.exists()
    assert Experiment.objects.filter(state="stopped").count() == (1 if end == "stop" else 0)


def test_stopping_twice_or_after_the_end_changes_nothing() -> None:
    experiment = started()
    assert stop(experiment)
    assert not stop(experiment)
    assert advance(experiment.pk) is None


def test_signs_say_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "_SIGN_EVERY", 0.0)
    seen = []

    def watched(trace: Any, name: Any, setup: Any, options: Any, progress: Any) -> Any:
        progress(0.25)
        seen.append(Experiment.objects.get().share)
        return replay(trace, name, setup, options)

    monkeypatch.setattr(experiments, "replay", watched)
    run(started())
    assert seen == [0.25, 0.25]


def test_the_own_history_counts_what_was_posted_since_a_feed_was_added() -> None:
    now = datetime.now(UTC)
    busy = make_feed(added=now - timedelta(days=10), subscribers=3)
    silent = make_feed(added=now - timedelta(days=10))
    make_feed(status="paused")
    for hours in (1, 30, 100, 24 * 11):
        make_article(busy, published=now - timedelta(hours=hours))
    trace, subscribers = own_trace(now)
    assert trace.feeds == (busy.url, silent.url)
    assert trace.owner.tolist() == [0, 0, 0]
    assert trace.published[-1] - trace.published[0] == pytest.approx(99 * 3600)
    assert subscribers.tolist() == [3, 0]


def test_a_big_deployment_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("feeds.laboratory.own_history.MAX_FEEDS", 3)
    now = datetime.now(UTC)
    for _ in range(10):
        make_article(make_feed(added=now - timedelta(days=2)), published=now - timedelta(hours=1))
    trace, _ = own_trace(now)
    assert 2 <= len(trace.feeds) <= 3


def test_the_own_history_weighs_subscribers_when_asked(settings: Any) -> None:
    settings.FEED_AUDIENCE_WEIGHT = 5.0
    now = datetime.now(UTC)
    for subscribers in (0, 9, 0, 0):
        feed = make_feed(added=now - timedelta(days=8), subscribers=subscribers)
        for hour in range(1, 180, 3):
            make_article(feed, published=now - timedelta(hours=hour))
    both = [
        begin(Experiment(source="history", policies=["advarss"], curve=False, audience=audience))
        for audience in (False, True)
    ]
    for experiment in both:
        run(experiment)
    plain, weighed = (experiment.outcomes.get().metrics for experiment in both)
    assert plain["retrievals"] == weighed["retrievals"]
    assert plain["total_pending"] < weighed["total_pending"], "equal feeds, unequally visited"


def test_uploads_are_bounded() -> None:
    with pytest.raises(TraceError, match="larger than 20 MB"):
        checked_trace("big.csv", b" " * (experiments.MAX_BYTES + 1))
    many = "feed,published\n" + "\n".join(f"f{i},{1e9 + i}" for i in range(experiments.LIMITS.feeds + 1))
    with pytest.raises(TraceError, match="more than 1000000 posts or 2000 feeds"):
        checked_trace("many.csv", many.encode())


def test_a_trace_is_the_same_after_the_way_through_the_database() -> None:
    trace = invented()
    again = unpack_trace(pack_trace(trace))
    assert (again.name, again.feeds) == (trace.name, trace.feeds)
    assert np.array_equal(again.owner, trace.owner)
    assert np.array_equal(again.published, trace.published)
