"""Interests set by hand: sliders, muted features, and learning switched off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from articles.interest.log import Kind, note, reset
from articles.interest.models import Event, Interest
from articles.interest.scoring import explain, ranked
from articles.interest.stored import learned_weights_of, weights_of
from articles.interest.tuning import feature_named, mute, put_back, switch_learning, tune, tuning_of
from articles.models import Article, Subscriber
from articles.personal.following import follow
from tests.articles.interest.rows import enriched
from tests.factories import make_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def ann() -> Subscriber:
    return make_subscriber("ann")


def order(ann: Subscriber) -> list[str]:
    titles = dict(Article.objects.values_list("pk", "title"))
    return [titles[each.article_id] for each in ranked(ann, Article.objects.all())]


def test_a_slider_orders_the_list_before_anything_was_learned(ann: Subscriber) -> None:
    enriched("rain", title="rain", published=NOW)
    enriched("tax", title="tax", published=NOW + HOUR)
    assert order(ann) == ["tax", "rain"]
    tune(ann, {"keyword:rain": 3}, NOW)
    assert order(ann) == ["rain", "tax"]
    before = tune(ann, {"keyword:rain": -3}, NOW)
    assert order(ann) == ["tax", "rain"]
    put_back(ann, before, NOW)
    assert order(ann) == ["rain", "tax"]
    tune(ann, {"keyword:rain": None}, NOW)
    assert order(ann) == ["tax", "rain"]


def test_a_slider_stands_over_what_was_learned_and_learning_goes_on_below(ann: Subscriber) -> None:
    note(ann, [enriched("rain").pk], Kind.MORE, NOW)
    learned = learned_weights_of(ann).beliefs["keyword:rain"].mean
    tune(ann, {"keyword:rain": -2}, NOW)
    aged = weights_of(ann).aged(NOW.timestamp())
    assert aged.weight("keyword:rain").mean == -1.0, "whatever the trust in keywords"
    note(ann, [enriched("rain").pk], Kind.MORE, NOW)
    assert learned_weights_of(ann).beliefs["keyword:rain"].mean > learned > 0
    reset(ann, NOW)
    assert weights_of(ann).fixed == {"keyword:rain": -1.0}


def test_a_muted_feature_never_comes_into_the_list_by_interest(ann: Subscriber) -> None:
    enriched("rain", "ball", title="both", published=NOW)
    enriched("rain", title="rain", published=NOW)
    mute(ann, "keyword:ball", NOW)
    assert order(ann) == ["rain"]
    assert Article.objects.count() == 2
    mute(ann, "keyword:ball", NOW, muted=False)
    assert set(order(ann)) == {"rain", "both"}


def test_without_learning_only_sliders_count_and_nothing_is_noted(ann: Subscriber) -> None:
    rain = enriched("rain", title="rain", published=NOW)
    enriched("tax", title="tax", published=NOW + HOUR)
    note(ann, [rain.pk], Kind.MORE, NOW)
    assert order(ann)[0] == "rain"
    switch_learning(ann, NOW, learns=False)
    assert order(ann)[0] == "tax"
    assert note(ann, [rain.pk], Kind.OPENED, NOW) == 0
    assert note(ann, [rain.pk], Kind.LESS, NOW) == 1, "what is said is kept"
    switch_learning(ann, NOW, learns=True)
    assert note(ann, [rain.pk], Kind.OPENED, NOW) == 1


def test_sliders_show_the_strongest_with_reasons_a_person_would_give(ann: Subscriber) -> None:
    for number in range(4):
        note(ann, [enriched("rain", published=NOW).pk], Kind.OPENED, NOW + HOUR * number)
    for number in range(9):
        note(ann, [enriched("tax", published=NOW).pk], Kind.SHOWN, NOW + HOUR * number)
    tune(ann, {"keyword:snow": 1}, NOW)
    mute(ann, "keyword:ball", NOW)
    sliders = {each.feature: each for each in tuning_of(ann, NOW).sliders}
    assert sliders["keyword:rain"].reason == "you opened 4 of 4 articles"
    assert sliders["keyword:rain"].step > 0
    assert sliders["keyword:tax"].reason == "you passed over 9 of 9 articles"
    assert sliders["keyword:tax"].step < 0
    assert sliders["keyword:snow"].reason == "you set it yourself"
    assert sliders["keyword:ball"].muted == NOW


def test_what_is_set_explains_itself(ann: Subscriber) -> None:
    article = enriched("rain", published=NOW)
    tune(ann, {"keyword:rain": 3}, NOW)
    explanation = explain(ann, article.pk, NOW)
    assert explanation is not None
    assert [part.feature for part in explanation.parts if part.weight == 1.5] == ["keyword:rain"]


def test_a_word_means_a_feed_an_author_or_a_keyword(ann: Subscriber) -> None:
    feed = make_feed(title="The Harbour Courier")
    follow(ann, feed)
    assert feature_named(ann, " the harbour  courier") == f"feed:{feed.pk}"
    assert feature_named(ann, "by Ada Lovelace") == "author:ada lovelace"
    assert feature_named(ann, "Rain") == "keyword:rain"
    assert feature_named(ann, "   ") == ""


@pytest.mark.parametrize("step", [4, -4])
def test_there_are_seven_steps(ann: Subscriber, step: int) -> None:
    with pytest.raises(ValueError, match="between"):
        tune(ann, {"keyword:rain": step}, NOW)


def test_the_page_moves_mutes_adds_and_undoes(ann: Subscriber, client: Client) -> None:
    client.force_login(ann.user)
    for _ in range(3):
        note(ann, [enriched("rain", published=NOW).pk], Kind.OPENED, NOW)
    page = "/settings/interests/"
    assert 'name="step keyword:rain"' in client.get(page).content.decode()
    client.post(page, {"sliders": "1", "step keyword:rain": "-2"}, headers={"HX-Request": "true"})
    assert Interest.objects.get().tuned == {"keyword:rain": -2}
    client.post("/undo/", {"token": client.session["undo"]["token"]})
    assert Interest.objects.get().tuned == {}
    client.post(page, {"add": "Snow"})
    assert Interest.objects.get().tuned == {"keyword:snow": 2}
    client.post(page, {"mute": "keyword:rain"})
    assert set(Interest.objects.get().muted) == {"keyword:rain"}
    assert "such articles stay in their feeds" in client.get(page).content.decode()
    client.post(page, {"unmute": "keyword:rain"})
    assert Interest.objects.get().muted == {}
    client.post(page, {"learning": "1"})
    assert not Interest.objects.get().learns
    assert client.post(page, {"mute": "bias"}).status_code == 404


def test_the_api_tunes(ann: Subscriber, client: Client) -> None:
    client.force_login(ann.user)
    kind = "application/json"
    answer = client.post("/api/interest/tune/", {"feature": "keyword:rain", "step": 2}, kind)
    assert answer.json()["set_by_hand"] == {"keyword:rain": 2}
    answer = client.post(
        "/api/interest/tune/", {"feature": "keyword:tax", "muted": True, "learns": False}, kind
    )
    assert (answer.json()["muted"], answer.json()["learns"]) == (["keyword:tax"], False)
    for refused in ({"step": 1}, {"feature": "bias", "step": 1}, {"feature": "keyword:x", "step": 9}):
        assert client.post("/api/interest/tune/", refused, kind).status_code == 400
    assert not Event.objects.exists()
