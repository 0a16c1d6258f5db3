"""The REST API of interests."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rest_framework.test import APIClient

from articles.interest.log import Kind, note
from articles.interest.models import Event
from articles.interest.stored import weights_of
from tests.articles.interest.rows import enriched
from tests.factories import make_subscriber, make_token

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
PATHS = ("", "events/", "export/", "why/1/")


def client_of(subscriber) -> APIClient:
    return APIClient(headers={"Authorization": make_token(subscriber.user)})


@pytest.fixture
def ann():
    return make_subscriber("ann")


@pytest.fixture
def api(ann):
    return client_of(ann)


def test_it_is_for_people_who_are_signed_in(client):
    for path in (*PATHS, "reset/", "delete/", "events/1/", "events/1/undo/", "events/take-back/"):
        assert client.get(f"/api/interest/{path}").status_code in {401, 403, 405}
        assert client.post(f"/api/interest/{path}").status_code in {401, 403, 405}


def test_feedback_weights_and_why(api, ann):
    article = enriched("comet", category="science", published=NOW)
    answer = api.post("/api/interest/events/", {"article": article.pk, "feedback": "more"}, format="json")
    assert answer.json() == {"article": article.pk, "given": ["more"]}
    found = api.get("/api/interest/").json()
    assert found["learned"] == 1
    assert {each["feature"] for each in found["weights"]} >= {"keyword:comet", "category:science"}
    why = api.get(f"/api/interest/why/{article.pk}/").json()
    assert sum(part["contribution"] for part in why["parts"]) == pytest.approx(why["score"])
    assert why["total"] == pytest.approx(why["score"] + why["recency"])
    assert api.get("/api/interest/export/").json()["events"][0]["article"] == article.pk
    assert api.get("/api/interest/why/999999999/").status_code == 404


def test_events_are_listed_undone_and_taken_back(api, ann):
    first, second = enriched("x"), enriched("y")
    for article in (first, second):
        api.post("/api/interest/events/", {"article": article.pk, "feedback": "save"}, format="json")
    rows = api.get("/api/interest/events/", {"kind": "saved"}).json()["results"]
    assert [row["article"] for row in rows] == [second.pk, first.pk]
    assert api.post(f"/api/interest/events/{rows[0]['id']}/undo/").json()["undone"]
    taken = {"article": first.pk, "feedback": "save"}
    assert api.post("/api/interest/events/take-back/", taken, format="json").json()["given"] == []
    assert weights_of(ann).beliefs == {}
    assert not ann.marks.filter(starred__isnull=False).exists()


@pytest.mark.parametrize(
    "wrong",
    [{}, {"article": 1}, {"article": 10**9, "feedback": "more"}, {"article": "x", "feedback": "sneeze"}],
)
def test_feedback_that_makes_no_sense_is_refused(api, wrong):
    assert api.post("/api/interest/events/", wrong, format="json").status_code == 400


def test_reset_and_delete(api, ann):
    note(ann, [enriched("x").pk], Kind.MORE, NOW)
    assert api.post("/api/interest/reset/").json() == {"undone": 1}
    assert api.get("/api/interest/").json()["weights"] == []
    assert api.post("/api/interest/delete/").status_code == 204
    assert not Event.objects.exists()


def test_nobody_sees_or_changes_what_is_another_s(ann):
    ben = make_subscriber("ben")
    note(ann, [enriched("x").pk], Kind.MORE, NOW)
    event, other = Event.objects.get(), client_of(ben)
    ben.user.is_staff = True
    ben.user.save()
    assert other.get("/api/interest/").json()["weights"] == []
    assert other.get("/api/interest/events/").json()["results"] == []
    assert other.get("/api/interest/export/").json()["events"] == []
    assert other.get(f"/api/interest/events/{event.pk}/").status_code == 404
    assert other.post(f"/api/interest/events/{event.pk}/undo/").status_code == 404
    other.post("/api/interest/delete/")
    assert Event.objects.valid().count() == 1


@pytest.mark.parametrize("path", ["", "reset/", "export/", "why/1/", "delete/", "events/", "events/1/"])
def test_the_method_delete_deletes_nothing(api, ann, path):
    note(ann, [enriched("x").pk], Kind.MORE, NOW)
    assert api.delete(f"/api/interest/{path}").status_code == 405
    assert Event.objects.valid().count() == 1
