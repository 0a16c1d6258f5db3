"""SIMULATION: invented subscribers whose interests are known. The model finds them."""

from __future__ import annotations

import io

import pytest

from articles.interest.evaluation.baselines import KeywordsOnly, NewestFirst, SourceAffinity
from articles.interest.evaluation.events import parse_events
from articles.interest.evaluation.replay import evaluate
from articles.interest.model import Weights
from articles.interest.ranking import Candidate, InterestRanking, ranked_candidates
from benchmarks.interest import Size, apart, as_lines, part_of, simulated_log

SMALL = Size(subscribers=6, sessions=40)


@pytest.fixture(scope="module")
def mixed():
    return simulated_log(7, SMALL, kinds=("mixed",))


def test_the_model_beats_newest_first_and_keywords_only_with_intervals_apart(mixed):
    found = evaluate(mixed, methods=[NewestFirst(), KeywordsOnly(), InterestRanking()])
    assert apart(found, "newest")
    assert apart(found, "keywords")


def test_the_simulation_is_not_made_for_the_model():
    """Where clicks follow feeds, source affinity is as good; where topics, keywords beat newest first."""
    log = simulated_log(7, SMALL, kinds=("words", "sources"))
    sources = evaluate(part_of(log, "sources"), methods=[NewestFirst(), SourceAffinity(), InterestRanking()])
    assert apart(sources, "newest")
    assert not apart(sources, "source-affinity")
    words = evaluate(part_of(log, "words"), methods=[NewestFirst(), KeywordsOnly()]).methods
    assert words["keywords"]["ndcg@10"].mean > words["newest"]["ndcg@10"].mean


def test_reset_returns_to_newest_first(mixed):
    learned = InterestRanking()
    evaluate(mixed, methods=[learned])
    latest = [Candidate(i, f.published, f.features()) for i, f in enumerate(mixed.articles.values())][-60:]
    newest = [each.article for each in sorted(latest, key=lambda each: -each.published)]
    weights = learned.weights["mixed-0"]
    assert [each.article_id for each in ranked_candidates(weights, latest)] != newest
    assert [each.article_id for each in ranked_candidates(Weights(), latest)] == newest


def test_a_seed_makes_one_log_that_the_command_can_read():
    log = simulated_log(3, Size(1, 3))
    assert as_lines(log) == as_lines(simulated_log(3, Size(1, 3))) != as_lines(simulated_log(4, Size(1, 3)))
    read = parse_events("x", io.BytesIO(as_lines(log)))
    assert read.ordered() == log.ordered()
    assert {key: facts.features() for key, facts in read.articles.items()} == {
        key: log.articles[key].features() for key in read.articles
    }
