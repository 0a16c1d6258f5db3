"""Accounts in a browser: invitation, forgotten password, second factors, an identity provider, leaving."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from articles.personal.following import follow, subscriber_of
from crawler.accounts.models import Account
from crawler.web.roles import OWNER, give_role
from feeds.models import Category, Feed
from tests.browser.conftest import signed_in
from tests.browser.provider import CLIENT, SECRET, IdentityProvider
from tests.factories import make_feed, make_user

PASSWORD = "a long sentence is good"


@pytest.fixture
def page(demo: str, transactional_db: None, browser: Browser) -> Iterator[Page]:
    """A page of somebody who is not signed in, on a phone."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def person(demo: str, transactional_db: None) -> Iterator[User]:
    user = make_user("mara", email="mara@news.example")
    yield user
    User.objects.filter(username__in=["mara", "paul", "ines", "tom"]).delete()


def sign_in(page: Page, address: str, name: str, password: str = "water") -> None:
    page.goto(f"{address}/accounts/login/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def confirm_password(page: Page, password: str = "water") -> None:
    """Type the password once more, as changes of second factors ask for."""
    page.wait_for_url(re.compile("/reauthenticate/"))
    page.locator("[name=password]").fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("^((?!reauthenticate).)*$"))


def test_an_invitation_leads_to_the_first_article_on_a_phone(
    demo: str, browser: Browser, page: Page, person: User
) -> None:
    give_role(make_user("ines"), OWNER)
    folder = Category.objects.filter(feeds__articles__isnull=False).order_by("pk").first()
    assert folder is not None
    with signed_in(demo, browser, "ines") as context:
        people = context.new_page()
        people.goto(f"{demo}/people/")
        people.get_by_role("link", name="Invite").click()
        people.get_by_label("Feeds to begin with").select_option(str(folder.pk))
        people.get_by_role("button", name="Make a link").click()
        link = people.locator(".secret code").inner_text()
    page.goto(link)
    expect(page.get_by_role("heading", name="ines invites you")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("tom")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Begin to read").click()
    page.locator(".item .t").first.click()
    expect(page.locator(".art h1")).to_be_visible()


class Mailbox:
    """Keeps the mails that an SMTP server takes."""

    def __init__(self) -> None:
        self.bodies: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.bodies.append(message_from_bytes(envelope.content).get_payload(decode=True).decode())
        return "250 OK"


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """A mail server of the test's own, which the deployment sends by."""
    box = Mailbox()
    server = Controller(box, hostname="127.0.0.1", port=0)
    server.port = _free_port()
    server.start()
    settings.EMAIL_URL = "smtp://127.0.0.1"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
    yield box
    server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_forgotten_password_is_set_anew_by_mail(
    demo: str, page: Page, person: User, mailbox: Mailbox
) -> None:
    page.goto(f"{demo}/accounts/login/")
    page.get_by_role("link", name="Forgotten?").click()
    page.locator("[name=email]").fill("mara@news.example")
    page.get_by_role("button", name="Reset my password").click()
    expect(page.locator("main")).to_contain_text("email")
    link = re.search(r"http://[^\s]+/accounts/password/reset/key/[^\s]+", mailbox.bodies[0])
    assert link is not None
    page.goto(link[0])
    page.locator("[name=password1]").fill(PASSWORD)
    page.locator("[name=password2]").fill(PASSWORD)
    page.get_by_role("button", name="Change password").click()
    page.goto(f"{demo}/accounts/security/")
    expect(page.locator("main")).to_contain_text("mara@news.example")


def test_without_mail_the_page_says_whom_to_ask(demo: str, page: Page, person: User) -> None:
    page.goto(f"{demo}/accounts/login/")
    page.get_by_role("link", name="Forgotten?").click()
    expect(page.locator("main")).to_contain_text("Ask somebody who runs it")


def test_codes_are_set_up_used_and_recovered_from(demo: str, page: Page, person: User) -> None:
    sign_in(page, demo, "mara")
    page.goto(f"{demo}/accounts/security/")
    page.locator(".setline", has_text="passkeys").get_by_role("link").click()
    page.get_by_role("link", name="Activate").click()
    confirm_password(page)
    secret = page.locator("#authenticator_secret").input_value()
    page.locator("[name=code]").fill(code_of(secret))
    page.get_by_role("button", name="Activate").click()
    expect(page.locator("textarea, #recovery_codes")).to_be_visible()
    spare = page.locator("textarea, #recovery_codes").input_value().split()[0]
    page.context.clear_cookies()
    sign_in(page, demo, "mara")
    page.locator("[name=code]").fill("000000")
    page.get_by_role("button", name="Sign In").click()
    expect(page.locator(".error").first).to_be_visible()
    page.locator("[name=code]").fill(spare)
    page.get_by_role("button", name="Sign In").click()
    page.wait_for_url(re.compile("/read/"))
    assert Authenticator.objects.filter(user=person).count() == 2


def code_of(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


def test_a_passkey_signs_in_without_a_password(demo: str, page: Page, person: User) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    address = demo.replace("127.0.0.1", "localhost")  # an address of numbers has no passkeys
    sign_in(page, address, "mara")
    page.goto(f"{address}/accounts/2fa/webauthn/add/")
    confirm_password(page)
    page.locator("[name=name]").fill("My phone")
    passwordless = page.locator("[name=passwordless]")
    if passwordless.count():
        passwordless.check()
    page.get_by_role("button", name="Add").click()
    page.wait_for_url(re.compile("/recovery-codes/|/webauthn/$"))
    page.context.clear_cookies()
    page.goto(f"{address}/accounts/login/")
    page.get_by_role("button", name="With a passkey").click()
    page.wait_for_url(re.compile("/read/"))
    page.goto(f"{address}/accounts/security/")
    expect(page.locator("main")).to_contain_text("Passkey My phone")


def test_an_identity_provider_signs_people_in(demo: str, page: Page, person: User, settings: Any) -> None:
    with IdentityProvider("paul") as provider:
        app = {
            "provider_id": "oidc", "name": "the paper", "client_id": CLIENT, "secret": SECRET,
            "settings": {"server_url": provider.origin},
        }  # fmt: skip
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}
        settings.OIDC_NAME, settings.OIDC_SIGN_UP = "the paper", True
        page.goto(f"{demo}/accounts/login/")
        page.get_by_role("button", name="With the paper").click()
        page.wait_for_url(re.compile("/read/"))
        assert User.objects.get(username="paul").has_usable_password() is False
        settings.OIDC_SIGN_UP = False
        page.context.clear_cookies()
        provider.name = "stranger"
        page.goto(f"{demo}/accounts/login/")
        page.get_by_role("button", name="With the paper").click()
        expect(page.locator("main")).to_contain_text("closed circle")
        assert not User.objects.filter(username="stranger").exists()


def test_a_session_is_ended_elsewhere(demo: str, browser: Browser, page: Page, person: User) -> None:
    sign_in(page, demo, "mara")
    other = browser.new_context(user_agent="Mozilla/5.0 (Windows NT 10.0) Firefox/150.0")
    desk = other.new_page()
    sign_in(desk, demo, "mara")
    page.goto(f"{demo}/accounts/security/")
    row = page.locator("li", has_text="Firefox on Windows")
    row.get_by_role("button", name="End").click()
    expect(page.locator("main")).to_contain_text("That device is signed out.")
    desk.goto(f"{demo}/read/")
    assert "/accounts/login/" in desk.url
    other.close()


def test_an_account_is_deleted_and_kept(demo: str, page: Page, person: User) -> None:
    sign_in(page, demo, "mara")
    page.goto(f"{demo}/accounts/security/")
    page.get_by_label("Type your name, mara").fill("mara")
    page.get_by_role("button", name="Delete my account").click()
    expect(page.locator("main")).to_contain_text("is deleted on")
    leaves = Account.objects.get(user=person).delete_after
    assert leaves is not None and leaves > datetime.now(UTC)
    page.get_by_role("button", name="Stay").click()
    assert Account.objects.get(user=person).delete_after is None


def test_an_account_is_taken_along_to_where_nothing_of_it_is_known(
    demo: str, page: Page, person: User, tmp_path: Path
) -> None:
    feeds = [make_feed(title=f"Mara's feed {number}") for number in (1, 2)]
    for feed in feeds:
        follow(subscriber_of(person), feed, folder="Kept")
    sign_in(page, demo, "mara")
    page.goto(f"{demo}/settings/data/")
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("Save ?: Everything")).click()
    download.value.save_as(tmp_path / "all.zip")
    person.delete()
    for feed in feeds:
        feed.delete()
    page.context.clear_cookies()
    make_user("tom")
    sign_in(page, demo, "tom")
    page.goto(f"{demo}/settings/data/")
    page.get_by_label("From another Freshet").set_input_files(tmp_path / "all.zip")
    page.get_by_role("region", name="Bring in").get_by_role("button", name="Take it over").click()
    expect(page.locator("#main")).to_contain_text("Taken over: 2 feeds.")
    page.goto(f"{demo}/read/")
    page.locator('[data-do="drawer"]').click()
    expect(page.locator(".tree summary", has_text="Kept")).to_be_visible()
    Feed.objects.filter(url__in=[feed.url for feed in feeds]).delete()


PAGES = (
    "/settings/account/", "/settings/signup/", "/accounts/email/", "/accounts/password/change/",
    "/accounts/2fa/", "/people/",
    "/accounts/2fa/webauthn/", "/accounts/3rdparty/",
)  # fmt: skip
DOORS = ("/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/accounts/password/own/")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_pages_of_accounts_are_accessible_and_fit(
    demo: str, browser: Browser, person: User, width: int, scheme: Any
) -> None:
    give_role(person, OWNER)
    for paths, name in ((PAGES, "mara"), (DOORS, "")):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        if name:
            sign_in(page, demo, name)
        for path in paths:
            page.goto(f"{demo}{path}")
            if "/reauthenticate/" in page.url:
                confirm_password(page)
            found = Axe().run(page).response["violations"]
            assert not found, (
                f"{path}: {[(rule['id'], [n['html'][:200] for n in rule['nodes']]) for rule in found]}"
            )
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        context.close()
