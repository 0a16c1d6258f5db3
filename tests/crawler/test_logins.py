"""Logins as people give them: the page, the API, the command and addresses. None of them shows a secret."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from crawler.database.secrets import UnreadableError, unseal
from crawler.engine.logins import keep_login, logins_of, take_login
from crawler.engine.models import SiteLogin
from crawler.web.roles import EDITOR, give_role
from feeds.models import Feed, ImportLine
from tests.factories import make_user

pytestmark = pytest.mark.django_db
SECRET = "p:w/1-s3cret"
ADDRESS = "https://user%40host.com:p%3Aw%2F1-s3cret@site.example/news/feed"


@pytest.fixture
def editor(client: Client) -> Client:
    user = make_user("ed")
    give_role(user, EDITOR)
    client.force_login(user)
    return client


def headers() -> dict[str, str]:
    rows = SiteLogin.objects.all()
    return {
        each.prefix: f"{each.name}: {each.value}"
        for logins in logins_of(row.host_id for row in rows).values()
        for each in logins
    }


def test_the_page_takes_a_login_and_shows_it_never(editor: Client) -> None:
    given = {"url": "site.example/f", "kind": "basic", "name": "me", "secret": SECRET}
    page = editor.post(reverse("logins"), given, follow=True)
    assert page.status_code == 200
    assert "http://site.example/f" in page.text and "name and password" in page.text
    assert SECRET not in page.text
    (row,) = SiteLogin.objects.all()
    assert SECRET not in row.sealed
    assert headers() == {"http://site.example/f": "Authorization: Basic bWU6cDp3LzEtczNjcmV0"}
    editor.post(reverse("login-forget", args=[row.pk]))
    assert not SiteLogin.objects.exists()


def test_the_page_says_what_cannot_be_used(editor: Client) -> None:
    given = {"url": "site.example/f", "kind": "header", "name": "Host", "secret": SECRET}
    page = editor.post(reverse("logins"), given)
    assert page.status_code == 422 and "is no header for a login" in page.text
    assert SECRET not in page.text
    page = editor.post(reverse("logins"), given | {"url": "ftp://site.example", "name": "X-T"})
    assert page.status_code == 422 and SECRET not in page.text


def test_readers_give_no_logins(client: Client) -> None:
    client.force_login(make_user("reader"))
    assert client.get(reverse("logins")).status_code == 403
    assert client.get("/api/logins/").status_code == 403
    assert reverse("logins") not in client.get(reverse("articles")).text


def test_the_api_takes_a_login_and_shows_it_never(editor: Client) -> None:
    given = {"url": "https://site.example/f", "kind": "cookie", "secret": "sid=1"}
    answer = editor.post("/api/logins/", given, content_type="application/json")
    assert answer.status_code == 201 and answer.json().keys() == {"id", "url", "kind", "given"}
    assert headers() == {"https://site.example/f": "Cookie: sid=1"}
    assert editor.get("/api/logins/").json()["results"][0].keys() == {"id", "url", "kind", "given"}
    bad = editor.post("/api/logins/", given | {"secret": "a\nb"}, content_type="application/json")
    assert bad.status_code == 400 and bad.json().keys() == {"secret"}
    assert editor.delete(f"/api/logins/{answer.json()['id']}/").status_code == 204


def test_the_command_reads_the_secret_from_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{SECRET}\n"))
    call_command("login", "https://site.example/f", "--header", "X-Token", stdout=out)
    assert headers() == {"https://site.example/f": f"X-Token: {SECRET}"}
    call_command("login", stdout=out)
    assert "https://site.example/f: header" in out.getvalue() and SECRET not in out.getvalue()
    call_command("login", "https://site.example/f", "--forget", stdout=out)
    assert not SiteLogin.objects.exists()
    with pytest.raises(CommandError, match="--user"):
        call_command("login", "https://site.example/f")


def test_an_address_with_a_password_leaves_it_nowhere(editor: Client, tmp_path: Any) -> None:
    page = editor.get(reverse("add"), {"url": ADDRESS})
    shown = page.text.replace(f'value="{ADDRESS}"', "")
    assert "https://site.example/news/feed" in shown
    page = editor.post(reverse("add"), {"feed": ADDRESS}, follow=True)
    assert Feed.objects.get().url == "https://site.example/news/feed"
    assert ImportLine.objects.get().text == "https://site.example/news/feed"
    assert "s3cret" not in page.text
    basic = "Authorization: Basic dXNlckBob3N0LmNvbTpwOncvMS1zM2NyZXQ="
    assert headers() == {"https://site.example/news/feed": basic, "https://site.example/news/": basic}
    answer = editor.post("/api/feeds/", {"url": ADDRESS}, content_type="application/json")
    assert "s3cret" not in answer.text
    answer = editor.post("/api/sites/", {"url": ADDRESS}, content_type="application/json")
    assert answer.status_code == 201 and "s3cret" not in answer.text


def test_a_login_of_an_address_changes_and_that_of_its_folder_stays() -> None:
    take_login("https://a:1@site.example/x/f")
    take_login("https://b:2@site.example/x/g")
    take_login("https://b:3@site.example/x/f")
    values = {url.rpartition("/")[2]: value.rpartition(" ")[2] for url, value in headers().items()}
    assert values == {"": "YTox", "g": "Yjoy", "f": "Yjoz"}


def test_a_login_of_another_secret_key_is_left_out(settings: Any) -> None:
    row = keep_login("https://site.example/", "cookie", "sid=1")
    settings.SECRET_KEY = "another"
    assert logins_of([row.host_id]) == {}
    with pytest.raises(UnreadableError):
        unseal(row.sealed)
