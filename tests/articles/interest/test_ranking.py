"""The order by interest: newest first without weights, one place in ten to explore."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from articles.interest.model import DAY, Weights
from articles.interest.ranking import Candidate, ranked_candidates

START = 1.7e9
feeds = st.sampled_from(["feed:a", "feed:b", "feed:c"])
candidates = st.lists(
    st.builds(
        Candidate,
        st.integers(1, 10**6),
        st.floats(START, START + 30 * DAY),
        st.dictionaries(feeds, st.just(1.0), max_size=1),
        st.booleans(),
    ),
    max_size=45,
    unique_by=lambda each: each.article,
)


def fan_of(feed: str, times: int = 5) -> Weights:
    weights = Weights()
    for _ in range(times):
        weights.learn({feed: 1.0}, "opened", START)
    return weights


@given(candidates)
def test_without_weights_the_order_is_newest_first(shown):
    placed = ranked_candidates(Weights(), shown)
    newest = sorted(shown, key=lambda each: (-each.published, -each.article))
    assert [each.article_id for each in placed] == [each.article for each in newest]
    assert all(each.score == 0 and not each.exploring for each in placed)


@given(candidates, st.randoms(use_true_random=False))
def test_everything_is_placed_once_however_it_comes(shown, random):
    weights = fan_of("feed:a")
    placed = ranked_candidates(weights, shown)
    assert sorted(each.article_id for each in placed) == sorted(each.article for each in shown)
    random.shuffle(shown)
    assert ranked_candidates(weights, shown) == placed


@given(candidates, st.integers(0, 50))
def test_the_beginning_of_a_list_is_the_same_without_the_rest(shown, limit):
    for weights in (fan_of("feed:a"), Weights()):
        assert ranked_candidates(weights, shown, limit) == ranked_candidates(weights, shown)[:limit]


@given(candidates)
def test_one_place_in_ten_explores_and_only_what_is_unseen(shown):
    placed = ranked_candidates(fan_of("feed:a"), shown)
    unseen = {each.article for each in shown if each.unseen}
    for place, each in enumerate(placed):
        if each.exploring:
            assert place % 10 == 9
            assert each.article_id in unseen
    others = [each.score + each.recency for each in placed if not each.exploring]
    assert others == sorted(others, reverse=True)


def test_the_least_known_article_is_explored():
    weights = fan_of("feed:a", 20)
    known = [Candidate(i, START + i, {"feed:a": 1.0}) for i in range(1, 15)]
    strange = Candidate(99, START - 20 * DAY, {"feed:a": 1.0, "author:new": 1.0})
    placed = ranked_candidates(weights, [*known, strange])
    assert (placed[9].article_id, placed[9].exploring) == (99, True)
    assert sum(each.exploring for each in placed) == 1


def test_what_was_seen_is_not_explored():
    weights = fan_of("feed:a", 20)
    shown = [Candidate(i, START + i, {"feed:a": 1.0}, unseen=False) for i in range(30)]
    assert not any(each.exploring for each in ranked_candidates(weights, shown))


def test_what_is_liked_comes_before_what_is_newer_and_what_is_new_before_what_is_old():
    weights = fan_of("feed:a")
    placed = ranked_candidates(
        weights,
        [
            Candidate(1, START + 2 * DAY, {"feed:b": 1.0}),
            Candidate(2, START + DAY, {"feed:a": 1.0}),
            Candidate(3, START, {"feed:a": 1.0}),
        ],
    )
    assert [each.article_id for each in placed] == [2, 3, 1]


def test_no_candidates_make_no_list():
    assert ranked_candidates(fan_of("feed:a"), []) == []
