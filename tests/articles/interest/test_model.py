"""The pure model: contributions add up, weights age, what is undone never happened."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.interest.features import author_name, features_of_article
from articles.interest.model import (
    DAY,
    HALF_LIFE,
    KINDS,
    MAX_FEATURES,
    PRIOR,
    SPECIAL_PRIORS,
    STRENGTHS,
    LoggedEvent,
    Weights,
    _minimum,
    learned_from,
    sigmoid,
)

START = 1.7e9
names = st.builds("{}:{}".format, st.sampled_from(KINDS), st.sampled_from("abcde"))
features = st.dictionaries(names, st.floats(0.05, 2.0), max_size=8)
kinds = st.sampled_from(sorted(STRENGTHS))


@st.composite
def logs(draw: st.DrawFn) -> list[LoggedEvent]:
    """Events in order of time, over up to some months."""
    times = sorted(draw(st.lists(st.floats(0, 200 * DAY), max_size=12)))
    return [
        LoggedEvent(draw(features), draw(kinds), START + at, START + at - draw(st.floats(0, 30 * DAY)))
        for at in times
    ]


@given(logs(), features, st.floats(0, 400 * DAY))
def test_contributions_add_up_to_the_score(log, article, later):
    aged = learned_from(log).aged(START + later)
    parts = aged.contributions(article)
    assert math.isclose(sum(value for _, value in parts), aged.score(article), abs_tol=1e-9)
    assert all(math.isclose(value, article[name] * aged.weight(name).mean) for name, value in parts)
    assert aged.variance(article) >= 0


@given(logs(), st.data())
def test_learning_the_rest_is_as_if_one_event_had_never_happened(log, data):
    if not log:
        return
    gone = data.draw(st.integers(0, len(log) - 1))
    rest = log[:gone] + log[gone + 1 :]
    kept = Weights()
    for event in rest:
        kept.learn(event.features, event.kind, event.at, age=event.at - event.published)
    assert learned_from(rest) == kept
    if rest != log:
        assert learned_from(log).learned == kept.learned + 1


@given(logs(), st.floats(0, 300 * DAY), st.floats(0, 300 * DAY))
def test_ageing_twice_is_ageing_once_for_the_whole_time(log, first, second):
    weights = learned_from(log)
    end = max((event.at for event in log), default=START)
    halfway = Weights({name: weights.belief(name, end + first) for name in weights.beliefs})
    for name in weights.beliefs:
        straight = weights.belief(name, end + first + second)
        for a, b in zip(halfway.belief(name, end + first + second)[:2], straight[:2], strict=True):
            assert math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)


def test_half_is_forgotten_in_a_half_life_and_nearly_all_in_ten():
    weights = Weights()
    weights.learn({"feed:a": 1.0}, "more", START)
    fresh, half = weights.belief("feed:a", START), weights.belief("feed:a", START + HALF_LIFE)
    assert half.mean == pytest.approx(fresh.mean / 2)
    assert half.precision - PRIOR.precision == pytest.approx((fresh.precision - PRIOR.precision) / 2)
    assert abs(weights.belief("feed:a", START + 10 * HALF_LIFE).mean) < fresh.mean / 1000
    assert weights.belief("bias", START + 1000 * HALF_LIFE)[:2] == pytest.approx(SPECIAL_PRIORS["bias"][:2])


def test_time_that_runs_backwards_ages_nothing():
    weights = Weights()
    weights.learn({"feed:a": 1.0}, "more", START)
    assert weights.belief("feed:a", START - DAY) == weights.belief("feed:a", START)
    weights.learn({"feed:a": 1.0}, "more", START - DAY)
    assert weights.beliefs["feed:a"].at == START


@given(features.filter(bool), st.sampled_from(["opened", "more", "saved"]))
def test_what_is_wanted_scores_higher_and_what_is_refused_lower(article, kind):
    liked, refused = Weights(), Weights()
    liked.learn(article, kind, START)
    refused.learn(article, "less", START)
    assert liked.aged(START).score(article) > 0 > refused.aged(START).score(article)


def test_events_weigh_as_their_strengths_say():
    article = {"feed:a": 1.0}
    scores = {}
    for kind in STRENGTHS:
        weights = Weights()
        weights.learn(article, kind, START)
        scores[kind] = weights.aged(START).score(article)
    assert scores["more"] > scores["saved"] > scores["opened"] > 0
    assert 0 > scores["shown"] > scores["hidden"] > scores["less"]
    assert abs(scores["shown"]) < scores["opened"] / 5


@given(st.floats(-30, 30), st.floats(0, 1e4), st.sampled_from([0.0, 1.0]))
def test_a_step_ends_at_the_minimum(before, spread, target):
    z = _minimum(before, spread, target)
    assert math.isclose(z, before + spread * (target - sigmoid(z)), rel_tol=1e-6, abs_tol=1e-6)


def test_a_weight_gets_surer_with_every_event():
    weights, certain = Weights(), [PRIOR.precision]
    for i in range(5):
        weights.learn({"keyword:a": 1.0}, "opened" if i % 2 else "shown", START)
        certain.append(weights.belief("keyword:a", START).precision)
    assert certain == sorted(set(certain))


def test_a_kind_that_tells_nothing_loses_trust_and_one_that_tells_gains():
    weights = Weights()
    for i in range(400):
        wanted = i % 2 == 0
        article = {f"feed:{'good' if wanted else 'bad'}": 1.0, f"category:{i % 3}": 1.0}
        weights.learn(article, "opened" if wanted else "shown", START + i * 3600.0)
    aged = weights.aged(START + 400 * 3600.0)
    assert aged.trust("feed") > 1 > aged.trust("category") >= 0


@given(logs(), features)
def test_scores_and_their_variances_are_sums_over_features(log, article):
    aged = learned_from(log).aged(START + 60 * DAY)
    score, variance = aged.score_and_variance(article)
    again = learned_from(log).aged(START + 60 * DAY)
    known = [(value, again.weight(name)) for name, value in article.items()]
    assert score == pytest.approx(sum(value * weight.mean for value, weight in known))
    assert variance == pytest.approx(sum(value**2 / weight.precision for value, weight in known))


def test_of_what_nothing_was_learned_the_prior_holds():
    aged = Weights().aged(START)
    assert aged.weight("author:new") == (PRIOR.mean, PRIOR.precision, START)
    assert {kind[0] for kind in KINDS} == {"k", "c", "f", "a"}


def test_recency_is_learned_but_never_prefers_what_is_old():
    weights = Weights()
    new = weights.aged(START)
    assert 0 == new.recency(0) > new.recency(DAY) > new.recency(30 * DAY)
    for i in range(200):
        weights.learn({}, "opened" if i % 2 else "shown", START, age=20 * DAY if i % 2 else 0.0)
    assert weights.aged(START).recency(DAY) == 0


def test_the_least_telling_features_go_when_there_are_too_many():
    weights = Weights()
    weights.learn({"feed:kept": 1.0}, "more", START)
    for i in range(MAX_FEATURES + 10):
        weights.learn({f"keyword:{i}": 0.2}, "shown", START)
    assert len(weights.beliefs) <= MAX_FEATURES
    assert {"feed:kept", *(name for name in SPECIAL_PRIORS if name != "age" and "trust" not in name)} <= set(
        weights.beliefs
    )


@settings(max_examples=30)
@given(logs())
def test_a_forgotten_feature_is_learned_from_later_events_alone(log):
    assert "feed:a" not in learned_from(log, {"feed:a": START + 500 * DAY}).beliefs
    assert learned_from(log, {"feed:a": START - 1}) == learned_from(log)


def test_a_kind_that_there_is_not_is_refused():
    with pytest.raises(KeyError):
        Weights().learn({}, "sneezed", START)


def test_features_are_scaled_by_kind_and_spelled_in_one_way():
    found = features_of_article(
        feed="7",
        categories=["Science ", "science", "Space"],
        author="By  Ada Lovelace",
        keywords=[("Comet", 3.0), ("comet", 1.0), ("probe", 4.0), ("", 2.0), ("x", -1.0), ("y", math.nan)],
    )
    assert found["feed:7"] == found["author:ada lovelace"] == 1
    assert math.hypot(found["category:science"], found["category:space"]) == pytest.approx(1)
    assert math.hypot(found["keyword:comet"], found["keyword:probe"]) == pytest.approx(2)
    assert found["keyword:comet"] / found["keyword:probe"] == pytest.approx(3 / 4)
    assert len(found) == 6
    assert author_name("ada@example.org (Ada Lovelace)") == "ada lovelace"
    assert features_of_article() == {}
