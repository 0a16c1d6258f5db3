"""The lab's own answer: asked for by opening the page, told in minutes, and set from there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from feeds.laboratory.answer import lab_answer
from feeds.laboratory.doubling import ask, gain_of_twice, newest_answer
from feeds.laboratory.experiments import advance
from feeds.laboratory.models import Experiment
from feeds.models import PlanningRules
from feeds.visiting.rules import rules
from tests.factories import make_feed, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
DELAYS = {0.25: 90.0, 0.5: 60.0, 1.0: 30.0, 2.0: 12.0, 4.0: 12.0}


def answered(policy: str = "freshness", **fields: object) -> Experiment:
    """An experiment of the deployment's own posts that has ended."""
    outcomes = [
        {
            "policy": name,
            "budget": 1.0 * factor,
            "metrics": {
                "delay_mean": delay * (3 if name == "round-robin" else 1), "delay_p50": delay / 2,
                "delay_p95": delay * 2, "delay_p99": delay * 3, "total_pending": 1.0, "max_pending": 1.0,
                "daily_max_pending": 1.0, "retrievals": 10, "new_per_retrieval": 1.0, "lost": 0,
            },
            "error": "", "spent": factor, "pending_by_hour": [1.0] * 24,
            "delays": [delay * share / 50 for share in range(1, 100)], "seconds": 1.0,
        }
        for name in (policy, "round-robin")
        for factor, delay in DELAYS.items()
    ]  # fmt: skip
    return Experiment.objects.create(
        name="own", source="history", policies=[policy, "round-robin"], budget=1.0, curve=True, feeds=4,
        articles=900, days=30, result={"outcomes": outcomes, "sends": 1},
        finished=datetime.now(UTC), **fields,
    )  # fmt: skip


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user("ops", staff=True))
    for _ in range(4):
        make_feed()
    return client


def test_the_answer_is_a_sentence_in_minutes(operator: Client) -> None:
    answered()
    page = flat(operator.get("/lab/").content)
    assert "With <b>twice the requests</b> your articles would arrive <b>18 minutes earlier</b>" in page
    assert "on average 12 min after they appear, instead of 30 min." in page
    assert "Set 192 a day" in page
    half = flat(operator.get("/lab/", {"requests": "0.5"}).content)
    assert "<b>30 minutes later</b>" in half
    assert "Set 48 a day" in half


def test_it_is_set_from_there_and_undone(operator: Client) -> None:
    answered()
    answer = operator.post("/lab/set/", {"requests": "2"})
    assert answer["Location"] == "/settings/budget/"
    assert rules().budget == 2
    operator.post("/undo/", {"token": operator.session["undo"]["token"]})
    assert rules().budget == 1
    assert PlanningRules.objects.get().budget is None
    assert operator.post("/lab/set/", {"requests": "1000"}).status_code == 404


def test_the_page_of_the_budget_says_what_twice_would_bring(operator: Client) -> None:
    answered()
    assert gain_of_twice() is not None
    assert "Twice as many would bring articles 18 minutes earlier." in flat(
        operator.get("/settings/budget/").content
    )


def test_an_answer_for_another_budget_is_none(operator: Client) -> None:
    answered()
    PlanningRules.objects.create(budget=3)
    assert newest_answer() is None
    assert "Nothing to replay yet" in operator.get("/lab/").content.decode()


def test_opening_the_page_has_it_measured_once_a_day_and_readers_do_not(operator: Client) -> None:
    reader = Client()
    reader.force_login(make_user("ann"))
    reader.get("/lab/")
    assert not Experiment.objects.exists()
    answered(created=datetime.now(UTC))
    operator.get("/lab/")
    assert Experiment.objects.count() == 1


def test_without_posts_nothing_is_begun(operator: Client) -> None:
    ask(datetime.now(UTC), None)
    assert not Experiment.objects.exists()


def test_pictures_stay_within_their_frame() -> None:
    answer = lab_answer(answered(), "freshness", 2.0)
    assert [bar.height <= 115 for bar in answer.bars] == [True] * 4
    for _css, path in answer.curves:
        points = [tuple(map(int, point.split())) for point in path[1:].split("L")]
        assert all(36 <= x <= 416 and 26 <= y <= 166 for x, y in points)
    assert [card.is_used for card in answer.cards] == [True, False]
    assert advance(answer.experiment.pk) is False
