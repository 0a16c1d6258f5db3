"""ClientLogin, its tokens, and who is let in with them."""

import gzip
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import authenticate
from django.test import Client
from django.urls import URLPattern, URLResolver

from articles.greader import access
from articles.greader.models import AppPassword, ReaderLogin
from articles.greader.urls import _SERVER
from articles.personal.following import follow
from tests.articles.greader.conftest import FORM, sign_in
from tests.factories import make_article, make_feed, make_subscriber, make_token, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)
LOGIN = "/accounts/ClientLogin"


def paths(patterns, prefix=""):
    for pattern in patterns:
        route = prefix + str(pattern.pattern).replace("<path:stream>", "feed/1")
        if isinstance(pattern, URLResolver):
            yield from paths(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


ENDPOINTS = [path for path in paths(_SERVER) if not path.startswith(("accounts/", "check/"))]


@pytest.mark.parametrize("server", ["", "/api/greader.php"])
def test_name_and_password_give_a_token_at_both_addresses(client, server):
    make_user("ann")
    answer = client.post(f"{server}{LOGIN}", "Email=ann&Passwd=water&source=newsboat", FORM)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    assert answer["Cache-Control"] == "private, no-store"
    sid, lsid, auth = answer.content.decode().splitlines()
    token = auth.removeprefix("Auth=")
    assert (sid, lsid) == (f"SID={token}", f"LSID={token}")
    assert len(token) >= 43
    assert not answer.cookies
    headers = {"Authorization": f"GoogleLogin auth={token}"}
    info = client.get(f"{server}/reader/api/0/user-info", headers=headers).json()
    assert (info["userName"], info["userId"]) == ("ann", info["userProfileId"])


def test_it_speaks_json_on_demand_and_takes_multipart(client):
    make_user("ann")
    answer = client.post(LOGIN, {"Email": "ann", "Passwd": "water", "output": "json"})
    assert set(answer.json()) == {"SID", "LSID", "Auth"}


def test_neither_the_token_nor_an_app_password_is_stored(ann):
    password = access.create_app_password(ann.subscriber, "phone")
    stored = str(list(ReaderLogin.objects.values()) + list(AppPassword.objects.values()))
    assert ann.token not in stored
    assert password not in stored
    assert password.replace("-", "") not in stored


@pytest.mark.parametrize(
    "form",
    ["Email=ann&Passwd=wine", "Email=nobody&Passwd=water", "Email=Ann&Passwd=water",
     f"Email={'a' * 151}&Passwd=x"],
)  # fmt: skip
def test_a_wrong_name_or_password_is_refused(client, form):
    make_user("ann")
    answer = client.post(LOGIN, form, FORM)
    assert answer.status_code == 401
    assert answer.content.startswith(b"Error=BadAuthentication\n")


@pytest.mark.parametrize(
    "form", ["", "Email=ann", "Passwd=water", "Email=ann%00&Passwd=water", "Email=ann&Passwd=" + "x" * 5000]
)
def test_a_form_that_lacks_something_or_is_too_long_is_a_bad_request(client, form):
    answer = client.post(LOGIN, form, FORM)
    assert answer.status_code == 400
    assert answer.content.startswith(b"Error=BadRequest\n")


def test_passwords_in_an_address_are_not_taken(client):
    make_user("ann")
    assert client.get(f"{LOGIN}?Email=ann&Passwd=water").status_code == 401
    assert client.post(f"{LOGIN}?Email=ann&Passwd=water", "", FORM).status_code == 400


def test_inactive_users_are_refused_at_the_door_and_inside(client, ann):
    password = access.create_app_password(ann.subscriber, "phone")
    ann.subscriber.user.is_active = False
    ann.subscriber.user.save()
    for each in ("water", password):
        assert client.post(LOGIN, {"Email": "ann", "Passwd": each}).status_code == 401
    assert ann.get("user-info").status_code == 401


@pytest.mark.parametrize("path", ENDPOINTS)
def test_every_endpoint_wants_a_token(client, path, django_assert_num_queries):
    make_user("ann")
    for server in ("/", "/api/greader.php/"):
        with django_assert_num_queries(0):
            answers = [client.get(f"{server}{path}"), client.post(f"{server}{path}")]
        for answer in answers:
            assert answer.status_code == 401
            assert answer["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    "header", ["GoogleLogin auth=nonsense", "GoogleLogin", "Bearer x", "GoogleLogin auth=", ""]
)
def test_other_headers_are_refused(client, ann, header):
    assert client.get("/reader/api/0/user-info", headers={"Authorization": header}).status_code == 401


def test_no_cookie_and_no_api_token_opens_it(client):
    user = make_user("ann")
    client.force_login(user)
    assert client.get("/reader/api/0/user-info").status_code == 401
    api = make_token(user)
    assert client.get("/reader/api/0/user-info", headers={"Authorization": api}).status_code == 401
    forged = f"GoogleLogin auth={api.removeprefix('Token ')}"
    assert client.get("/reader/api/0/user-info", headers={"Authorization": forged}).status_code == 401


def test_the_token_opens_nothing_else(ann):
    for scheme in ("GoogleLogin auth=", "Token ", "Bearer "):
        headers = {"Authorization": scheme + ann.token}
        assert ann.client.get("/api/feeds/", headers=headers).status_code in {401, 403}
        assert ann.client.get("/me/", headers=headers).status_code == 302


def test_a_revoked_login_is_refused_and_the_others_stay(client, ann):
    other = sign_in(client, "ann")
    ReaderLogin.objects.filter(digest=access.digest(ann.token)).update(revoked=NOW)
    assert ann.get("user-info").status_code == 401
    headers = {"Authorization": f"GoogleLogin auth={other}"}
    assert client.get("/reader/api/0/user-info", headers=headers).status_code == 200


def test_a_new_password_ends_the_logins_with_the_old_one_but_not_those_of_app_passwords(client, ann):
    with_app = sign_in(client, "ann", access.create_app_password(ann.subscriber, "phone"))
    ann.subscriber.user.set_password("wine")
    ann.subscriber.user.save()
    assert ann.get("user-info").status_code == 401
    headers = {"Authorization": f"GoogleLogin auth={with_app}"}
    assert client.get("/reader/api/0/user-info", headers=headers).status_code == 200


def test_an_app_password_is_taken_however_it_is_typed(client, ann):
    password = access.create_app_password(ann.subscriber, "phone")
    for typed in (password, password.upper(), password.replace("-", ""), password.replace("-", " ")):
        sign_in(client, "ann", typed)
    row = ann.subscriber.app_passwords.get()
    assert row.last_used is not None
    assert row.logins.count() == 4


def test_an_app_password_signs_in_readers_of_its_owner_alone(client, ann):
    password = access.create_app_password(ann.subscriber, "phone")
    make_user("bob")
    assert client.post(LOGIN, {"Email": "bob", "Passwd": password}).status_code == 401
    answer = client.post("/accounts/login/", {"username": "ann", "password": password})
    assert "do not fit together" in answer.content.decode()
    request = answer.wsgi_request
    assert authenticate(request, username="ann", password=password) is None
    assert authenticate(request, username="ann", password=password, for_reader=False) is None


def test_a_person_who_never_followed_anything_becomes_a_subscriber(client):
    user = make_user("ann")
    token = sign_in(client, "ann")
    headers = {"Authorization": f"GoogleLogin auth={token}"}
    answer = client.get("/reader/api/0/subscription/list?output=json", headers=headers)
    assert answer.json() == {"subscriptions": []}
    assert user.subscriber.reader_logins.count() == 1


def test_logins_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(access, "KEPT_LOGINS", 3)
    subscriber, other = make_subscriber("ann"), make_subscriber("bob")
    access.open_login(other, None, "", NOW)
    tokens = [access.open_login(subscriber, None, "", NOW) for _ in range(5)]
    assert subscriber.reader_logins.count() == 3
    assert [access.login_with(token) is not None for token in tokens] == [False, False, True, True, True]
    assert other.reader_logins.count() == 1


def test_use_is_noted_but_not_at_every_request(ann):
    row = ann.subscriber.reader_logins.get()
    ann.get("user-info")
    assert ann.subscriber.reader_logins.get().last_used == row.last_used
    ReaderLogin.objects.update(last_used=row.last_used - timedelta(hours=2))
    ann.get("user-info")
    assert ann.subscriber.reader_logins.get().last_used >= row.last_used


def test_the_token_for_writes_is_checked_where_it_is_given(ann, bob):
    token = ann.get("token").content.decode()
    mark = {"s": "user/-/state/com.google/reading-list"}
    for good in (token, f"{token}\n", "", "x"):
        assert ann.post("mark-all-as-read", {**mark, "T": good}).content == b"OK"
    for bad in ("nonsense", bob.get("token").content.decode(), token[:-1]):
        answer = ann.post("mark-all-as-read", {**mark, "T": bad})
        assert answer.status_code == 401
        assert answer["X-Reader-Google-Bad-Token"] == "true"


def test_the_token_for_writes_is_good_for_one_login(ann):
    token = ann.get("token").content.decode()
    marking = {"s": "user/-/state/com.google/reading-list", "T": token}
    assert ann.post("mark-all-as-read", **marking).status_code == 200
    ann.token = sign_in(ann.client, "ann")
    assert ann.post("mark-all-as-read", **marking).status_code == 401


def test_writes_want_a_post(ann):
    for path in (
        "edit-tag",
        "mark-all-as-read",
        "subscription/edit",
        "subscription/quickadd",
        "rename-tag",
        "disable-tag",
    ):
        answer = ann.get(path)
        assert answer.status_code == 405
        assert answer["Allow"] == "POST"


def test_an_answer_comes_zipped_where_that_is_welcome(ann):
    headers = {**ann.headers, "Accept-Encoding": "gzip"}
    for _ in range(3):
        follow(ann.subscriber, make_feed())
    answer = Client().get("/reader/api/0/subscription/list", headers=headers)
    assert answer["Content-Encoding"] == "gzip"
    assert answer["Cache-Control"] == "private, no-store"
    assert len(json.loads(gzip.decompress(answer.content))["subscriptions"]) == 3


@pytest.mark.parametrize("base", ["", "/api/greader.php"])
def test_web_apps_of_other_origins_may_ask(ann, base):
    client = Client()
    asked = client.options(f"{base}/reader/api/0/user-info", headers={"origin": "https://app.example"})
    assert (asked.status_code, asked.headers["Access-Control-Allow-Origin"]) == (204, "*")
    assert "Access-Control-Allow-Credentials" not in asked.headers
    refused = client.get(f"{base}/reader/api/0/user-info")
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (401, "*")
    assert client.get(f"{base}/check/compatibility").content == b"PASS"


def test_the_token_may_stand_in_the_body_of_a_post(client, db):
    """As Liferea 1.14 asks for items, and as Miniflux takes it."""
    subscriber = make_subscriber("ann", make_feed())
    article = make_article(subscriber.subscriptions.get().feed)
    token = sign_in(client, "ann")
    path = "/reader/api/0/stream/items/contents"
    form = {"output": "json", "mediaRss": "true", "T": token, "i": article.pk}
    assert len(client.post(path, form).json()["items"]) == 1
    assert client.post(f"{path}?T={token}", {"i": article.pk}).status_code == 401
    assert client.get(path, form).status_code == 401
    assert client.post(path, form | {"T": "wrong"}).status_code == 401
    assert client.post(path, form | {"T": ""}).status_code == 401
    edited = {"i": article.pk, "a": "user/-/state/com.google/read", "T": token}
    assert client.post("/reader/api/0/edit-tag", edited).content == b"OK"
