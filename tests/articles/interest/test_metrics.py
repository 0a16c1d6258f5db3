"""AUC, nDCG@10, recall@20 and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score, roc_auc_score

from articles.interest.evaluation.metrics import intervals, measured, resampled_by

lists = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=40)


@given(lists)
def test_auc_is_what_scikit_learn_says(rows):
    scores = np.array([float(score) for score, _ in rows])
    opened = np.array([flag for _, flag in rows])
    auc, _, _ = measured(scores, opened)
    if opened.all() or not opened.any():
        assert math.isnan(auc)
    else:
        assert auc == pytest.approx(roc_auc_score(opened, scores))


@given(st.lists(st.booleans(), min_size=2, max_size=40).filter(any), st.randoms(use_true_random=False))
def test_ndcg_is_what_scikit_learn_says_without_ties(flags, random):
    scores = list(range(len(flags)))
    random.shuffle(scores)
    _, ndcg, _ = measured(np.array(scores, dtype=float), np.array(flags))
    assert ndcg == pytest.approx(ndcg_score([flags], [scores], k=10))


def test_ties_keep_the_order_given():
    opened = np.array([True, False, False])
    assert measured(np.zeros(3), opened)[1:] == (1.0, 1.0)
    assert measured(np.zeros(3), opened[::-1])[1] == pytest.approx(0.5)


def test_recall_counts_the_first_twenty():
    opened = np.zeros(40, dtype=bool)
    opened[[0, 19, 20, 39]] = True
    assert measured(-np.arange(40.0), opened)[2] == 0.5


def test_a_list_without_an_opening_tells_nothing():
    assert all(math.isnan(value) for value in measured(np.ones(3), np.zeros(3, dtype=bool)))


def test_intervals_hold_the_mean_and_are_the_same_for_a_seed():
    values = np.random.default_rng(0).random((200, 2))
    values[:50, 1] = np.nan
    first, second = intervals(values, ["ann"] * 200)
    assert first.mean == pytest.approx(values[:, 0].mean())
    assert first.low < first.mean < first.high
    assert (first.sessions, second.sessions) == (200, 150)
    assert intervals(values, ["ann"] * 200) == [first, second]
    assert intervals(values, ["ann"] * 200, seed=2) != [first, second]


def test_lists_of_one_subscriber_are_drawn_together_when_there_are_many_subscribers():
    owners = [f"s{i % 12}" for i in range(240)]
    values = np.array([[float(i % 12 < 6)] for i in range(240)])
    by_subscriber = intervals(values, owners)[0]
    by_session = intervals(values, ["one"] * 240)[0]
    assert resampled_by(owners) == "subscriber"
    assert by_subscriber.high - by_subscriber.low > 2 * (by_session.high - by_session.low)


def test_nothing_measured_is_said_to_be_nothing():
    (nothing,) = intervals(np.zeros((0, 1)), [])
    assert (nothing.mean, nothing.low, nothing.sessions) == (None, None, 0)
