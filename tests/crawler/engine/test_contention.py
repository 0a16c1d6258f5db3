"""A deadlock in the middle of a check-in is one more quiet attempt: all is stored, and nothing waits."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from articles.models import Article
from crawler.engine import check_in as checking
from crawler.engine.check_in import check_in
from crawler.engine.models import Host
from feeds.models import Retrieval
from tests.factories import make_feed
from tests.harvests import entry, found, lease, report

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("code", ["40P01", "40001", "55P03"])
def test_a_deadlock_costs_a_quiet_attempt_and_no_harvest(
    code: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (batch,) = lease(make_feed("https://one.example/a"), make_feed("https://one.example/b"))
    settle, tried = checking.settle, []

    def meet_another(*given: Any) -> None:
        settle(*given)
        tried.append(1)
        if len(tried) < 3:
            with connection.cursor() as cursor:
                cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'a test' USING ERRCODE = '{code}'; END $$")

    monkeypatch.setattr(checking, "settle", meet_another)
    harvests = [found(one, entry(one.id)) for one in batch.assignments]
    with caplog.at_level(logging.WARNING):
        check_in([report(batch, *harvests)])
    assert len(tried) == 3
    assert Article.objects.count() == Retrieval.objects.filter(outcome="new").count() == 2
    host = Host.objects.get(name="one.example")
    assert host.lease is None
    assert host.not_before is None or host.not_before <= datetime.now(UTC) + timedelta(seconds=5)
    assert caplog.records == []
