"""Experiments: replayed one step at a time, by workers of which any may die."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from feeds.laboratory import experiments
from feeds.laboratory.experiments import MAX_SENDS, STALE, advance, again, begin, checked_trace, stop
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
    while advance(experiment.pk):
        steps += 1
    experiment.refresh_from_db()
    return steps


def outcomes(experiment: Experiment) -> list[Outcome]:
    """What it found so far, by the database."""
    experiment.refresh_from_db()
    return experiment.outcomes


def test_it_gives_the_numbers_of_the_replay_command() -> None:
    experiment = started()
    assert run(experiment) == 2
    assert (experiment.state, bytes(experiment.trace)) == ("done", b"")
    assert experiment.finished is not None
    expected = replay(invented(feeds=8, days=6), "advarss", experiment.setup(), Options())
    outcome = next(each for each in experiment.outcomes if each.policy == "advarss")
    assert outcome.metrics
    assert outcome.metrics["total_pending"] == pytest.approx(expected.metrics.total_pending)
    assert outcome.pending_by_hour == pytest.approx(expected.pending_by_hour)
    assert outcome.delays == pytest.approx(expected.delays)
    assert outcome.spent == pytest.approx(0.15, rel=0.02)


def test_a_curve_has_more_budgets_and_unbudgeted_policies_only_one() -> None:
    experiment = started(policies=["round-robin", "advarss-training"], curve=True)
    assert experiment.planned()[:2] == [("round-robin", 0.15), ("advarss-training", 0.15)]
    run(experiment)
    rows = [(each.policy, each.budget) for each in experiment.outcomes]
    assert sorted(b for p, b in rows if p == "round-robin") == pytest.approx([0.0375, 0.075, 0.15, 0.3, 0.6])
    assert [b for p, b in rows if p == "advarss-training"] == [0.15]


def test_a_third_is_learned_from_unless_something_else_is_said() -> None:
    assert started().learned_days() == pytest.approx(2, rel=0.02)
    assert started(train_days=0.0).learned_days() == 0


def test_nothing_left_to_measure_is_said_at_once() -> None:
    with pytest.raises(TraceError, match=r"5\.9 days long: with 9 days of learning"):
        started(train_days=9.0)
    assert not Experiment.objects.exists()


def test_what_is_there_already_is_not_added_again(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = started()

    def meanwhile_done(*arguments: Any) -> Any:
        monkeypatch.setattr(experiments, "replay", replay)
        assert advance(experiment.pk)
        return replay(*arguments)

    monkeypatch.setattr(experiments, "replay", meanwhile_done)
    assert not advance(experiment.pk), "only the one that added it sends the next"
    assert [each.policy for each in outcomes(experiment)] == ["round-robin"]


def test_what_waits_for_long_is_sent_again_and_at_last_given_up() -> None:
    experiment = started()
    now = datetime.now(UTC)
    assert again(now) == []
    for _ in range(MAX_SENDS - 1):
        now += STALE + timedelta(minutes=1)
        assert again(now) == [experiment.pk]
        assert again(now) == []
        assert not outcomes(experiment)
    Experiment.objects.update(created=now - 2 * STALE)
    assert again(now + STALE + timedelta(minutes=1)) == [experiment.pk]
    assert [each.error for each in outcomes(experiment)] == ["no worker finished it, in 3 attempts"]
    run(experiment)
    assert [bool(each.error) for each in experiment.outcomes] == [True, False]
    assert experiment.state == "done"


def test_the_last_replay_given_up_ends_it() -> None:
    experiment = started(policies=["advarss"])
    experiment.result["sends"] = MAX_SENDS
    experiment.save()
    assert again(datetime.now(UTC) + 2 * STALE) == []
    assert len(outcomes(experiment)) == 1
    assert (experiment.state, again(datetime.now(UTC) + 4 * STALE)) == ("done", [])


def test_one_with_nothing_left_to_replay_is_closed() -> None:
    experiment = started()
    run(experiment)
    Experiment.objects.update(finished=None)
    assert not advance(experiment.pk)
    experiment.refresh_from_db()
    assert experiment.state == "done"


def test_a_replay_that_takes_too_long_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: Any) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(experiments, "replay", slow)
    experiment = started()
    run(experiment)
    assert {each.error for each in experiment.outcomes} == {"took longer than 540 s"}
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

    monkeypatch.setattr(experiments, "_LOOK_EVERY", 0.0)
    monkeypatch.setattr(experiments, "replay", ended_meanwhile)
    assert not advance(experiment.pk)
    assert [(each.state, each.outcomes) for each in Experiment.objects.all()] == (
        [("stopped", [])] if end == "stop" else []
    )


def test_an_outcome_that_comes_after_the_end_is_not_added(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = started()

    def stopped_meanwhile(*arguments: Any) -> Any:
        stop(experiment)
        return replay(*arguments)

    monkeypatch.setattr(experiments, "replay", stopped_meanwhile)
    assert not advance(experiment.pk)
    assert not outcomes(experiment)


def test_stopping_twice_or_after_the_end_changes_nothing() -> None:
    experiment = started()
    assert stop(experiment)
    assert not stop(experiment)
    assert not advance(experiment.pk)


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
    plain, weighed = (experiment.outcomes[0].metrics or {} for experiment in both)
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


@pytest.mark.django_db(transaction=True)
def test_outcomes_of_earlier_versions_move_into_their_experiments() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate([("laboratory", "0002_squashed")])
    try:
        old = executor.loader.project_state([("laboratory", "0002_squashed")]).apps
        rows = [
            old.get_model("laboratory", "Experiment").objects.create(
                name="old", policies=["advarss", "freshness"], curve=False, budget=0.1, state=state
            )
            for state in ("open", "stopped")
        ]
        old.get_model("laboratory", "Outcome").objects.create(
            experiment=rows[0], policy="advarss", budget=0.1, metrics={"lost": 0}, spent=0.3, delays=[1.5, 2]
        )
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    first, second = Experiment.objects.order_by("id")
    assert first.outcomes == [Outcome("advarss", 0.1, {"lost": 0}, spent=0.3, delays=[1.5, 2])]
    assert first.remaining() == [("freshness", 0.1)]
    assert (first.state, second.state, second.outcomes) == ("open", "stopped", [])
