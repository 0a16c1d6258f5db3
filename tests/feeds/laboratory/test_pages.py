"""The laboratory's pages: who may start what, and how the answers read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from feeds.laboratory.experiments import advance, begin
from feeds.laboratory.models import Experiment
from feeds.replay.trace import read_trace
from tests.factories import make_article, make_feed, make_user
from tests.feeds.replay.traces import invented
from tests.html import flat

pytestmark = pytest.mark.django_db

WANTED = {"source": "sample", "policies": ["advarss"], "budget": "0.15", "tick": "600", "window": "0"}
CSV = b"feed,published\n" + b"\n".join(b"a,%d" % (1_767_571_200 + i * 3600) for i in range(100))


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make_user(staff=True))
    return client


def finished(**fields: Any) -> Experiment:
    values: dict[str, Any] = {"policies": ["round-robin", "advarss", "freshness"], "curve": True} | fields
    experiment = begin(Experiment(source="upload", **values), invented(feeds=8, days=6))
    while advance(experiment.pk):
        pass
    return experiment


def test_the_form_starts_an_experiment_and_leads_to_it(staff: Client) -> None:
    answer = staff.post("/lab/start/", WANTED)
    experiment = Experiment.objects.get()
    assert answer.headers["Location"] == f"/lab/{experiment.pk}/"
    assert (experiment.name, experiment.policies, experiment.curve) == ("invented", ["advarss"], False)
    text = staff.get(f"/lab/{experiment.pk}/").content.decode()
    assert "0 of 1 replays done, next advarss at 0.15." in flat(text)
    assert 'hx-trigger="every 3s"' in text


def test_a_file_is_taken_plain_or_compressed(staff: Client) -> None:
    for name, content in (("own.csv", CSV), ("own.csv.gz", gzip.compress(CSV))):
        staff.post("/lab/start/", {**WANTED, "source": "upload", "file": SimpleUploadedFile(name, content)})
        assert Experiment.objects.latest("id").name == name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": []}, "Choose at least one policy."),
        ({"budget": "0"}, "greater than or equal to 0.001"),
        ({"tick": "1"}, "greater than or equal to 60"),
        ({"beta": "-1"}, "greater than or equal to 0"),
        ({"train_days": "60"}, "42.0 days long: with 60 days of learning nothing is left"),
        ({"source": "upload"}, "Choose the file"),
        ({"source": "history"}, "no article was published since the feeds were added"),
        (
            {"source": "upload", "file": SimpleUploadedFile("x.csv", b"feed,published\na,soon")},
            "x.csv, line 2: &#x27;soon&#x27; is no time",
        ),
        (
            {"source": "upload", "file": SimpleUploadedFile("x.gz", b"\x1f\x8bnothing")},
            "x.gz: damaged gzip",
        ),
        ({"source": "upload", "file": SimpleUploadedFile("x.csv", b"a" * 50_000)}, "the first line must be"),
    ],
)
def test_bad_wishes_are_answered_in_the_form(staff: Client, change: dict[str, Any], words: str) -> None:
    answer = staff.post("/lab/start/", {**WANTED, **change})
    assert (answer.status_code, Experiment.objects.count()) == (422, 0)
    assert words in answer.content.decode()


def test_a_finished_experiment_shows_table_charts_and_budgets(staff: Client) -> None:
    experiment = finished()
    text = staff.get(f"/lab/{experiment.pk}/?delay=200").content.decode()
    assert text.count('<svg class="plot"') == 4
    assert "× flat optimum" in text
    assert text.count('<span class="state good">best</span>') == 1
    assert "A day for 8 feeds" in text
    assert "hx-trigger" not in text.split('id="results"')[1].split(">")[0]
    assert "Budget for a delay" in text


@pytest.mark.parametrize("delay", ["", "-1", "nan", "inf", "soon", "1e99"])
def test_a_delay_that_is_none_is_not_answered(staff: Client, delay: str) -> None:
    experiment = finished(policies=["round-robin"])
    assert "A day for" not in staff.get(f"/lab/{experiment.pk}/", {"delay": delay}).content.decode()


def test_readers_see_and_do_not_start_stop_or_delete(client: Client) -> None:
    experiment = begin(Experiment(source="sample"))
    client.force_login(make_user())
    text = client.get("/lab/full/").content.decode()
    assert "invented, number" in text
    assert "New experiment" not in text
    assert client.get(f"/lab/{experiment.pk}/").status_code == 200
    assert client.post("/lab/start/", WANTED).status_code == 403
    assert client.post(f"/lab/{experiment.pk}/change/", {"action": "delete"}).status_code == 403


def test_staff_stop_and_delete(staff: Client) -> None:
    experiment = begin(Experiment(source="sample"))
    staff.post(f"/lab/{experiment.pk}/change/", {"action": "stop"})
    assert "It was stopped after 0 of" in staff.get(f"/lab/{experiment.pk}/").content.decode()
    staff.post(f"/lab/{experiment.pk}/change/", {"action": "delete"})
    assert not Experiment.objects.exists()
    assert staff.get(f"/lab/{experiment.pk}/").status_code == 404


def test_the_own_history_goes_into_a_file_for_the_replay(tmp_path: Path) -> None:
    file = tmp_path / "own.csv.gz"
    with pytest.raises(CommandError, match="no article was published"):
        call_command("export_trace", str(file))
    feed = make_feed(added="2026-01-01T00:00Z")
    article = make_article(feed)
    call_command("export_trace", str(file), verbosity=0)
    trace = read_trace(file)
    assert trace.feeds == (feed.url,)
    assert trace.published.tolist() == [pytest.approx(article.published.timestamp(), abs=1)]
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export_trace", str(tmp_path / "no" / "own.csv.gz"))
