"""The pages about interests, the buttons on articles, and who may see and change what."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse

from articles.interest.feedback import note_opening
from articles.interest.log import Kind, forget, note
from articles.interest.models import Event, Interest
from articles.interest.stored import weights_of
from articles.interest.urls import urlpatterns
from articles.models import Mark
from tests.articles.interest.rows import enriched
from tests.factories import make_subscriber, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = {"more": "more", "less": "less", "hide": "hidden", "save": "saved"}
GETS = ("interest-weights", "interest-log", "interest-export", "interest-why")
NAMED = [each.name for each in urlpatterns if each.name]


@pytest.fixture
def ann(client):
    subscriber = make_subscriber("ann")
    client.force_login(subscriber.user)
    client.subscriber = subscriber
    return client


def address(name):
    pattern = next(each for each in urlpatterns if each.name == name)
    example = {"pk": 1, "kind": "more"}
    return reverse(name, kwargs={key: example[key] for key in pattern.pattern.converters})


@pytest.mark.parametrize("name", NAMED)
def test_every_page_wants_a_sign_in_and_changes_take_a_post(client, name):
    for answer in (client.get(address(name)), client.post(address(name))):
        assert answer.status_code == 302
        assert "next=" in answer["Location"]
    client.force_login(make_user(staff=True))
    other = client.post(address(name)) if name in GETS else client.get(address(name))
    assert other.status_code == 405


@pytest.mark.parametrize("name", ["interest-weights", "interest-log"])
def test_pages_without_anything_say_what_to_do(client, name):
    client.force_login(make_user(staff=True))
    answer = client.get(reverse(name))
    assert answer.status_code == 200
    assert 'class="empty"' in answer.content.decode()


@pytest.mark.parametrize("word", WORDS)
def test_a_button_is_noted_and_taken_back(ann, word):
    article = enriched("comet")
    form = {"next": "/me/?page=2"}
    answer = ann.post(reverse("interest-feedback", args=[article.pk, word]), form)
    assert (answer.status_code, answer["Location"]) == (302, "/me/?page=2")
    event = Event.objects.get()
    assert (event.kind, event.subscriber, event.undone) == (WORDS[word], ann.subscriber, None)
    assert Mark.objects.filter(starred__isnull=False).exists() == (word == "save")
    ann.post(reverse("interest-take-back", args=[article.pk, word]), form)
    event.refresh_from_db()
    assert event.undone is not None
    assert weights_of(ann.subscriber).beliefs == {}
    assert not Mark.objects.filter(starred__isnull=False).exists()


def test_a_button_asked_by_htmx_answers_with_the_buttons(ann):
    article = enriched("comet", title="A <b>comet</b>")
    url = reverse("interest-feedback", args=[article.pk, "more"])
    html = ann.post(url, {"next": "/me/"}, headers={"HX-Request": "true"}).content.decode()
    assert html.lstrip().startswith("<form")
    assert f'formaction="{reverse("interest-take-back", args=[article.pk, "more"])}"' in html
    assert 'name="next" value="/me/"' in html
    assert "You will see more like it." in html
    assert "<b>" not in html
    assert html.count("<button") == 4


def test_forms_lead_nowhere_else(ann):
    article = enriched("comet")
    for wanted in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", ""):
        url = reverse("interest-feedback", args=[article.pk, "more"])
        assert ann.post(url, {"next": wanted})["Location"] == article.get_absolute_url()


def test_buttons_want_a_token(ann):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ann.subscriber.user)
    assert strict.post(reverse("interest-feedback", args=[enriched("x").pk, "more"])).status_code == 403


def test_there_are_no_other_buttons_or_articles(ann):
    article = enriched("comet")
    assert ann.post(f"/me/interest/feedback/{article.pk}/shown/").status_code == 404
    assert ann.post(f"/me/interest/feedback/{article.pk}/sneeze/undo/").status_code == 404
    assert ann.post("/me/interest/feedback/999999999/more/").status_code == 404


def test_opening_an_article_is_noted_but_not_fetching_ahead(ann):
    article = enriched("comet")
    requests = RequestFactory()
    for request in (
        requests.head("/"),
        requests.get("/", headers={"Sec-Purpose": "prefetch"}),
        requests.get("/tools/"),
        requests.get("/tools/"),
    ):
        request.user = ann.subscriber.user
        note_opening(request, article.pk)
    assert list(Event.objects.values_list("kind", flat=True)) == ["opened"]


def test_what_was_learned_is_shown_and_each_weight_can_be_forgotten(ann):
    note(ann.subscriber, [enriched("comet", author="Ada").pk], Kind.MORE, NOW)
    note(ann.subscriber, [enriched("tax").pk], Kind.LESS, NOW)
    page = ann.get("/me/interest/weights/")
    likes, dislikes = page.context["learned"].likes, page.context["learned"].dislikes
    assert {"comet", "ada"} <= {taste.label.name for taste in likes}
    assert "tax" in {taste.label.name for taste in dislikes}
    assert all(0 < taste.share <= 1 for taste in [*likes, *dislikes])
    html = page.content.decode()
    assert not re.search(r"<script(?![^>]* src=)|\son\w+=| style=", html)
    ann.post("/me/interest/forget/", {"feature": "keyword:comet"})
    assert "keyword:comet" not in weights_of(ann.subscriber).beliefs
    html = ann.get("/me/interest/weights/").content.decode()
    assert 'value="keyword:comet"' in html
    assert reverse("interest-remember") in html
    ann.post("/me/interest/remember/", {"feature": "keyword:comet"})
    assert weights_of(ann.subscriber).beliefs["keyword:comet"].mean > 0
    assert ann.post("/me/interest/forget/", {"feature": "bias"}).status_code == 404


def test_the_log_shows_what_was_done_and_undoes_it(ann):
    article = enriched("comet", title="Comet ahead")
    note(ann.subscriber, [article.pk, enriched("x", title="Only shown").pk], Kind.SHOWN, NOW)
    ann.post(reverse("interest-feedback", args=[article.pk, "save"]))
    html = ann.get("/me/interest/log/").content.decode()
    assert "Comet ahead" in html
    assert "saved it" in html
    assert "Only shown" not in html
    assert "Only shown" in ann.get("/me/interest/log/", {"all": "1"}).content.decode()
    saved = Event.objects.get(kind="saved")
    ann.post(reverse("interest-undo", args=[saved.pk]))
    assert not Mark.objects.filter(starred__isnull=False).exists()
    assert re.search(r"undone\s+<time", ann.get("/me/interest/log/").content.decode())


def test_why_shows_parts_that_add_up_and_says_when_it_was_exploration(ann):
    article = enriched("comet", "probe", category="science", author="Ada", published=NOW)
    note(ann.subscriber, [article.pk], Kind.MORE, NOW)
    address = reverse("interest-why", args=[article.pk])
    page = ann.get(address)
    shown = [float(value.replace("−", "-")) for value in re.findall(
        r'<td class="r">([+−-]?[\d.]+)</td></tr>', flat(page.content).partition("<tfoot>")[0]
    )]  # fmt: skip
    assert len(shown) == 5
    assert sum(shown) == pytest.approx(page.context["explanation"].score, abs=0.005)
    assert "to learn about it" not in page.content.decode()
    assert "to learn about it" in ann.get(address, {"exploring": "1"}).content.decode()
    assert ann.get("/me/interest/why/999999999/").status_code == 404


def test_why_without_anything_learned_says_newest_first(ann):
    html = ann.get(reverse("interest-why", args=[enriched("comet").pk])).content.decode()
    assert "newest first" in html


def test_reset_export_and_delete(ann):
    note(ann.subscriber, [enriched("comet").pk], Kind.MORE, NOW)
    answer = ann.get("/me/interest/export/")
    assert "attachment" in answer["Content-Disposition"]
    assert json.loads(answer.content)["events"][0]["event"] == "more"
    ann.post("/me/interest/reset/")
    assert weights_of(ann.subscriber).beliefs == {}
    assert Event.objects.valid().count() == 0
    ann.post("/me/interest/delete/")
    assert not Event.objects.exists()
    assert not Interest.objects.exists()


@pytest.mark.parametrize("staff", [False, True])
def test_nobody_sees_or_changes_what_is_another_s(client, staff):
    ben = make_subscriber("ben")
    article = enriched("secretword", title="Ben's article")
    note(ben, [article.pk], Kind.MORE, NOW)
    event = Event.objects.get()
    client.force_login(make_user(staff=staff))
    for name in ("interest-learned", "interest-log", "interest-export"):
        html = client.get(reverse(name)).content.decode()
        assert "secretword" not in html
        assert "Ben" not in html
    assert "secretword" not in {p.label.name for p in _parts(client, article)}
    assert client.post(reverse("interest-undo", args=[event.pk])).status_code == 404
    client.post(reverse("interest-take-back", args=[article.pk, "more"]))
    client.post("/me/interest/reset/")
    client.post("/me/interest/delete/")
    event.refresh_from_db()
    assert event.undone is None
    assert weights_of(ben).beliefs["keyword:secretword"].mean > 0


def _parts(client, article):
    return client.get(reverse("interest-why", args=[article.pk])).context["explanation"].parts


def test_pages_take_few_queries(ann, django_assert_max_num_queries):
    for i in range(20):
        article = enriched(f"w{i}", author=f"author {i}")
        note(ann.subscriber, [article.pk], Kind.MORE if i % 2 else Kind.LESS, NOW + timedelta(hours=i))
    forget(ann.subscriber, "keyword:w3", NOW)
    with django_assert_max_num_queries(11):
        ann.get("/settings/interests/")
    with django_assert_max_num_queries(6):
        assert len(ann.get("/me/interest/log/").context["page"].object_list) == 20
    with django_assert_max_num_queries(8):
        ann.get("/me/interest/export/")


def test_the_admin_shows_events_and_interests_and_changes_none(client):
    ann = make_subscriber("ann")
    note(ann, [enriched("x").pk], Kind.MORE, NOW)
    client.force_login(make_user(staff=True, is_superuser=True))
    for model, key in (("event", Event.objects.get().pk), ("interest", ann.pk)):
        assert client.get(f"/admin/interest/{model}/").status_code == 200
        assert client.get(f"/admin/interest/{model}/{key}/change/").status_code == 200
        assert client.post(f"/admin/interest/{model}/{key}/delete/").status_code == 403
        assert client.get(f"/admin/interest/{model}/add/").status_code == 403
