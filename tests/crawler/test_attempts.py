"""Guessing is slowed: unknown tokens by address, and names with passwords by django-axes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.test import Client, RequestFactory
from django.urls import reverse

from articles.models import PersonalFeedToken
from articles.personal.selection import address_token, revoke_address
from crawler.operation.site import retention
from crawler.web import attempts
from crawler.web.attempts import client_address, count_attempt, seconds_to_wait, too_many
from crawler.web.models import Attempts
from tests.factories import make_personal_feed, make_subscriber, make_token, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 4, tzinfo=UTC)
ELSEWHERE = "203.0.113.9"


def request_from(address, **headers):
    return RequestFactory().get("/", REMOTE_ADDR=address, **headers)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    """Three are many, and no window ends during a test."""
    monkeypatch.setattr(attempts, "MOST", 3)
    monkeypatch.setattr(attempts, "WINDOW", timedelta(days=3650))


def test_an_address_has_so_many_attempts_in_a_window_and_of_a_kind(monkeypatch):
    monkeypatch.setattr(attempts, "WINDOW", timedelta(minutes=10))
    request = request_from("192.0.2.1")
    for _ in range(3):
        assert not too_many("api-token", request, NOW)
        count_attempt("api-token", request, NOW)
    assert too_many("api-token", request, NOW)
    assert seconds_to_wait(NOW) == 361
    assert not too_many("personal-feed", request, NOW)
    assert not too_many("api-token", request_from("192.0.2.2"), NOW)
    assert not too_many("api-token", request, NOW + timedelta(minutes=6))
    assert Attempts.objects.get().failures == 3


def test_no_address_can_be_read_in_the_table():
    count_attempt("api-token", request_from("192.0.2.1"), NOW)
    assert "192.0.2.1" not in str(Attempts.objects.values())
    assert len(Attempts.objects.get().key) == 64


def test_old_windows_are_tidied_away():
    for days in (0, 2):
        Attempts.objects.create(key=str(days), window=NOW - timedelta(days=days))
    assert retention.tidy(NOW)["attempts"] == 1
    assert Attempts.objects.get().key == "0"


@pytest.mark.parametrize(
    ("remote", "forwarded", "behind_proxy", "expected"),
    [
        ("192.0.2.1", "203.0.113.9", False, "192.0.2.1"),
        ("192.0.2.1", "203.0.113.9", True, "203.0.113.9"),
        ("192.0.2.1", "198.51.100.1, 203.0.113.9", True, "203.0.113.9"),
        ("192.0.2.1", "nonsense", True, "192.0.2.1"),
        ("192.0.2.1", "", True, "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "", False, "2001:db8:1:2::"),
        ("::ffff:192.0.2.1", "", False, "192.0.2.1"),
        ("", "203.0.113.9", False, None),
    ],
)
def test_only_a_proxy_that_is_there_is_believed(settings, remote, forwarded, behind_proxy, expected):
    settings.BEHIND_TLS_PROXY = behind_proxy
    assert client_address(request_from(remote, HTTP_X_FORWARDED_FOR=forwarded)) == expected


def test_unknown_addresses_of_personal_feeds_are_refused_after_some(client):
    personal_feed = make_personal_feed(make_subscriber())
    good = reverse("personal-feed", args=[address_token(personal_feed), "rss"])
    statuses = [client.get(f"/personal/{'x' * 40}{n}.rss").status_code for n in range(4)]
    assert statuses == [404, 404, 404, 429]
    answer = client.get(f"/personal/{'y' * 40}.rss")
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert answer["Cache-Control"].startswith("private")
    assert client.get(f"/personal/{'y' * 40}.rss", REMOTE_ADDR=ELSEWHERE).status_code == 404
    # Readers behind the same proxy, whose addresses are known, notice nothing of it.
    assert client.get(good).status_code == client.get(good, REMOTE_ADDR=ELSEWHERE).status_code == 200


def test_readers_of_a_revoked_personal_feed_are_no_guessers(client):
    personal_feed = make_personal_feed(make_subscriber())
    revoke_address(personal_feed)
    path = reverse("personal-feed", args=[PersonalFeedToken.objects.get().token, "rss"])
    assert {client.get(path).status_code for _ in range(5)} == {410}


def test_unknown_api_tokens_are_refused_after_some(client):
    good = make_token(make_user())
    for path in ("/api/articles/", "/metrics", "/api/articles/"):
        assert client.get(path, headers={"Authorization": f"Token {'0' * 40}"}).status_code == 401
    answer = client.get("/api/articles/", headers={"Authorization": "Token wrong"})
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    for path in ("/api/articles/", "/metrics"):
        assert client.get(path, headers={"Authorization": good}).status_code == 200
    elsewhere = client.get("/api/articles/", headers={"Authorization": good}, REMOTE_ADDR=ELSEWHERE)
    assert elsewhere.status_code == 200


def test_an_unknown_secret_is_refused_after_some_wherever_it_comes_from(client):
    unknown = {"Authorization": f"Token {'0' * 40}"}
    addresses = [f"198.51.100.{n}" for n in range(5)]
    answers = [client.get("/api/articles/", headers=unknown, REMOTE_ADDR=each) for each in addresses]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    other = {"Authorization": "Token wrong"}
    assert client.get("/api/articles/", headers=other, REMOTE_ADDR=addresses[0]).status_code == 401
    assert "0" * 40 not in str(Attempts.objects.values())


def test_a_forged_forwarding_header_gains_nothing_where_no_proxy_stands(client):
    statuses = [
        client.get(
            "/api/articles/", headers={"Authorization": f"Token {n}", "X-Forwarded-For": f"203.0.113.{n}"}
        ).status_code
        for n in range(4)
    ]
    assert statuses == [401, 401, 401, 429]


def test_sessions_are_no_guesses(client):
    client.force_login(make_user())
    for _ in range(4):
        client.get("/api/articles/", headers={"Authorization": "Token wrong"})
    assert client.get("/api/articles/").status_code == 200


def test_unknown_tokens_of_readers_are_refused_after_some(client):
    headers = {"Authorization": "GoogleLogin auth=wrong"}
    statuses = [client.get("/reader/api/0/user-info", headers=headers).status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]
    assert client.get("/reader/api/0/user-info").status_code == 401


DOORS = {
    "/accounts/login/": ("username", "password"),
    "/accounts/ClientLogin": ("Email", "Passwd"),
    "/api/greader.php/accounts/ClientLogin": ("Email", "Passwd"),
}


def knock(client, door, name, password, **extra):
    fields = DOORS[door]
    return client.post(door, {fields[0]: name, fields[1]: password}, **extra)


@pytest.mark.parametrize("door", DOORS)
def test_five_failures_close_the_door_even_to_the_right_password(client, door):
    make_user("ada", staff=True)
    statuses = [knock(client, door, "ada", f"wine{n}").status_code for n in range(5)]
    assert statuses == [401 if "ClientLogin" in door else 200] * 4 + [429]
    answer = knock(client, door, "ada", "water")
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert answer["Cache-Control"] == "private, no-store"
    assert "15 minutes" in answer.content.decode()
    assert ("<html" in answer.content.decode()) == ("ClientLogin" not in door)
    assert "sessionid" not in client.cookies
    # Another person at this address, and the same one elsewhere, get in.
    make_user("bob", staff=True)
    assert knock(client, door, "bob", "water").status_code in {200, 302}
    assert knock(Client(), door, "ada", "water", REMOTE_ADDR=ELSEWHERE).status_code in {200, 302}


def test_the_doors_count_together(client):
    make_user("ada")
    for door in ("/accounts/login/", "/accounts/login/", "/accounts/ClientLogin", "/accounts/login/"):
        knock(client, door, "ada", "wine")
    assert knock(client, "/accounts/ClientLogin", "ada", "wine").status_code == 429
    assert knock(client, "/accounts/login/", "ada", "water").status_code == 429


def test_the_administration_has_no_door_of_its_own(client):
    make_user("ada", staff=True)
    answer = client.post("/admin/login/?next=/admin/", {"username": "ada", "password": "water"})
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=")
    assert "sessionid" not in client.cookies


def test_the_door_opens_again(client):
    make_user("ada")
    for _ in range(5):
        knock(client, "/accounts/login/", "ada", "wine")
    # While it is closed, further attempts do not keep it closed for longer.
    assert knock(client, "/accounts/login/", "ada", "water").status_code == 429
    past = datetime.now(UTC) - settings.AXES_COOLOFF_TIME
    AccessAttempt.objects.update(attempt_time=past)
    assert knock(client, "/accounts/login/", "ada", "water").status_code == 302


def test_a_sign_in_that_works_forgives_the_failures_before(client):
    make_user("ada")
    for _ in range(3):
        for _ in range(4):
            knock(client, "/accounts/login/", "ada", "wine")
        assert knock(client, "/accounts/login/", "ada", "water").status_code == 302
        client.logout()


def test_no_password_is_kept_of_a_failure(client):
    for door in DOORS:
        knock(client, door, "ada", "secret-wine")
    client.get("/accounts/ClientLogin?Email=ada&Passwd=secret-wine")
    client.post("/accounts/ClientLogin?Passwd=secret-wine", {"Email": "ada", "Passwd": "secret-wine"})
    rows = str(list(AccessAttempt.objects.values()))
    assert "ada" in rows
    assert "secret-wine" not in rows
