"""The replay: strictly in order of time, lists found as they were shown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from articles.interest.evaluation.baselines import NewestFirst, rankers
from articles.interest.evaluation.events import Log, LoggedAction
from articles.interest.evaluation.replay import LIST_GAP, evaluate, sessions_of
from articles.interest.facts import Facts
from articles.interest.model import LoggedEvent
from articles.interest.ranking import ShownArticle

HOUR = 3600.0


class Spy:
    """Remembers what it learned and how much it knew at each list."""

    name = "spy"

    def __init__(self) -> None:
        self.learned: list[tuple[str, float]] = []
        self.knew: list[int] = []
        self.unseen: list[list[bool]] = []

    def scores(self, subscriber: str, shown: Sequence[ShownArticle], at: float) -> list[float]:
        self.knew.append(len(self.learned))
        self.unseen.append([each.unseen for each in shown])
        return [0.0] * len(shown)

    def learn(self, subscriber: str, event: LoggedEvent) -> None:
        self.learned.append((event.kind, event.at))


def log_of(*events: tuple[float, str, str, str], who: str = "ann") -> Log:
    log = Log(
        "test", [LoggedAction(at, who, kind, article, shown_in) for at, kind, article, shown_in in events]
    )
    log.articles = {event.article: Facts(feed=event.article[0]) for event in log.events}
    return log


def test_a_list_is_scored_before_anything_in_it_is_learned():
    spy = Spy()
    log = log_of(
        (0, "shown", "a1", "l1"), (0, "shown", "b1", "l1"), (5, "opened", "a1", ""),
        (HOUR, "shown", "a2", "l2"), (HOUR, "shown", "b2", "l2"), (HOUR + 5, "opened", "b2", ""),
    )  # fmt: skip
    found = evaluate(log, methods=[spy])
    assert spy.knew == [0, 3]
    assert (found.sessions, found.measured, found.openings, found.unattributed) == (2, 2, 2, 0)


def test_an_opening_after_later_lists_is_learned_when_it_comes():
    spy = Spy()
    log = log_of(
        (0, "shown", "a1", "l1"), (HOUR, "shown", "b1", "l2"), (HOUR + 1, "opened", "b1", ""),
        (2 * HOUR, "opened", "a1", ""), (3 * HOUR, "shown", "a2", "l3"), (3 * HOUR, "opened", "a2", ""),
    )  # fmt: skip
    found = evaluate(log, methods=[spy])
    assert spy.knew == [0, 1, 4]
    assert spy.learned[2:4] == [("opened", HOUR + 1), ("opened", 2 * HOUR)]
    assert found.measured == 3


def test_an_opening_belongs_to_the_list_it_names_else_to_the_last_that_showed_it():
    events = log_of(
        (0, "shown", "a", "l1"), (1, "shown", "a", "l2"), (2, "opened", "a", "l1"), (3, "opened", "a", ""),
        (4, "opened", "z", ""),
    ).ordered()  # fmt: skip
    found = sessions_of(events)
    assert [session.opened for session in found.first.values()] == [{"a"}, {"a"}]
    assert found.unattributed == 1


def test_lists_without_names_end_with_a_pause_or_when_an_article_comes_again():
    events = log_of(
        (0, "shown", "a", ""), (0, "shown", "a", ""), (LIST_GAP, "shown", "b", ""),
        (LIST_GAP + 1, "shown", "a", ""), (3 * LIST_GAP, "shown", "c", ""),
    ).ordered()  # fmt: skip
    assert [set(each.articles) for each in sessions_of(events).first.values()] == [{"a", "b"}, {"a"}, {"c"}]


def test_subscribers_have_lists_and_weights_of_their_own():
    both = log_of((0, "shown", "a", ""), (1, "opened", "a", ""))
    both.events += log_of((0, "shown", "a", ""), (0, "shown", "b", ""), who="ben").events
    both.articles["b"] = Facts()
    methods = rankers()
    found = evaluate(both, methods=methods)
    assert (found.sessions, found.subscribers) == (2, 2)
    interest = next(method for method in methods if method.name == "interest")
    ann, ben = interest.weights["ann"], interest.weights["ben"]
    assert ann.aged(1).score({"feed:a": 1.0}) > 0 > ben.aged(1).score({"feed:a": 1.0})


def test_lists_without_an_opening_are_learned_from_and_not_measured():
    spy = Spy()
    found = evaluate(log_of((0, "shown", "a", "l1"), (1, "less", "a", "l1")), methods=[spy])
    assert (found.sessions, found.measured, len(spy.learned), spy.knew) == (1, 0, 2, [])
    assert found.methods["spy"]["auc"].mean is None


def test_what_was_opened_and_is_shown_again_is_not_held_against_it():
    spy = Spy()
    evaluate(log_of((0, "shown", "a", "l1"), (1, "opened", "a", ""), (2, "shown", "a", "l2")), methods=[spy])
    assert [kind for kind, _ in spy.learned] == ["shown", "opened"]


def test_the_ranker_is_told_what_was_never_shown():
    spy = Spy()
    log = log_of(
        (0, "shown", "a", "l1"), (0, "opened", "a", ""),
        (9, "shown", "a", "l2"), (9, "shown", "b", "l2"), (9, "opened", "b", ""),
    )  # fmt: skip
    evaluate(log, methods=[spy])
    assert spy.unseen == [[True], [True, False]]  # newest first: b was first heard of later


def test_newest_first_goes_by_publication_and_by_the_first_mention_without():
    log = log_of((0, "shown", "a", "l1"), (0, "shown", "b", "l1"), (1, "opened", "b", ""))
    log.articles["a"].published, log.articles["b"].published = -50.0, -5.0
    assert evaluate(log, methods=[NewestFirst()]).methods["newest"]["auc"].mean == 1.0


def test_all_methods_are_deterministic():
    log = log_of(*[
        (float(i // 5), kind, f"{'abc'[i % 3]}{i}", f"l{i // 5}")
        for i in range(200) for kind in ["shown", "opened"][: 1 + (i % 3 == 0)]
    ])  # fmt: skip
    first, second = evaluate(log), evaluate(log)
    assert first == second
    assert list(first.methods) == [
        "newest", "source-affinity", "keywords", "popularity", "interest", "interest-personal",
        "interest-keywords", "interest-exploring",
    ]  # fmt: skip
    assert first.methods["source-affinity"]["auc"].mean > 0.8
    assert first.methods["interest"]["auc"].mean > 0.8
    assert evaluate(log, seed=2).methods["interest"]["auc"].mean == first.methods["interest"]["auc"].mean


@pytest.mark.parametrize("method", rankers(), ids=lambda method: method.name)
def test_a_method_that_learned_nothing_orders_newest_first_at_least_on_ties(method):
    shown = [ShownArticle({"feed:a": 1.0}, float(100 - i)) for i in range(12)]
    scores = method.scores("ann", shown, 200.0)
    assert scores == sorted(scores, reverse=True)
