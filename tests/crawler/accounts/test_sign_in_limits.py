"""Sign-ins with ever new names are limited by address, before a password is hashed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.test import Client, RequestFactory

from articles.greader.access import create_app_password
from crawler.web import attempts
from crawler.web.attempts import give_back_attempt, take_attempt
from crawler.web.models import Attempts
from crawler.web.requests import ARRIVED
from tests.factories import make_subscriber, make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 4, tzinfo=UTC)
ELSEWHERE = "203.0.113.9"
DOORS = {
    "/accounts/login/": ("username", "password", 200, 302),
    "/accounts/ClientLogin": ("Email", "Passwd", 401, 200),
    "/api/greader.php/accounts/ClientLogin": ("Email", "Passwd", 401, 200),
}


@pytest.fixture(autouse=True)
def _few(monkeypatch: Any) -> None:
    """Three are many, and no window ends during a test."""
    monkeypatch.setattr(attempts, "MAX_SIGN_INS", 3)
    monkeypatch.setattr(attempts, "WINDOW", timedelta(days=3650))


@pytest.fixture
def hashed(monkeypatch: Any) -> list[str]:
    """The passwords that were hashed."""
    seen: list[str] = []
    encode = MD5PasswordHasher.encode

    def noted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        seen.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", noted)
    return seen


def knock(door: str, name: str, password: str = "wine", **extra: Any) -> Any:
    fields = DOORS[door]
    return Client().post(door, {fields[0]: name, fields[1]: password}, **extra)


@pytest.mark.parametrize("door", DOORS)
def test_ever_new_names_from_one_address_are_refused_before_a_hash(door: str, hashed: list[str]) -> None:
    make_user("ada")
    hashed.clear()
    _, _, wrong, right = DOORS[door]
    assert [knock(door, f"new{n}").status_code for n in range(6)] == [wrong] * 3 + [429] * 3
    assert len(hashed) == 3
    answer = knock(door, "ada", "water")
    assert answer.status_code == 429
    assert len(hashed) == 3
    assert int(answer["Retry-After"]) > 0
    assert answer["Cache-Control"] == "private, no-store"
    words = answer.content.decode()
    assert ("<html" in words) == ("ClientLogin" not in door)
    assert "oo many failed sign-ins" in words
    assert "with this name" not in words
    assert knock(door, "ada", "water", REMOTE_ADDR=ELSEWHERE).status_code == right
    # What is refused leaves no trace of its name, so that the table does not grow by it.
    assert AccessAttempt.objects.count() == 3


def test_all_doors_count_together() -> None:
    for door in DOORS:
        assert knock(door, f"new{door}").status_code == DOORS[door][2]
    assert [knock(door, "another").status_code for door in DOORS] == [429, 429, 429]


def test_a_forged_forwarding_header_and_a_varied_ipv6_address_gain_nothing() -> None:
    door = "/accounts/ClientLogin"
    forged = [knock(door, f"new{n}", headers={"X-Forwarded-For": f"198.51.100.{n}"}) for n in range(4)]
    varied = [knock(door, f"newer{n}", REMOTE_ADDR=f"2001:db8:1:2::{n:x}") for n in range(1, 5)]
    for answers in (forged, varied):
        assert [answer.status_code for answer in answers] == [401, 401, 401, 429]


@pytest.mark.parametrize("door", DOORS)
def test_people_who_sign_in_normally_use_up_nothing(door: str) -> None:
    for n in range(5):
        make_user(f"person{n}")
    assert {knock(door, f"person{n}", "water").status_code for n in range(5)} == {DOORS[door][3]}
    assert [row.failures for row in Attempts.objects.all()] == [0]
    assert knock(door, "person1", "wine").status_code == DOORS[door][2]
    assert [row.failures for row in Attempts.objects.all()] == [1]


def test_an_app_password_opens_to_its_app_whatever_others_at_its_address_do() -> None:
    subscriber = make_subscriber()
    password = create_app_password(subscriber, "phone")
    door = "/accounts/ClientLogin"
    for n in range(4):
        knock(door, f"new{n}")
    assert knock(door, subscriber.user.get_username(), password).status_code == 200


@pytest.mark.parametrize("door", DOORS)
def test_a_sign_in_that_waited_too_long_for_its_turn_is_told_to_come_again(
    door: str, hashed: list[str]
) -> None:
    make_user("ada")
    hashed.clear()
    answer = knock(door, "ada", "water", **{ARRIVED: time.monotonic() - 6})
    assert answer.status_code == 429
    assert answer["Retry-After"] == "10"
    assert "at this moment" in answer.content.decode()
    assert not hashed
    assert not Attempts.objects.exists()
    assert knock(door, "ada", "water", **{ARRIVED: time.monotonic() - 1}).status_code == DOORS[door][3]


def test_links_by_mail_are_limited_by_address_and_counted_apart(settings: Any) -> None:
    settings.EMAIL_URL = "smtp://localhost"
    for n in range(4):
        knock("/accounts/login/", f"new{n}")
    path = "/accounts/password/reset/"
    answers = [Client().post(path, {"email": f"new{n}@example.org"}) for n in range(4)]
    assert [answer.status_code for answer in answers] == [302, 302, 302, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert "tried this too often" in answers[-1].content.decode()
    assert Client().get(path).status_code == 200


def test_a_good_attempt_is_given_back() -> None:
    request = RequestFactory().post("/", REMOTE_ADDR="192.0.2.1")
    for _ in range(10):
        assert take_attempt("sign-in", request, NOW)
        give_back_attempt("sign-in", request, NOW)
    assert [take_attempt("sign-in", request, NOW) for _ in range(5)] == [True] * 3 + [False] * 2
    assert Attempts.objects.get().failures == 3
    assert take_attempt("password-reset", request, NOW)


@pytest.mark.django_db(transaction=True)
def test_attempts_at_the_same_time_are_all_counted() -> None:
    request = RequestFactory().post("/", REMOTE_ADDR="192.0.2.1")

    def take(_: int) -> bool:
        try:
            return take_attempt("sign-in", request, NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(take, range(40))) == 3
