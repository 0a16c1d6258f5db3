"""Priors of posting: learned from traces and from one's own feeds, exchanged, and refused when wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from feeds.models import PostingPopulation
from feeds.replay.trace import Trace
from feeds.visiting.planning import plan
from feeds.visiting.posting import histories, observe, population
from feeds.visiting.priors import PriorError, default_prior, learn_prior, parse_prior
from tests.factories import make_feed
from tests.feeds.test_planning import NOW

MONDAY = 1767571200.0  # 2026-01-05, UTC


def make_trace() -> Trace:
    """Two feeds for two weeks: one posts at eight every day, the other never but once."""
    posts = [("a", MONDAY + day * 86_400 + 8 * 3_600) for day in range(14)]
    return Trace.of("made", [*posts, ("b", MONDAY + 13.99 * 86_400)])


def test_a_trace_teaches_the_hours_and_the_mean_of_a_feed() -> None:
    learned = parse_prior(learn_prior([make_trace()]))
    assert learned.mean == pytest.approx(15 / (14 * 24 * 2), rel=0.01)
    assert learned.profile.mean() == pytest.approx(1)
    assert int(learned.profile.argmax()) % 24 == 8


def test_what_comes_with_freshet_has_a_night() -> None:
    day = default_prior().profile.reshape(7, 24)
    assert day.mean(axis=0).max() > 2 * day.mean(axis=0).min()
    assert 0.01 < default_prior().mean < 1


@pytest.mark.parametrize(
    "change",
    [
        {"format": "freshet priors 9"}, {"mean": 0}, {"mean": -1}, {"mean": "x"}, {"mean": True},
        {"mean": float("nan")}, {"profile": [1.0] * 167}, {"profile": [0.0] * 168}, {"profile": [None] * 168},
        {"profile": [float("inf")] * 168}, {"profile": [-1.0] * 168}, {"profile": "flat"},
    ],
)  # fmt: skip
def test_a_file_that_is_no_prior_is_refused(change: dict[str, Any]) -> None:
    content = learn_prior([make_trace()])
    with pytest.raises(PriorError):
        parse_prior({**content, **change})
    with pytest.raises(PriorError):
        parse_prior([content])


@pytest.mark.django_db
def test_a_new_feed_is_expected_to_post_as_the_file_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed = make_feed()
    assert population().profile == pytest.approx(default_prior().profile)
    file = tmp_path / "prior.json"
    file.write_text(json.dumps(learn_prior([make_trace()])))
    call_command("priors", "--use", str(file))
    rates = histories([feed.pk]).forecast(population()).rates()[0].reshape(7, 24).mean(axis=0)
    assert int(rates.argmax()) == 8
    capsys.readouterr()
    call_command("priors")
    assert json.loads(capsys.readouterr().out) == json.loads(file.read_text())
    call_command("priors", "--use", "shipped")
    assert population().profile == pytest.approx(default_prior().profile)
    file.write_text("{")
    with pytest.raises(CommandError, match="is no file of priors"):
        call_command("priors", "--use", str(file))
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("priors", "--use", str(tmp_path / "none"))


@pytest.mark.django_db
def test_ones_own_feeds_teach_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="nothing was posted yet"):
        call_command("priors", "--own")
    feed, now = make_feed(phase="normal"), NOW.timestamp()
    observe([feed.pk], [now - 86_400], [now], [3], [[now - 3600.0] * 3], first=[False])
    plan(NOW)
    call_command("priors", "--own")
    content = json.loads(capsys.readouterr().out)
    assert (content["feeds"], content["articles"]) == (1, 3)
    assert np.isfinite(parse_prior(content).profile).all()
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps(content))
    PostingPopulation.objects.all().delete()
    call_command("priors", "--use", str(file))
    assert population().mean == pytest.approx(3 / 24, rel=0.02)


@pytest.mark.parametrize("content", [b"x", b"\xff\xfe", b"[" * 100_000, b"{}", b""])
def test_a_damaged_file_is_named_by_the_replay(tmp_path: Path, content: bytes) -> None:
    trace, file = tmp_path / "trace.csv", tmp_path / "prior.json"
    trace.write_text("feed,published\n" + "".join(f"a,{MONDAY + day * 86_400}\n" for day in range(40)))
    file.write_bytes(content)
    with pytest.raises(CommandError, match="is no file of priors"):
        call_command("replay", str(trace), "--prior", str(file))
