"""Events noted and learned from; undo, forget, reset, delete. The log decides what the weights are."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from articles.interest import stored
from articles.interest.export import export
from articles.interest.log import (
    Kind,
    delete_all,
    forget,
    hidden_articles,
    note,
    remember,
    reset,
    said_of,
    take_back,
    undo,
)
from articles.interest.models import Event, Interest
from articles.interest.stored import pack, unpack, weights_of
from articles.models import Mark
from articles.personal.marking import star
from tests.articles.interest.rows import enriched
from tests.factories import make_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def ann():
    return make_subscriber("ann")


def kinds(subscriber):
    return list(
        Event.objects.valid().filter(subscriber=subscriber).order_by("id").values_list("kind", flat=True)
    )


class Means:
    """A subscriber's weights, compared up to how they are packed."""

    def __init__(self, subscriber):
        self.of = {name: belief[:2] for name, belief in weights_of(subscriber).beliefs.items()}

    def __eq__(self, other):
        near = {name: pytest.approx(values, abs=1e-3) for name, values in other.of.items()}
        return self.of == near

    __hash__ = None


def test_what_is_noted_is_learned_in_the_same_breath(ann):
    article = enriched("comet", category="science", author="Ada")
    assert note(ann, [article.pk], Kind.MORE, NOW) == 1
    beliefs = weights_of(ann).beliefs
    for name in ("keyword:comet", "category:science", "author:ada", f"feed:{article.feed_id}"):
        assert beliefs[name].mean > 0
    assert Interest.objects.get().learned == 1


def test_being_shown_counts_once_an_hour_and_not_after_something_was_done(ann):
    first, second = enriched("x").pk, enriched("y").pk
    assert note(ann, [first, second, first], Kind.SHOWN, NOW) == 2
    assert note(ann, [first, second], Kind.SHOWN, NOW + HOUR / 2) == 0
    note(ann, [first], Kind.OPENED, NOW + HOUR / 2)
    assert note(ann, [first, second], Kind.SHOWN, NOW + 2 * HOUR) == 1


def test_opening_counts_once_an_hour_and_feedback_once(ann):
    key = enriched("x").pk
    assert [note(ann, [key], Kind.OPENED, NOW + HOUR * i * 0.6) for i in range(3)] == [1, 0, 1]
    assert [note(ann, [key], Kind.MORE, NOW + HOUR * i) for i in range(3)] == [1, 0, 0]


def test_opposites_are_taken_back(ann):
    key = enriched("x").pk
    note(ann, [key], Kind.LESS, NOW)
    note(ann, [key], Kind.HIDDEN, NOW)
    note(ann, [key], Kind.MORE, NOW)
    assert kinds(ann) == ["more"]
    assert weights_of(ann).learned == 1
    assert said_of(ann, [key, 999]) == {key: frozenset({"more"}), 999: frozenset()}


def test_articles_that_do_not_exist_are_left_out(ann):
    assert note(ann, [10**9], Kind.MORE, NOW) == 0
    assert note(ann, [], Kind.SHOWN, NOW) == 0
    assert weights_of(ann).beliefs == {}


def test_undo_is_as_if_it_had_never_happened(ann):
    ben = make_subscriber("ben")
    feed = make_feed()
    keys = [enriched(word, "shared", feed=feed, published=NOW - HOUR * i).pk for i, word in enumerate("abc")]
    for subscriber in (ann, ben):
        note(subscriber, keys, Kind.SHOWN, NOW)
    note(ann, [keys[0]], Kind.MORE, NOW + HOUR)
    for subscriber in (ann, ben):
        note(subscriber, [keys[1]], Kind.OPENED, NOW + 2 * HOUR)
    event = Event.objects.get(kind="more")
    assert Means(ann) != Means(ben)
    assert undo(event, NOW + 3 * HOUR)
    assert Means(ann) == Means(ben)
    assert not undo(event, NOW + 3 * HOUR)
    assert Event.objects.get(pk=event.pk).undone == NOW + 3 * HOUR


def test_weights_from_the_log_are_those_learned_one_by_one(ann):
    keys = [enriched(f"w{i}", f"w{i % 3}", category="c", published=NOW).pk for i in range(12)]
    note(ann, keys, Kind.SHOWN, NOW)
    for i, kind in enumerate((Kind.OPENED, Kind.MORE, Kind.LESS, Kind.HIDDEN, Kind.SAVED)):
        note(ann, [keys[i]], kind, NOW + HOUR * i)
    before = Means(ann)
    Interest.objects.update(version=stored.VERSION + 1, weights=b"of another version")
    assert Means(ann) == before
    assert Interest.objects.get().version == stored.VERSION
    Interest.objects.update(weights=b"damaged")
    assert Means(ann) == before


