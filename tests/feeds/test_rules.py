"""The rules of planning: chosen on a page, in the API, by command or in the admin."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from articles.models import Mark, Subscription
from feeds.laboratory.experiments import advance
from feeds.laboratory.models import Experiment
from feeds.models import Feed, PlanningRules, PostingHistory, PostingPlan, Tick
from feeds.visiting import planning
from feeds.visiting.delays import latest_feeds
from feeds.visiting.explain import next_visits
from feeds.visiting.posting import observe
from feeds.visiting.rules import VisitRules, rules
from feeds.visiting.states import live_policy, training_policy
from feeds.visiting.ticks import tick
from tests.factories import make_article, make_feed, make_subscriber, make_token, make_user
from tests.feeds.test_planning import NOW, make_daily_feed
from tests.html import flat

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _settings_of_the_installation(settings: Any) -> None:
    settings.FEED_POLICY, settings.FEED_BUDGET = "freshness", 1.0
    settings.FEED_AUDIENCE_WEIGHT, settings.FEED_TRAINING_MAX_TICKS = 0.1, 5


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user(staff=True))
    return client


def make_old_feed(**fields: Any) -> Feed:
    last = NOW - 2 * HOUR
    return make_feed(phase="normal", not_before=NOW - HOUR, last_success=last, last_attempt=last, **fields)


def test_what_was_not_chosen_goes_by_the_settings() -> None:
    assert rules() == VisitRules("freshness", 1.0, 0.1, False, 5)
    PlanningRules.objects.create(policy="advarss", audience_weight=0)
    assert rules() == VisitRules("advarss", 1.0, 0.0, False, 5)
    assert (live_policy().name, live_policy().c) == ("advarss", 0.0)


def test_they_are_in_force_at_the_next_tick(operator: Client) -> None:
    for _ in range(12):
        make_old_feed()
    first = tick(NOW)
    assert first is not None
    assert (first.policy, first.budget) == (
        "freshness",
        2,
    )  # twelve feeds, a visit an hour, every ten minutes
    answer = operator.post("/planning/", {"policy": "advarss", "budget": "6"})
    assert answer.status_code == 302
    Feed.objects.update(selected_at=None, lease=None)
    second = tick(NOW + timedelta(minutes=10))
    assert second is not None
    assert (second.policy, second.budget) == ("advarss", 12)
    assert Tick.objects.count() == 2


def test_the_longest_wait_in_training_is_that_of_the_rules() -> None:
    fields = {"training_m": 40.0, "training_t": 1.0, "last_success": NOW - HOUR}
    feed = make_feed(
        **fields, phase="training", not_before=NOW - HOUR, training_since=NOW - HOUR, training_due=NOW + HOUR
    )
    assert training_policy().max_ticks == 5
    PlanningRules.objects.create(training_max_ticks=30)
    assert training_policy().max_ticks == 30
    assert "30 ticks (the ceiling" in next_visits([feed], NOW)[feed.pk].reason


def test_the_page_shows_what_holds_and_names_what_cannot_be(operator: Client) -> None:
    make_old_feed()
    page = operator.get("/planning/").content.decode()
    assert 'placeholder="1"' in page
    assert "as the settings say (for the least waiting news)" in page
    refused = operator.post("/planning/", {"policy": "", "budget": "0", "training_max_ticks": "81"})
    assert refused.status_code == 422
    assert refused.content.decode().count('class="error"') == 2
    assert not PlanningRules.objects.exists()


def test_only_operators_plan(client: Client) -> None:
    client.force_login(make_user())
    assert client.get("/planning/").status_code == 403
    assert client.post("/planning/", {"budget": "2"}).status_code == 403
    token = {"HTTP_AUTHORIZATION": make_token(make_user())}
    assert client.get("/api/planning/", **token).json()["in_force"]["policy"] == "freshness"
    answer = client.patch("/api/planning/", {"budget": 2}, content_type="application/json", **token)
    assert answer.status_code == 403


def test_the_api_and_the_command_change_the_same_row(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    token = {"HTTP_AUTHORIZATION": make_token(make_user(staff=True))}
    answer = client.patch("/api/planning/", {"budget": 0.5}, content_type="application/json", **token)
    assert answer.json()["in_force"]["budget"] == 0.5
    call_command("planning", "--policy", "round-robin", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "policy": "round-robin", "budget": 0.5, "audience_weight": 0.1, "active_only": False,
        "training_max_ticks": 5,
    }  # fmt: skip
    call_command("planning", "--budget", "default")
    assert "budget: 1.0 (by the settings)" in capsys.readouterr().out
    bad = client.patch("/api/planning/", {"policy": "best"}, content_type="application/json", **token)
    assert (bad.status_code, list(bad.json())) == (400, ["policy"])
    with pytest.raises(CommandError):
        call_command("planning", "--budget", "many")


def test_a_trial_replays_the_posts_of_the_feeds_beside_the_rules_in_force(
    operator: Client, settings: Any
) -> None:
    settings.FEED_BUDGET = 0.05
    feed = make_feed(added=datetime.now(UTC) - timedelta(days=12), subscribers=3)
    for hour in range(1, 240, 4):
        make_article(feed, published=datetime.now(UTC) - timedelta(hours=hour))
    answer = operator.post("/planning/", {"policy": "advarss", "budget": "2", "try": "1"}, follow=True)
    assert 'value="2"' in answer.content.decode()  # what was tried still stands in the form
    assert not PlanningRules.objects.exists()
    experiments = list(Experiment.objects.order_by("id"))
    assert [(each.policies, each.budget) for each in experiments] == [
        (["freshness"], 0.05), (["advarss"], 2.0),
    ]  # fmt: skip
    for each in experiments:
        assert not advance(each.pk)
        each.refresh_from_db()
    page = flat(operator.get("/planning/").content)
    assert page.count(" min</td>") == 4
    first, second = (each.outcomes[0].metrics["delay_mean"] for each in experiments)
    assert second < first


def test_a_trial_without_any_posts_says_so(operator: Client) -> None:
    answer = operator.post("/planning/", {"policy": "", "try": "1"})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()


def test_the_ten_feeds_whose_news_came_latest(operator: Client) -> None:
    now = datetime.now(UTC)
    feeds = [make_feed(title=f"feed {number}") for number in range(12)]
    for number, feed in enumerate(feeds):
        make_article(feed, fetched=now - HOUR, delay=600.0 * number)
        make_article(feed, fetched=now - HOUR, delay=None)
        make_article(feed, fetched=now - 30 * HOUR, delay=9e9)
    found = latest_feeds(now - 24 * HOUR)
    assert [row["mean"] for row in found] == [600.0 * number for number in range(11, 1, -1)]
    assert {row["count"] for row in found} == {1}
    page = operator.get("/planning/").content.decode()
    assert "feed 11" in page
    assert "feed 1<" not in page
    assert [row["id"] for row in operator.get("/api/stats/").json()["latest_feeds"]] == [
        row["id"] for row in found
    ]


def test_sql_reads_the_rates_as_arrays() -> None:
    feed = make_daily_feed(9)
    planning.plan(NOW)
    history, plan = PostingHistory.objects.get(feed=feed), PostingPlan.objects.get(feed=feed)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT hourly, weekly, threshold FROM feeds_posting_rates WHERE feed_id = %s", [feed.pk]
        )
        hourly, weekly, threshold = cursor.fetchone()
    for array, column in ((hourly, history.hourly), (weekly, history.rates), (threshold, plan.shape)):
        assert np.array_equal(np.array(array, dtype="<f4"), np.frombuffer(column, "<f4"))
    odd = np.array([0, -0.0, 1e-42, -2.5, 3.4e38, 1e-38, 1 / 3], dtype="<f4")
    with connection.cursor() as cursor:
        cursor.execute("SELECT feeds_floats(%s)", [odd.tobytes()])
        assert np.array_equal(np.array(cursor.fetchone()[0], dtype="<f4"), odd)


def test_what_visits_are_planned_by_is_on_the_page_in_the_api_and_in_the_admin(client: Client) -> None:
    feed = make_daily_feed(9)
    planning.plan(NOW)
    user = make_user(staff=True)
    user.is_superuser = True
    user.save()
    client.force_login(user)
    page = client.get(f"/feeds/{feed.pk}/?by=hour").content.decode()
    assert page.count('<svg class="week"') == 2
    answer = client.get(f"/api/feeds/{feed.pk}/history/").json()
    assert [len(answer[name]) for name in ("hourly", "forecast", "threshold")] == [24, 168, 168]
    for name in ("postinghistory", "postingplan"):
        listed = client.get(f"/admin/feeds/{name}/").content.decode()
        assert f'href="/feeds/{feed.pk}/"' in listed
        assert '<svg class="spark"' in listed
        assert '<svg class="week"' in client.get(f"/admin/feeds/{name}/{feed.pk}/change/").content.decode()


def test_the_admin_has_one_row_of_rules(client: Client) -> None:
    user = make_user(staff=True)
    user.is_superuser = True
    user.save()
    client.force_login(user)
    assert client.post("/admin/feeds/planningrules/add/", {"policy": "advarss"}).status_code == 302
    assert rules().policy == "advarss"
    assert client.get("/admin/feeds/planningrules/add/").status_code == 403
    answer = client.post("/admin/feeds/planningrules/1/change/", {"policy": "", "budget": "3"})
    assert answer.status_code == 302
    assert (rules().policy, rules().budget) == ("freshness", 3.0)


def test_a_list_of_training_feeds_asks_for_the_rules_once(django_assert_max_num_queries: Any) -> None:
    feeds = [make_feed(training_due=NOW) for _ in range(30)]
    observe([feeds[0].id], [NOW.timestamp() - 60], [NOW.timestamp()], [1], [[]], first=[False])
    with django_assert_max_num_queries(8):
        next_visits(feeds, NOW)


def test_only_subscribers_who_read_weigh_where_the_operator_says_so(operator: Client) -> None:
    feed, idle = make_old_feed(), make_old_feed()
    for number, person in enumerate(make_subscriber() for _ in range(3)):
        for each in (feed, idle):
            Subscription.objects.create(subscriber=person, feed=each)
        read = NOW - timedelta(days=(2, 20, 40)[number])
        Mark.objects.create(subscriber=person, article=make_article(feed), read=read)
    stranger = make_subscriber()
    Mark.objects.create(subscriber=stranger, article=make_article(idle), read=NOW)  # does not follow it
    planning.plan(NOW)
    counted = dict(Feed.objects.values_list("id", "active_subscribers"))
    assert counted == {feed.pk: 2, idle.pk: 0}
    visits = next_visits([feed, idle], NOW)
    assert [visits[each.pk].audience for each in (feed, idle)] == pytest.approx([1.3, 1.3])
    operator.post("/planning/", {"active_only": "on"})
    visits = next_visits([feed, idle], NOW)
    assert [visits[each.pk].audience for each in (feed, idle)] == pytest.approx([1.2, 1.0])
    planning.plan(NOW + timedelta(days=60))
    assert not Feed.objects.filter(active_subscribers__gt=0).exists()
