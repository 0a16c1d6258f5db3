"""Tokens of programs: made, shown once, used, read-only, taken back; by the page, the API and the command."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from crawler.web.models import ApiToken
from tests.factories import make_token, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
PAGE = "/settings/apps/"


def asked(secret: str, method: str = "get", path: str = "/api/tokens/", body: object = None) -> int:
    headers = {"Authorization": f"Token {secret}"}
    answer = (
        getattr(Client(), method)(path, body, "application/json", headers=headers)
        if body
        else getattr(Client(), method)(path, headers=headers)
    )
    return int(answer.status_code)


def made(client: Client, may: str = "read") -> str:
    page = flat(client.post(PAGE, {"token_for": "Home display", "may": may}).content)
    match = re.search(r'id="made-token">(fst_[\w-]+)<', page)
    assert match
    return match[1]


@pytest.fixture
def ann(client: Client) -> Client:
    client.force_login(make_user("ann"))
    return client


def test_a_token_is_shown_once_and_opens_the_api(ann: Client) -> None:
    secret = made(ann)
    page = ann.get(PAGE).content.decode()
    assert secret not in page
    assert f"…{secret[-4:]}" in flat(page.encode())
    assert asked(secret) == 200
    row = ApiToken.objects.get()
    assert row.last_used is not None
    assert secret not in row.digest


def test_a_token_that_may_read_changes_nothing(ann: Client) -> None:
    reads, writes = made(ann), made(ann, "manage")
    assert asked(reads, "post", body={"name": "x"}) == 403
    assert asked(writes, "post", body={"name": "x"}) == 201


def test_a_token_taken_back_opens_nothing(ann: Client) -> None:
    secret = made(ann)
    ann.post(f"/me/readers/tokens/{ApiToken.objects.get().pk}/revoke/")
    assert asked(secret) == 401
    assert asked("fst_invented") == 401


def test_nobody_takes_back_what_is_another_s(ann: Client) -> None:
    secret, other = made(ann), Client()
    other.force_login(make_user("bob"))
    key = ApiToken.objects.get().pk
    assert other.post(f"/me/readers/tokens/{key}/revoke/").status_code == 404
    assert other.delete(f"/api/tokens/{key}/").status_code == 404
    assert asked(secret) == 200


def test_a_closed_account_has_no_token(ann: Client) -> None:
    secret = made(ann)
    row = ApiToken.objects.get()
    row.user.is_active = False
    row.user.save()
    assert asked(secret) == 401


def test_the_token_of_the_command_is_listed_and_taken_back(ann: Client) -> None:
    header = make_token(ApiToken._meta.get_field("user").related_model.objects.get(username="ann"))
    assert "Made by the command" in ann.get(PAGE).content.decode()
    ann.post("/me/readers/tokens/0/revoke/")
    assert Client().get("/api/tokens/", headers={"Authorization": header}).status_code == 401


def test_the_api_makes_lists_and_deletes(ann: Client) -> None:
    answer = ann.post("/api/tokens/", {"name": "script", "may_write": True}, "application/json")
    assert answer.status_code == 201
    secret, key = answer.json()["token"], answer.json()["id"]
    assert asked(secret) == 200
    listed = ann.get("/api/tokens/").json()["results"][0]
    assert (listed["name"], listed["may_write"], "token" in listed) == ("script", True, False)
    assert ann.delete(f"/api/tokens/{key}/").status_code == 204
    assert asked(secret) == 401


def test_the_command_names_lists_and_takes_back() -> None:
    make_user("ann")

    def said(*words: str) -> str:
        out = StringIO()
        call_command("api_token", "ann", *words, stdout=out)
        return out.getvalue()

    secret = said("--name", "cron", "--read-only").strip()
    assert asked(secret) == 200
    assert asked(secret, "post", body={"name": "x"}) == 403
    assert "cron" in said("--list")
    said("--revoke", "cron")
    assert asked(secret) == 401
    with pytest.raises(CommandError, match="no token"):
        said("--revoke", "cron")
    assert asked(said().strip()) == 200
