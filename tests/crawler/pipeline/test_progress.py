"""The progress of the phases over time: counted in steps, drawn on the page, told by the API."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from crawler.pipeline.charts import progress, progress_chart
from crawler.pipeline.models import PhaseFigure
from tests.factories import make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 12, 4, tzinfo=UTC)


def figure(phase: str, minutes_ago: int, documents: int, worker: str = "one") -> None:
    minute = NOW.replace(second=0) - timedelta(minutes=minutes_ago)
    PhaseFigure.objects.create(phase=phase, worker=worker, minute=minute, documents=documents, seconds=1.0)


def test_documents_are_counted_in_steps_over_all_workers() -> None:
    figure("detect", 25, 3)
    figure("detect", 25, 4, "two")
    figure("detect", 21, 5)
    figure("index", 2, 6)
    figure("index", 60 * 25, 100)  # yesterday
    found = progress(NOW)
    assert [start.minute for start in found.starts] == [30, 40, 50, 0]
    assert found.documents["detect"] == (7, 5, 0, 0)
    assert found.documents["index"] == (0, 0, 0, 6)
    assert found.documents["fetch"] == (0, 0, 0, 0)


def test_without_work_nothing_is_drawn() -> None:
    assert progress_chart(progress(NOW)) is None


def test_the_page_and_the_api_show_it(client: Client) -> None:
    now = datetime.now(UTC)
    PhaseFigure.objects.create(phase="transform", worker="one", minute=now, documents=9, seconds=1.0)
    client.force_login(make_user())
    assert "Documents done by each phase" in client.get("/pipeline/").content.decode()
    told = client.get("/api/pipeline/progress/").json()
    assert told["documents"]["transform"][-1] == 9
    assert len(told["starts"]) == len(told["documents"]["fetch"])
