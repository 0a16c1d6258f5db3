"""What all subscribers open, and how much it counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.interest.crowd import DAY, MIN_LISTS, SIGNALS, Crowd, Rate
from articles.interest.evaluation.events import Log, LoggedAction
from articles.interest.evaluation.replay import evaluate
from articles.interest.facts import Facts
from articles.interest.model import Weights
from articles.interest.ranking import Candidate, ranked_candidates

POPULARITY = SIGNALS.index("popularity")


def taught(lists: int = MIN_LISTS) -> Crowd:
    """A crowd that opens "good" in every list, never "bad"."""
    crowd = Crowd()
    for number in range(lists):
        at, who = number * 700.0, f"reader{number}"
        for article in ("good", "bad", "other"):
            features = {f"feed:{article}": 1.0, "keyword:same": 1.0}
            signals = crowd.signals(article, features, at=at, age=0.0, is_seen=False)
            crowd.learn_shown(who, article, features, signals, at)
        crowd.learn_opened(who, "good", {"feed:good": 1.0, "keyword:same": 1.0}, at + 5)
    return crowd


def test_what_is_opened_often_comes_before_what_is_not():
    crowd = taught()
    assert crowd.is_learned
    candidates = [Candidate(1, 50.0, {}, name="bad"), Candidate(2, 40.0, {}, name="good")]
    placed = ranked_candidates(Weights(), candidates, crowd=crowd)
    assert [each.article_id for each in placed] == [2, 1]
    assert placed[0].crowd > placed[1].crowd
    assert crowd.weights[POPULARITY] > 0


def test_until_enough_lists_were_opened_newcomers_have_the_newest_first():
    crowd = taught(MIN_LISTS - 1)
    candidates = [Candidate(1, 50.0, {}, name="bad"), Candidate(2, 40.0, {}, name="good")]
    assert [each.article_id for each in ranked_candidates(Weights(), candidates, crowd=crowd)] == [1, 2]


def test_an_opening_of_no_list_changes_no_rate():
    crowd = Crowd()
    crowd.learn_opened("ann", "good", {"feed:1": 1.0}, 0.0)
    assert crowd.articles == crowd.features == {}
    assert crowd.lists == 0


def test_old_showings_count_less():
    rate = Rate(8.0, 4.0, 0.0)
    assert rate.aged(DAY, DAY) == (4.0, 2.0)
    rate.add(DAY, DAY, showings=1.0)
    assert (rate.showings, rate.opened, rate.at) == (5.0, 2.0, DAY)


def test_signals_are_nothing_where_nothing_is_known():
    signals = Crowd().signals("new", {"keyword:x": 1.0, "feed:1": 1.0}, at=0.0, age=0.0, is_seen=False)
    assert not signals.any()


def test_a_crowd_comes_back_as_it_was_packed():
    crowd = taught()
    at = 700.0 * MIN_LISTS
    again = Crowd.unpacked(crowd.packed(at))
    features = {"feed:good": 1.0, "keyword:same": 1.0}
    for article in ("good", "bad", "never"):
        signals = [
            each.signals(article, features, at=at, age=3600.0, is_seen=True) for each in (crowd, again)
        ]
        assert np.allclose(*signals, atol=0.02)
    assert np.allclose(crowd.weights, again.weights)
    assert again.lists == crowd.lists


@pytest.mark.parametrize("packed", [b"", b"x", b"\x78\x9c\x03\x00\x00\x00\x00\x01"])
def test_what_is_no_crowd_is_an_empty_one(packed):
    assert Crowd.unpacked(packed).lists == 0


def test_the_parts_of_the_crowd_add_up():
    crowd = taught()
    signals = crowd.signals(
        "good", {"feed:good": 1.0}, at=0.0, age=DAY, is_seen=True, personal=0.7, recency=-0.3
    )
    assert math.isclose(sum(crowd.parts(signals).values()), crowd.score(signals) - 0.7 + 0.3)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.sampled_from("xyz"),
            st.booleans(),
            st.floats(-1e9, 1e12, allow_nan=False),
        ),
        max_size=60,
    )
)
def test_any_order_of_events_leaves_finite_numbers(events):
    crowd = Crowd()
    for who, article, opened, at in events:
        features = {"keyword:k": 1e-3, f"feed:{article}": 1.0}
        if opened:
            crowd.learn_opened(who, article, features, at)
        else:
            signals = crowd.signals(article, features, at=at, age=at, is_seen=False)
            assert np.isfinite(signals).all()
            crowd.learn_shown(who, article, features, signals, at)
    assert np.isfinite(crowd.weights).all()


def test_the_model_follows_the_crowd_where_tastes_are_shared():
    random = np.random.default_rng(5)
    appeal = random.normal(0, 1.2, 60)
    log = Log("news")
    for number in range(60):
        log.articles[f"n{number}"] = Facts(categories=["c"], published=float(number))
    for number in range(400):
        at, who, name = number * 1000.0, f"u{number % 150}", f"l{number}"
        shown = random.choice(60, 12, replace=False)
        for article in shown:
            log.add(LoggedAction(at, who, "shown", f"n{article}", name))
        chosen = shown[int((appeal[shown] + random.gumbel(0, 1, 12)).argmax())]
        log.add(LoggedAction(at + 5, who, "opened", f"n{chosen}", name))
    methods = evaluate(log).methods
    auc = {name: row["auc"].mean for name, row in methods.items()}
    assert auc["interest"] > auc["newest"] + 0.1
    assert auc["interest"] > auc["interest-personal"] + 0.1
    assert auc["interest"] > auc["popularity"] - 0.04  # of which a quarter comes before it has learned
