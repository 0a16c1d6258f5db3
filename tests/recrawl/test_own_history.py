"""Watched sites as histories: written, read back, compared and surveyed like recorded ones."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client

from recrawl.models import Check, Site, Visit, WatchedPage
from recrawl.own_history import NoHistoryError, as_lines, own_history
from recrawl.replay.history import read_history
from recrawl.replay.survey import survey
from tests.factories import make_user
from tests.recrawl.sites import Paper, visit, watch

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]


@pytest.fixture
def paper() -> Iterator[Paper]:
    with Paper() as site:
        yield site


@pytest.fixture
def watched(paper: Paper) -> Site:
    """A site of eight pages, watched for four weeks."""
    site = watch(paper)
    for week in range(1, 4):
        _a_week_later()
        if week == 1:
            paper.write("/", "Front", "Other news", ["/news/", "/about"])
            paper.write("/news/a", "Story a", "What a did next", ["/news/"])
        if week == 2:
            del paper.replies["/news/e"]
            paper.write("/news/f", "Story f", "What f did", ["/news/"])
            paper.write("/news/", "News", "What is new", [f"/news/{name}" for name in "abcdef"])
        visit(site)
    return site


def _a_week_later() -> None:
    week = timedelta(days=7)
    Visit.objects.update(started=F("started") - week)
    Check.objects.update(at=F("at") - week)
    WatchedPage.objects.update(first_seen=F("first_seen") - week)


def test_the_states_are_those_that_visits_found(watched: Site) -> None:
    history = own_history(watched)
    assert history.top == "/"
    checksums = [{path: checksum for path, (checksum, _) in week.items()} for week in history.weeks]
    assert len(checksums) == 4
    assert set(checksums[0]) == {"/", "/about", "/news/", *(f"/news/{name}" for name in "abcde")}
    assert [week["/"] for week in checksums] == ["0", "1", "1", "1"]
    assert [week["/news/a"] for week in checksums] == ["0", "1", "1", "1"]
    assert [week["/about"] for week in checksums] == ["0"] * 4
    assert ["/news/e" in week for week in checksums] == [True, True, False, False]
    assert ["/news/f" in week for week in checksums] == [False, False, True, True]
    assert history.weeks[0]["/"][1] == ("/news/", "/about")


def test_what_is_written_is_read_as_it_was(watched: Site, tmp_path: Path) -> None:
    history, path = own_history(watched), tmp_path / "own.jsonl.gz"
    path.write_bytes(gzip.compress("".join(as_lines(history)).encode()))
    read = read_history(path)
    assert (read.top, read.dates, read.weeks) == (history.top, history.dates, history.weeks)


def test_without_addresses_no_word_of_them_is_left_and_the_directories_are(watched: Site) -> None:
    plain, bare = own_history(watched), own_history(watched, anonymous=True)
    text = "".join(as_lines(bare)) + bare.name
    assert not any(word in text for word in ("news", "about", "127.0.0", watched.origin))
    assert [sorted(map(len, week)) for week in bare.weeks] != []
    for one, other in zip(plain.weeks, bare.weeks, strict=True):
        assert sorted(path.count("/") for path in one) == sorted(path.count("/") for path in other)
        assert sorted(state[0] for state in one.values()) == sorted(state[0] for state in other.values())
    assert survey(bare, [1]).as_json() == survey(plain, [1]).as_json()


def test_the_commands_export_replay_and_survey_own_sites(
    watched: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("export_history", "--to", tmp_path)
    path = tmp_path / f"site-{watched.pk}.jsonl.gz"
    call_command("recrawl_replay", path, "--method", "C", "breadth-first", "--weeks", "1", "--json")
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["files"] == 1
    call_command("survey", "--weeks", "1", "--json")
    own = json.loads(capsys.readouterr().out)
    call_command("survey", path, "--weeks", "1", "--json")
    assert list(json.loads(capsys.readouterr().out).values()) == list(own.values())
    (group,) = own.values()
    assert (group["servers"], group["pages"]) == (1, 8)
    # Of three comparisons the top page had changed in the first, in which it and one of 8 pages had.
    assert group["periods"]["1"]["top_changed"] == pytest.approx(1 / 3)
    assert group["periods"]["1"]["inside"] == pytest.approx(2 / 8)
    call_command("survey", "--weeks", "2,4")
    assert "the paper, 2004" in capsys.readouterr().out


def test_what_has_no_history_is_named(paper: Paper, tmp_path: Path, client: Client) -> None:
    with pytest.raises(CommandError, match="watch sites for two weeks"):
        call_command("survey")
    site = watch(paper)
    with pytest.raises(NoHistoryError):
        own_history(site)
    with pytest.raises(CommandError, match="no site has a history"):
        call_command("export_history", site.pk, "--to", tmp_path)
    with pytest.raises(CommandError, match="there is no site"):
        call_command("export_history", site.pk + 1, "--to", tmp_path)
    client.force_login(make_user())
    assert client.get(f"/sites/{site.pk}/history.jsonl.gz").status_code == 404
    assert "visits in two weeks" in client.get(f"/sites/{site.pk}/methods/").content.decode()
    assert client.get(f"/api/sites/{site.pk}/history.jsonl.gz/").status_code == 400


def test_the_page_compares_methods_and_hands_out_the_file(watched: Site, client: Client) -> None:
    client.force_login(make_user())
    page = client.get(f"/sites/{watched.pk}/methods/").content.decode()
    assert page.count('<th scope="row"') == 10
    assert "in use" in page
    content = client.get(f"/sites/{watched.pk}/history.jsonl.gz").content
    assert gzip.decompress(content).count(b"\n") == 4
    bare: Any = client.get(f"/api/sites/{watched.pk}/history.jsonl.gz/?addresses=false")
    assert b"news" not in gzip.decompress(bare.content)
