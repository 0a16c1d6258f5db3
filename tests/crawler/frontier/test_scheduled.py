"""A crawl is not done while a URL waits for the time of its next attempt, and is when that was the last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crawler.engine.check_in import check_in
from crawler.engine.leases import hand_out
from crawler.frontier.crawls import begin, tend
from crawler.frontier.models import Crawl
from tests.harvests import failed, report

pytestmark = pytest.mark.django_db


def test_a_crawl_whose_only_url_is_to_be_tried_again_later_is_not_done() -> None:
    crawl = begin(Crawl(seeds=["http://seed.example/"]))
    (batch,) = hand_out(datetime.now(UTC))
    check_in([report(batch, failed(batch.assignments[0], "timeout"))])
    now = datetime.now(UTC)
    assert crawl.waiting.filter(not_before__gt=now).count() == 1, "scheduled: neither due nor out"
    assert hand_out(now) == []
    assert tend(now) == [crawl.pk]
    later = now + timedelta(hours=1)
    (batch,) = hand_out(later)
    check_in([report(batch, failed(batch.assignments[0], "http-404", 404))])
    assert tend(later) == []
    crawl.refresh_from_db()
    assert crawl.state == "done"