def test_feedback_is_kept_when_showings_fill_the_log(ann, monkeypatch):
    monkeypatch.setattr(stored, "MAX_EVENTS", 5)
    liked = enriched("comet").pk
    note(ann, [liked], Kind.MORE, NOW)
    for i in range(8):
        note(ann, [enriched("x").pk], Kind.SHOWN, NOW + HOUR * i)
    Interest.objects.update(version=0)
    assert weights_of(ann).learned == 6
    assert weights_of(ann).beliefs["keyword:comet"].mean > 0


def test_stars_are_saves_and_taking_one_away_undoes_it(ann):
    keys = [enriched("x").pk, enriched("y").pk]
    star(ann, keys, NOW)
    assert kinds(ann) == ["saved", "saved"]
    star(ann, keys, NOW)
    star(ann, keys[:1], NOW, starred=False)
    assert kinds(ann) == ["saved"]
    assert "keyword:x" not in weights_of(ann).beliefs
    star(ann, keys[:1], NOW, starred=False)
    assert Mark.objects.filter(subscriber=ann, starred__isnull=False).count() == 1


def test_a_forgotten_feature_comes_back_with_later_events_or_when_remembered(ann):
    keys = [enriched("comet", "probe").pk, enriched("comet").pk]
    note(ann, [keys[0]], Kind.MORE, NOW)
    before = Means(ann)
    forget(ann, "keyword:comet", NOW + HOUR)
    assert "keyword:comet" not in weights_of(ann).beliefs
    assert weights_of(ann).beliefs["keyword:probe"].mean > 0
    remember(ann, "keyword:comet", NOW + HOUR)
    assert Means(ann) == before
    forget(ann, "keyword:comet", NOW + HOUR)
    note(ann, [keys[1]], Kind.LESS, NOW + 2 * HOUR)
    assert weights_of(ann).beliefs["keyword:comet"].mean < 0
    learned = Means(ann)
    Interest.objects.update(version=0)
    assert Means(ann) == learned


def test_reset_unlearns_everything_and_keeps_the_log(ann):
    key = enriched("x").pk
    note(ann, [key], Kind.MORE, NOW)
    forget(ann, "keyword:y", NOW)
    assert reset(ann, NOW + HOUR) == 1
    assert weights_of(ann).beliefs == {}
    assert Event.objects.count() == 1
    assert Interest.objects.get().forgotten == {}
    note(ann, [key], Kind.MORE, NOW + 2 * HOUR)
    take_back(ann, [key], Kind.MORE, NOW + 3 * HOUR)
    assert weights_of(ann).beliefs == {}


def test_delete_leaves_nothing_and_touches_nobody_else(ann):
    ben, key = make_subscriber("ben"), enriched("x").pk
    for subscriber in (ann, ben):
        note(subscriber, [key], Kind.HIDDEN, NOW)
    assert list(hidden_articles(ann)) == [key]
    assert delete_all(ann) == 1
    assert list(hidden_articles(ann)) == []
    assert list(Interest.objects.values_list("subscriber", flat=True)) == [ben.pk]
    assert kinds(ben) == ["hidden"]


def test_the_export_holds_weights_and_events_that_can_be_replayed(ann):
    article = enriched("comet", category="science", author="Ada")
    note(ann, [article.pk], Kind.SHOWN, NOW)
    note(ann, [article.pk], Kind.OPENED, NOW)
    forget(ann, "author:ada", NOW)
    found = export(ann, NOW)
    assert [event["event"] for event in found["events"]] == ["impression", "click"]
    assert found["events"][0]["keywords"] == [("comet", 3.0)]
    assert {each["feature"] for each in found["weights"]} >= {"keyword:comet", "category:science"}
    assert found["forgotten"] == {"author:ada": NOW.isoformat()}
    assert found["older_events_left_out"] is False


def test_weights_are_packed_small_and_nothing_else_is_unpacked():
    weights = stored.Weights()
    for i in range(2000):
        weights.learn({f"keyword:word{i}": 0.7}, "shown", 1.7e9 + i)
    packed = pack(weights)
    assert len(packed) < 60_000
    again = unpack(packed)
    assert again is not None
    assert again.beliefs["keyword:word7"] == pytest.approx(weights.beliefs["keyword:word7"], abs=1e-3)
    for damaged in (b"", b"x", packed[:-9], pack(weights)[5:]):
        assert unpack(damaged) is None


def test_noting_takes_few_queries_however_many_articles(ann, django_assert_max_num_queries):
    keys = [enriched("x").pk for _ in range(30)]
    note(ann, keys[:1], Kind.SHOWN, NOW)
    with django_assert_max_num_queries(10):
        note(ann, keys, Kind.SHOWN, NOW + 2 * HOUR)


@pytest.mark.django_db(transaction=True)
def test_two_requests_of_one_person_at_once_are_both_learned():
    ann = make_subscriber("ann")
    keys = [enriched("x").pk for _ in range(6)]

    def say(key: int) -> None:
        try:
            note(ann, [key], Kind.MORE, NOW)
        finally:
            connection.close()

    threads = [threading.Thread(target=say, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert weights_of(ann).learned == 6
