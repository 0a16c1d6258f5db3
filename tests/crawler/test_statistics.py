"""The figures of the last 24 hours, as /api/stats/ and the overview show them."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.operation.site.statistics import statistics
from feeds.models import Retrieval, Tick
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def retrieved(feed, ago, outcome, size=100):
    Retrieval.objects.create(feed=feed, at=NOW - ago, outcome=outcome, bytes=size)


def test_it_counts_what_happened_in_a_day():
    feed = make_feed(failure_streak=1, phase="normal")
    make_feed(status="paused")
    make_feed(status="gone")
    for ago, outcome in ((1, "new"), (2, "not-modified"), (3, "failed"), (4, "same-body"), (25, "failed")):
        retrieved(feed, ago * HOUR, outcome)
    make_article(feed, fetched=NOW - HOUR)
    make_article(feed, fetched=NOW - 25 * HOUR)
    found = statistics(NOW)
    assert (found.feeds, found.active, found.paused, found.gone, found.failing) == (3, 1, 1, 1, 1)
    assert (found.articles, found.new_articles) == (2, 1)
    assert (found.retrievals, found.not_modified, found.same_body, found.failures) == (4, 1, 1, 1)
    assert found.bytes == 400


def test_delays_are_percentiles_of_what_is_sure():
    feed = make_feed()
    for delay in range(101):
        make_article(feed, fetched=NOW - HOUR, delay=float(delay))
    make_article(feed, fetched=NOW - HOUR, delay=None)
    make_article(feed, fetched=NOW - 25 * HOUR, delay=1e9)
    delay = statistics(NOW).delay
    assert (delay.p50, delay.p95, delay.p99, delay.mean) == (50.0, 95.0, 99.0, 50.0)


def test_the_budget_is_measured_from_the_first_tick_of_the_day(settings):
    settings.FEED_BUDGET = 2.0
    feed = make_feed()
    make_feed()
    Tick.objects.create(started=NOW - 5 * HOUR, policy="freshness")
    for hours in range(4):
        retrieved(feed, hours * HOUR, "new")
    budget = statistics(NOW).budget
    # Two feeds, two retrievals per feed and hour, five hours.
    assert (budget.allowed, budget.used, budget.share) == (20.0, 4, 0.2)


def test_a_new_deployment_has_figures_too(client):
    client.force_login(make_user())
    told = client.get("/api/stats/").json()
    assert told["delay"] == {"p50": None, "p95": None, "p99": None, "mean": None}
    assert told["budget"] == {"allowed": 0.0, "used": 0, "share": 0.0}
    assert told["feeds"] == told["articles"] == 0


def test_it_takes_a_handful_of_queries(django_assert_max_num_queries):
    with django_assert_max_num_queries(8):
        statistics(NOW)
