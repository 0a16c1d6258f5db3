"""Figures of a crawl: the paper's tables with shares, charts by minute or half hour, and both by command."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from crawler.frontier.charts import as_csv, charts
from crawler.frontier.crawls import begin
from crawler.frontier.figures import note
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.frontier.report import Share, report
from tests.factories import make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def crawl() -> Crawl:
    return begin(
        Crawl(seeds=[f"http://{name}/" for name in ("a.de", "b.de", "c.fr", "d.org", "e.com", "f.uk")])
    )


def test_the_papers_tables_have_counts_and_shares(crawl: Crawl) -> None:
    for host, failure in (("e.com", "http-404"), ("f.uk", "timeout")):
        crawl.urls.filter(host__name=host).update(state=CrawlUrl.State.FAILED, failure=failure)
    crawl.urls.filter(host__name__in=["a.de", "b.de", "c.fr", "d.org"]).update(state=CrawlUrl.State.CRAWLED)
    tables = report(crawl).tables
    assert tables["I"] == {"404": Share(1, 0.5), "timeout": Share(1, 0.5)}
    assert tables["II"] == {"HTTP": Share(1, 0.5), "other": Share(1, 0.5)}
    assert tables["III"] == {"404": Share(1, 1.0)}
    assert tables["IV"] == {"de": Share(2, 2 / 3), "fr": Share(1, 1 / 3)}
    assert tables["V"] == {"org": Share(1, 1.0)}


def test_a_short_crawl_draws_minutes(crawl: Crawl) -> None:
    for minute, pages in ((0, 3), (1, 5), (3, 2)):
        note(crawl.pk, NOW + timedelta(minutes=minute), crawled=pages, waiting=[60.0, 180.0])
    pages, waiting, *_ = charts(crawl)
    assert pages.rows == [(0.0, 3.0), (1 / 60, 5.0), (0.05, 2.0)]
    assert waiting.rows[0] == (0.0, 3.0, 2.0, 1.0)  # minutes: the longest, the mean, the shortest


def test_a_long_crawl_draws_half_hours_with_their_best_and_worst_minutes(crawl: Crawl) -> None:
    for minute in range(0, 16 * 60, 2):  # nothing comes back in every second minute
        note(
            crawl.pk,
            NOW + timedelta(minutes=minute),
            crawled=10 if minute % 4 else 20,
            size=[minute * 1000.0],
        )
    pages = charts(crawl)[0]
    assert len(pages.rows) == 32
    assert pages.rows[0] == (0.0, 20.0, 230 / 30, 0.0)
    assert pages.rows[1][0] == 0.5
    assert next(chart for chart in charts(crawl) if "kB" in chart.svg).rows[0] == (0.0, 28.0, 14.0, 0.0)


def test_rows_of_half_hours_from_before_are_paces(crawl: Crawl) -> None:
    for half_hour in range(3):
        crawl.buckets.create(start=NOW + timedelta(minutes=30 * half_hour), minutes=30, crawled=60)
    note(crawl.pk, NOW + timedelta(minutes=90), crawled=6)
    assert charts(crawl)[0].rows == [
        (0.0, 2.0, 2.0, 2.0),
        (0.5, 2.0, 2.0, 2.0),
        (1.0, 2.0, 2.0, 2.0),
        (1.5, 6.0, 6.0, 6.0),
    ]


def test_the_figures_are_saved_as_a_table(crawl: Crawl, tmp_path: Path, client: Client) -> None:
    note(crawl.pk, NOW, crawled=3, waiting=[60.0, 180.0])
    (row,) = csv.DictReader(as_csv(crawl))
    assert (row["crawled"], row["waiting mean"], row["waiting most"]) == ("3", "120.0", "180.0")
    call_command("change_crawl", crawl.pk, "--figures", tmp_path / "figures.csv")
    assert (tmp_path / "figures.csv").read_text() == "".join(as_csv(crawl))
    client.force_login(make_user())
    for address in (f"/crawls/{crawl.pk}/figures.csv", f"/api/crawls/{crawl.pk}/figures.csv/"):
        assert b"".join(client.get(address)).decode() == "".join(as_csv(crawl))


def test_a_command_queues_again_and_changes_scope_and_state(
    crawl: Crawl, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl.urls.filter(host__name="e.com").update(state=CrawlUrl.State.FAILED, failure="http-404")
    crawl.urls.filter(host__name="f.uk").update(state=CrawlUrl.State.FAILED, failure="timeout")
    call_command("change_crawl", crawl.pk, "--requeue", "--failure", "timeout")
    assert crawl.urls.filter(state=CrawlUrl.State.FAILED).count() == 1
    call_command("change_crawl", crawl.pk, "--requeue", "--host", "e.com", "--stop")
    assert crawl.urls.filter(state=CrawlUrl.State.FAILED).count() == 0
    call_command("change_crawl", crawl.pk, "--scope", r"http://a\.de/.*", "--resume")
    assert "5 URLs left the queue" in capsys.readouterr().out
    crawl.refresh_from_db()
    assert (crawl.scope, crawl.state) == ([r"http://a\.de/.*"], Crawl.State.RUNNING)
    for wrong in (["--requeue", "--host", "nowhere.example"], ["--scope", "("], ["--resume"]):
        with pytest.raises(CommandError):
            call_command("change_crawl", crawl.pk, *wrong)
    with pytest.raises(CommandError):
        call_command("change_crawl", 0)


def test_the_page_begins_crawls_with_weights(client: Client) -> None:
    client.force_login(make_user(staff=True))
    fields = {"seeds": "http://a.de/", "strategy": "link-score", "max_wait": "30", "max_pages": "9"}
    client.post("/crawls/start/", fields | {"inter_weight": "0.9", "intra_weight": ""})
    crawl = Crawl.objects.get()
    assert (crawl.inter_weight, crawl.intra_weight) == (0.9, 0.33)
    page = client.get(f"/crawls/{crawl.pk}/").content.decode()
    assert "figures.csv" not in page  # nothing was measured yet
    assert "V: pages crawled" in page
