"""What could never be stored is refused with 400 and words, in one place for all; sizes are bounded."""

from __future__ import annotations

import io
import json
import random
import re
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers

from crawler.api import router
from crawler.web.fields import NumberField
from crawler.web.requests import Utf8WSGIHandler
from feeds.models import Category, Feed
from tests.factories import make_article, make_feed, make_token, make_user

JSON = "application/json"


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make_user("staff", staff=True))
    return client


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/websub/a%00b/", "/sites/feed/a%00b.rss", "/healthz?x=%00", "/feeds/?q=%00", "/x%00"]
)
def test_a_zero_byte_in_an_address_is_refused_in_words(client: Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert "zero byte" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["documents/?url=%00", "crawls/1/urls/?failure=%00", "graph/search/?q=a%00b", "feeds/%00/"]
)
def test_the_api_says_it_in_json(staff: Client, path: str) -> None:
    answer = staff.get(f"/api/{path}")
    assert (answer.status_code, answer["Content-Type"]) == (400, JSON)
    assert "zero byte" in answer.json()["detail"]
    assert staff.get("/api/nothing/").json() == {"detail": "Not found."}


@pytest.mark.django_db
def test_a_session_cookie_with_a_zero_byte_is_refused(client: Client) -> None:
    answer = client.get("/feeds/", headers={"Cookie": 'sessionid="\\000abcdefgh"'})
    assert answer.status_code == 400
    assert "cookie" in answer.content.decode()


@pytest.mark.django_db
def test_a_form_with_a_zero_byte_is_refused(staff: Client) -> None:
    answer = staff.post("/feeds/add/", {"addresses": "a\0b"})
    assert answer.status_code == 400
    assert "field of the form" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"url": "\\u0000"}', "zero byte"),
        (b'{"url": "\\ud800"}', "surrogate"),
        (b'{"a": {"\\ud800": 1}}', "surrogate"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "nested too deeply"),
        (b'{"a": 1e999}', "too large a number"),
        (b'{"a": NaN}', "no number"),
        (b'{"a": ' + b"9" * 9000 + b"}", "JSON parse error"),
        (b"\xff\xfe", "JSON parse error"),
    ],
)
def test_json_that_could_not_be_stored_is_refused(staff: Client, body: bytes, words: str) -> None:
    answer = staff.post("/api/feeds/", body, content_type=JSON)
    assert answer.status_code == 400
    assert words in answer.json()["detail"]
    assert not Feed.objects.exists()


@pytest.mark.django_db
def test_bodies_that_are_too_large_answer_413(staff: Client) -> None:
    body = json.dumps({"url": "x" * 3_000_000})
    token = {"Authorization": make_token(make_user(staff=True))}
    for kind in (JSON, "application/x-www-form-urlencoded"):
        assert Client().post("/api/feeds/", body, content_type=kind, headers=token).status_code == 413
    assert staff.get("/feeds/", CONTENT_LENGTH="9" * 12).status_code == 413
    assert staff.get("/feeds/", CONTENT_LENGTH="x").status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize(
    "kind",
    [
        "text/plain; charset*=utf-8''a%00b",
        "text/plain; charset*=bogus''%41",
        "text/plain; charset=hex",
        "text/plain; charset=undefined",
        "multipart/form-data; boundary=x; charset*=bogus''%41",
    ],
)
def test_an_odd_charset_does_not_fail_the_web_server(kind: str) -> None:
    statuses: list[str] = []
    for method in ("GET", "POST"):
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": "/healthz",
            "QUERY_STRING": "a=%41&" * 1500,
            "CONTENT_TYPE": kind,
            "CONTENT_LENGTH": "3",
            "wsgi.input": io.BytesIO(b"a=1"),
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "HTTP_HOST": "localhost",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "http",
        }
        Utf8WSGIHandler()(environ, lambda status, headers: statuses.append(status[:3])).close()
    assert set(statuses) <= {"200", "503", "400", "403", "405", "415"}


@pytest.mark.django_db(transaction=True)
def test_what_the_database_finds_unfit_is_refused_too(client: Client) -> None:
    make_article()
    client.force_login(make_user())
    answer = client.get("/api/articles/", {"published_after": "2492-09-17T09:41:02+23:08"})
    assert answer.status_code == 400
    assert "out of range" in answer.json()["detail"]


