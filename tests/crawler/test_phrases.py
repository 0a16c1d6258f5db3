"""Sentences of the overview."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.operation.site.health import Health
from crawler.operation.site.phrases import bar_width, cost, freshness, parts, spent, verdict
from crawler.operation.site.statistics import Budget, Delay, Statistics

WELL = Health("ok", "ok", "ok", "ok")
FIGURES = Statistics(
    feeds=1, active=1, paused=0, gone=0, training=0, failing=0, waiting=0, articles=0, new_articles=0,
    retrievals=0, not_modified=0, same_body=0, failures=0, bytes=0, delay=Delay(None, None, None, None),
    budget=Budget(0, 0, 0),
)  # fmt: skip


@pytest.mark.parametrize(
    ("health", "waiting", "free", "shape", "words"),
    [
        (WELL, 0, 1e12, "good", "All is well. Nothing waits for you."),
        (WELL, 1, 1e12, "good", "All is well. One thing waits for you."),
        (WELL, 2000, 1e12, "good", "All is well. 2,000 things wait for you."),
        (replace(WELL, status="starting", tick="none yet"), 5, 1e12, "learn",
         "Freshet is starting. Give it a few minutes."),
        (replace(WELL, status="failing"), 5, 1e12, "bad",
         "Something does not work. What waits for you says what, and what to do."),
        (WELL, 0, 1e9, "bad", "The disk is nearly full. Make room, or let Freshet keep less."),
    ],
)  # fmt: skip
def test_the_verdict(health: Health, waiting: int, free: float, shape: str, words: str) -> None:
    verdict_shape, first, second = verdict(health, waiting, free)
    assert (verdict_shape, f"{first} {second}") == (shape, words)


def test_parts_that_fail_say_what_to_do_and_those_of_a_start_do_not() -> None:
    assert all(part.shape == "good" for part in parts(WELL))
    failing = replace(WELL, status="failing", workers="no worker has answered", walls="no walls here")
    by_name = {part.name: part for part in parts(failing)}
    assert by_name["Visiting feeds"].words == "no worker has answered. Start workers, or look into their log."
    assert by_name["Protection"].shape == "warn"
    starting = replace(failing, status="starting")
    assert {part.name: part.words for part in parts(starting)}["Visiting feeds"] == "is starting"
    behind = parts(replace(WELL, graph_behind=3, graphs_set_aside=2))
    assert "3 changes behind" in [part.words for part in behind]


def test_figures_that_mean_nothing_yet_are_left_out() -> None:
    assert (freshness(FIGURES), cost(FIGURES)) == ("", "")
    measured = replace(
        FIGURES, delay=Delay(360.0, 2460.0, None, None), retrievals=100, not_modified=80, same_body=9
    )
    assert freshness(measured) == "until half of all new articles are here; 41 minutes until 95 of 100 are"
    assert cost(measured) == "9 of 10 found out cheaply that nothing is new"


def test_what_was_spent_is_a_sentence_and_a_bar() -> None:
    half = replace(FIGURES, budget=Budget(4000.0, 2000, 0.5))
    assert spent(half) == "2,000 of 4,000 requests in 24 hours"
    assert bar_width(half) == "200.0"
    assert bar_width(replace(FIGURES, budget=Budget(10.0, 30, 3.0))) == "400.0"
    assert bar_width(FIGURES) == "0.0"
