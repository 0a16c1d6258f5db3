"""The crowd of a deployment: learned from its events, kept, used in lists and reasons."""

from datetime import UTC, datetime, timedelta

import pytest

from articles.interest import crowd, stored_crowd
from articles.interest.models import CrowdState, Event
from articles.interest.scoring import explain, ranked, reasons
from articles.interest.stored_crowd import crowd_of_all, is_due, learn_anew
from articles.models import Article
from articles.personal.following import subscriber_of
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture
def readers(monkeypatch):
    """Five subscribers who all open the older of two articles, in twenty lists."""
    monkeypatch.setattr(crowd, "MIN_LISTS", 20)
    stored_crowd._crowd.cache_clear()
    feed = make_feed()
    older = make_article(feed, title="older", published=NOW - timedelta(hours=3))
    newer = make_article(feed, title="newer", published=NOW - timedelta(hours=1))
    subscribers = [subscriber_of(make_user()) for _ in range(5)]
    for number in range(20):
        at, subscriber = NOW + timedelta(hours=number), subscribers[number % 5]
        for article, kind in ((older, "shown"), (newer, "shown"), (older, "opened")):
            Event.objects.create(subscriber=subscriber, article=article, kind=kind, at=at)
    return older, newer


def test_a_newcomer_has_what_others_open(readers):
    older, newer = readers
    newcomer = subscriber_of(make_user())
    assert [each.article_id for each in ranked(newcomer, Article.objects.all())] == [newer.pk, older.pk]
    assert learn_anew(NOW) == 20
    assert crowd_of_all().is_learned
    assert [each.article_id for each in ranked(newcomer, Article.objects.all())] == [older.pk, newer.pk]
    assert reasons(newcomer, [older.pk, newer.pk], NOW) == {
        older.pk: "Because many here open it",
        newer.pk: "",
    }


def test_a_score_is_explained_with_what_others_open(readers, client):
    older, _ = readers
    learn_anew(NOW)
    user = make_user()
    explanation = explain(subscriber_of(user), older.pk, NOW)
    assert "popularity" in {part.signal for part in explanation.crowd}
    client.force_login(user)
    page = client.get(f"/me/interest/why/{older.pk}/").content.decode()
    assert "How often others open it" in page
    answer = client.get(f"/api/interest/why/{older.pk}/").json()
    of_crowd = sum(part["contribution"] for part in answer["crowd"])
    assert abs(answer["total"] - answer["score"] - answer["recency"] - of_crowd) < 1e-9


def test_it_is_learned_again_only_after_enough_has_happened(readers, monkeypatch):
    monkeypatch.setattr(stored_crowd, "MIN_NEW_EVENTS", 60)
    assert is_due()
    learn_anew(NOW)
    assert not is_due()
    assert CrowdState.objects.count() == 1
    learn_anew(NOW + timedelta(hours=1))
    assert CrowdState.objects.get().changed == NOW + timedelta(hours=1)


def test_undone_events_and_deleted_articles_are_left_out(readers):
    _, newer = readers
    Event.objects.filter(kind="opened").update(undone=NOW)
    assert learn_anew(NOW) == 0
    newer.delete()
    assert learn_anew(NOW) == 0
    assert not crowd_of_all().is_learned