@pytest.mark.django_db(transaction=True)
def test_an_indexed_text_never_becomes_too_large_for_its_index(staff: Client) -> None:
    feed, dice = make_feed(title="old"), random.Random(1)
    for length, status in ((600, 200), (601, 400), (1500, 400)):
        title = "".join(chr(dice.randrange(0x20000, 0x2A000)) for _ in range(length))
        answer = staff.patch(f"/api/feeds/{feed.pk}/", {"title": title}, content_type=JSON)
        assert answer.status_code == status
    page = reverse("admin:feeds_feed_change", args=[feed.pk])
    staff.force_login(make_user(staff=True, is_superuser=True))
    form = {"title": title, "category": "", "status": "active"}
    assert "at most 600 characters" in staff.post(page, form).content.decode()
    feed.refresh_from_db()
    assert len(feed.title) == 600


@pytest.mark.django_db
def test_a_path_of_categories_is_cut_or_refused(staff: Client) -> None:
    for category, status in (("x" * 300, 201), ("x/" * 2500, 400)):
        body = {"url": f"https://a.example/{status}", "category": category}
        assert staff.post("/api/feeds/", body, content_type=JSON).status_code == status
    assert max(len(one.name) for one in Category.objects.all()) == 200


@pytest.mark.django_db
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", True])
def test_numbers_are_finite(staff: Client, number: object) -> None:
    rule = {"name": "a", "predicates": ["https://a.example/p"], "weight": number}
    assert staff.post("/api/link-queries/", rule, content_type=JSON).status_code == 400
    assert staff.post("/api/link-queries/", rule).status_code in {400, 403}


def test_every_text_and_list_that_the_api_takes_has_a_largest_size() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    unbounded: list[str] = []

    def look(place: str, shape: Any) -> None:
        if isinstance(shape, list):
            for each in shape:
                look(place, each)
        elif isinstance(shape, dict) and not shape.get("readOnly"):
            free = not shape.keys() & {"enum", "format"}
            if (shape.get("type") == "string" and free and "maxLength" not in shape) or (
                shape.get("type") == "array" and "maxItems" not in shape
            ):
                unbounded.append(place)
            for name, each in shape.get("properties", {}).items():
                look(f"{place}.{name}", each)
            for name in ("items", "allOf", "oneOf", "anyOf"):
                look(f"{place}[]", shape.get(name))

    for name, shape in schema["components"]["schemas"].items():
        if name.endswith("Request"):
            look(name, shape)
    assert unbounded == []


def test_every_number_that_the_api_takes_is_finite() -> None:
    wanted: list[type[serializers.Serializer[Any]]] = [serializers.Serializer]
    for one in wanted:
        wanted += one.__subclasses__()
    views = [getattr(view, "serializer_class", None) for _, view, _ in router.registry]
    fields = [field for one in wanted if one in views for field in one().fields.values()]
    taken = [field for field in fields if isinstance(field, serializers.FloatField) and not field.read_only]
    assert taken
    assert all(isinstance(field, NumberField) for field in taken)


@pytest.mark.django_db
def test_a_page_that_is_not_there_is_not_found_whatever_form_was_sent(client: Client) -> None:
    """The page of 404 looks for a token in the form, which cannot be read."""
    for kind in (
        "multipart/form-data; boundary=\xff",
        "multipart/form-data",
        "multipart/form-data; boundary=",
    ):
        answer = client.generic("POST", "/nowhere/", b"a=1", kind)
        assert answer.status_code == 404


BROWSER = {"Accept": "text/html,application/xhtml+xml"}


def test_a_browser_gets_a_page_with_a_way_on(client: Client) -> None:
    answer = client.get("/healthz?x=%00", headers=BROWSER)
    assert answer.status_code == 400
    html = answer.content.decode()
    assert "That was not understood" in html and "zero byte" in html and 'href="/"' in html


@pytest.mark.django_db
def test_a_failure_has_a_number_that_stands_in_the_log(
    staff: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("feeds.pages.views.health_counts", lambda: 1 / 0)
    staff.raise_request_exception = False
    make_feed()
    answer = staff.get("/feeds/?a=1", headers=BROWSER)
    assert answer.status_code == 500
    number = re.search(r"number <code>(\w+)</code>", answer.content.decode())
    assert number is not None and f"Failure {number[1]}: GET /feeds/" in caplog.text
    assert 'href="/feeds/?a=1"' in answer.content.decode()


def test_without_a_database_a_page_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr("crawler.web.refusals._answers", lambda: False)
    monkeypatch.setattr("django.contrib.auth.middleware.get_user", away)
    client.raise_request_exception = False
    answer = client.get("/read/", headers=BROWSER)
    assert answer.status_code == 503
    assert "Freshet&#x27;s database does not answer" in answer.content.decode()
    assert client.get("/api/feeds/").status_code == 503
