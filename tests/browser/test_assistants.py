"""Assistants in a browser: allowed and refused by clicks, keys and without scripts, listed, disconnected."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.idp.oidc.models import Client as Assistant
from allauth.idp.oidc.models import Token
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client, RequestFactory
from playwright.sync_api import Browser, Page, Route, expect

from crawler.accounts.assistants.callers import caller_of
from crawler.accounts.assistants.connections import connect
from crawler.accounts.models import AssistantConnection
from crawler.web.models import ApiToken
from tests.browser.conftest import Visitor, signed_in
from tests.browser.fit import SIZES, sticks_out, too_small_for_thumbs
from tests.browser.test_pages import COLOURS, barriers

VERIFIER = "a" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
REDIRECT = "https://assistant.example/callback"
NAME = "Harbour Helper"


@dataclass
class Registered:
    """An assistant that has registered at a deployment, and asks people to allow it."""

    demo: str
    client_id: str

    def address(self, **changes: str) -> str:
        """The address to which it sends a person."""
        query = {
            "client_id": self.client_id, "redirect_uri": REDIRECT, "response_type": "code", "state": "s1",
            "scope": "read mark manage", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
            "resource": f"{self.demo}/mcp",
        } | changes  # fmt: skip
        return f"/oauth/authorize?{urlencode(query)}"

    def token(self, page: Page, code: str) -> str:
        """The token that it gets for a code."""
        form: dict[str, Any] = {
            "grant_type": "authorization_code", "client_id": self.client_id, "code": code,
            "redirect_uri": REDIRECT, "code_verifier": VERIFIER, "resource": f"{self.demo}/mcp",
        }  # fmt: skip
        return str(page.request.post(f"{self.demo}/oauth/token", form=form).json()["access_token"])


@pytest.fixture
def assistant(demo: str, transactional_db: None) -> Iterator[Registered]:
    cache.clear()
    told = {"client_name": NAME, "redirect_uris": [REDIRECT]}
    client_id = Client().post("/oauth/clients", told, "application/json").json()["client_id"]
    yield Registered(demo, client_id)
    AssistantConnection.objects.all().delete()
    Token.objects.all().delete()
    Assistant.objects.all().delete()
    ApiToken.objects.all().delete()


def be_the_assistant(page: Page) -> None:
    """Answer where the assistant would, for people who are sent back to it."""

    def answer(route: Route) -> None:
        route.fulfill(body="<!doctype html><title>Helper</title><p>Welcome back.", content_type="text/html")

    page.route(f"{REDIRECT}*", answer)


def sent_back(page: Page) -> dict[str, str]:
    """Wait until the person is back at the assistant, and return what it is told."""
    page.wait_for_url(f"{REDIRECT}*")
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


@pytest.mark.parametrize("size", SIZES)
def test_an_assistant_is_allowed_listed_and_disconnected(
    keeper: Visitor, assistant: Registered, size: tuple[int, int]
) -> None:
    page = keeper.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    be_the_assistant(page)
    keeper.goto(assistant.address())
    expect(page.get_by_role("heading", name=f"{NAME} wants to use Freshet for you")).to_be_visible()
    expect(page.locator("#main")).to_contain_text("assistant.example")
    expect(page.get_by_label("It may follow and unfollow feeds")).not_to_be_checked()
    page.get_by_label("It may mark articles as read").uncheck()
    page.get_by_role("button", name="Allow").click()
    told = sent_back(page)
    assert told["state"] == "s1"
    secret = assistant.token(page, told["code"])
    headers = {"Authorization": f"Bearer {secret}", "Host": urlsplit(assistant.demo).netloc}
    asked = RequestFactory().post("/mcp", headers=headers)
    assert caller_of(asked).scopes == {"read"}

    keeper.goto("/settings/apps/")
    row = page.locator("#assistants li", has_text=NAME)
    expect(row).to_contain_text("It may read your articles")
    expect(row).not_to_contain_text("It may mark")
    expect(row).to_contain_text("assistant.example")
    page.get_by_role("button", name=f"Disconnect {NAME}").click()
    expect(page.locator("#toast")).to_contain_text(f"{NAME} is disconnected")
    expect(page.locator("#assistants li")).to_have_text("None yet.")
    assert not Token.objects.exists()
    assert keeper.complaints == []


def test_an_assistant_is_allowed_by_keyboard_alone(keeper: Visitor, assistant: Registered) -> None:
    be_the_assistant(keeper.page)
    page = keeper.goto(assistant.address())
    for name in ("It may read your articles", "It may mark articles", "It may follow and unfollow feeds"):
        page.keyboard.press("Tab")
        expect(page.get_by_label(name)).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Allow")).to_be_focused()
    page.keyboard.press("Enter")
    assert "code" in sent_back(page)
    assert AssistantConnection.objects.get().scopes == "read mark manage"
    assert keeper.complaints == []


def test_an_assistant_is_refused(keeper: Visitor, assistant: Registered) -> None:
    be_the_assistant(keeper.page)
    page = keeper.goto(assistant.address())
    page.get_by_role("button", name="Refuse").click()
    assert sent_back(page) == {"error": "access_denied", "state": "s1"}
    assert not AssistantConnection.objects.exists()


def test_nothing_ticked_is_said_beside_the_ticks(keeper: Visitor, assistant: Registered) -> None:
    page = keeper.goto(assistant.address(scope="read"))
    page.get_by_label("It may read your articles").uncheck()
    page.get_by_role("button", name="Allow").click()
    expect(page.get_by_role("alert")).to_have_text("Tick what it may do, or refuse.")
    assert barriers(page) == []
    assert not AssistantConnection.objects.exists()


def test_an_assistant_is_allowed_without_scripts(demo: str, browser: Browser, assistant: Registered) -> None:
    with signed_in(demo, browser) as context:
        state = context.storage_state()
    context = browser.new_context(
        java_script_enabled=False, storage_state=state, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    be_the_assistant(page)
    page.goto(demo + assistant.address())
    page.get_by_role("button", name="Allow").click()
    assert "code" in sent_back(page)
    page.goto(f"{demo}/settings/apps/")
    page.get_by_role("button", name=f"Disconnect {NAME}").click()
    assert page.locator("#assistants li").inner_text() == "None yet."
    context.close()


def pages_of(assistant: Registered) -> dict[str, tuple[str, int]]:
    """Return the paths of pages by what they show, with the status of each."""
    return {
        "consent": (assistant.address(), 200),
        "one scope": (assistant.address(scope="read"), 200),
        "error": (assistant.address(redirect_uri="https://other.example/"), 400),
        "no way on": (assistant.address(code_challenge_method="plain"), 400),
        "back with an error": (assistant.address(scope="openid"), 200),
        "list": ("/settings/apps/", 200),
    }


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_page_is_accessible_and_fits(
    demo: str, browser: Browser, assistant: Registered, language: str
) -> None:
    user = User.objects.get(username="keeper")
    connect(user, assistant.client_id, ["manage"], datetime.now(UTC))
    for scope in ("read", "mark", "manage"):
        ApiToken.make(user, f"A program that may {scope}", scope=scope)
    with signed_in(demo, browser) as context:
        context.set_extra_http_headers({"Accept-Language": language})
        page = context.new_page()
        for name, (path, status) in pages_of(assistant).items():
            answer = page.goto(demo + path)
            assert answer is not None
            assert answer.status == status, name
            expect(page.locator("html")).to_have_attribute("lang", language)
            for width, height in SIZES:
                page.set_viewport_size({"width": width, "height": height})
                for colours in ("light", "dark"):
                    page.emulate_media(color_scheme=colours)
                    assert barriers(page, *(COLOURS if colours == "dark" else ())) == [], (name, width)
            assert sticks_out(page) == [], name
            page.set_viewport_size({"width": 390, "height": 844})
            assert too_small_for_thumbs(page, "#assistants" if name == "list" else "main") == [], name


def test_a_token_for_marks_is_made_and_changes_nothing_else(keeper: Visitor, assistant: Registered) -> None:
    page = keeper.page
    page.set_viewport_size({"width": 390, "height": 844})
    keeper.goto("/settings/apps/")
    page.get_by_label("What is it for?").fill("Marks of my e-reader")
    page.get_by_label("It may", exact=True).select_option("mark")
    page.get_by_role("button", name="Make a token").click()
    headers = {"Authorization": f"Token {page.locator('#made-token').inner_text()}"}
    expect(page.locator("li", has_text="Marks of my e-reader")).to_contain_text("may read and mark")
    program = Client(headers=headers)
    assert program.get("/api/articles/").status_code == 200
    assert program.post("/api/tokens/", {"name": "x"}, "application/json").status_code == 403
    page.get_by_role("button", name="Take back Marks of my e-reader").click()
    expect(page.locator("#main")).to_contain_text("opens nothing any more")
    assert program.get("/api/articles/").status_code == 401
    assert keeper.complaints == []


def test_without_assistants_nothing_of_them_is_there(keeper: Visitor, settings: Any) -> None:
    settings.ASSISTANTS_ENABLED = False
    page = keeper.goto("/settings/apps/")
    expect(page.get_by_role("heading", name=re.compile("Tokens"))).to_be_visible()
    expect(page.locator("#assistants")).to_have_count(0)
