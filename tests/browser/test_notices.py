"""Notifications in a browser: from where something is seen to the message, its log, and its end."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.message import Message
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from crawler.fetching.sandboxed import client as confined
from crawler.notices import push
from crawler.notices.models import Notification, Rule, Target
from crawler.notices.sending import send_for
from crawler.notices.writing import write
from feeds.models import Feed
from recrawl.models import Site
from tests.browser.conftest import Visitor
from tests.servers import Reply, WebServer, mail_server


@pytest.fixture
def letters(settings: Any) -> Iterator[list[Message]]:
    """What a mail server of the test's own is given."""
    yield from mail_server(settings)


@pytest.fixture
def owner(keeper: Visitor) -> Iterator[User]:
    user = User.objects.get(username="keeper")
    yield user
    Rule.objects.filter(user=user).delete()
    Target.objects.filter(user=user).delete()
    Notification.objects.all().delete()


def make_mail(user: User) -> Target:
    target = Target(user=user, kind="mail", name="My letter box")
    target.address = "keeper@news.example"
    target.save()
    return target


def test_a_place_a_rule_from_an_article_and_a_test(
    keeper: Visitor, owner: User, letters: list[Message]
) -> None:
    page = keeper.goto("/read/")
    page.locator(".item .t").first.click()
    page.locator(".reader .menu summary").last.click()
    page.get_by_role("link", name="Tell me about this feed").click()
    page.get_by_role("button", name="Add a place first").click()
    page.get_by_label("Mail address").fill("keeper@news.example")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("/notifications/new/"))
    page.get_by_label("keeper@news.example").check()
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Save", exact=True).click()
    rule = Rule.objects.get(user=owner)
    assert rule.feed is not None
    page.locator(f'a[href="{rule.get_absolute_url()}"]').click()
    expect(page.locator(".msg").first).to_be_visible()
    page.get_by_role("button", name="send me a test now").click()
    send_for(5)
    expect(page.locator("#test")).to_contain_text("Sent to keeper@news.example")
    assert len(letters) == 1
    page.goto(f"{keeper.address}/me/notifications/log/")
    expect(page.locator("main")).to_contain_text("keeper@news.example")
    assert Axe().run(page).response["violations"] == []
    assert keeper.complaints == []


@pytest.mark.parametrize("where", ["site", "dead feed", "search"])
def test_a_rule_is_made_where_the_thing_is_seen(keeper: Visitor, owner: User, where: str) -> None:
    make_mail(owner)
    paths = {
        "site": Site.objects.get(state="watched").get_absolute_url(),
        "dead feed": Feed.objects.get(title="Marsh Observer").get_absolute_url(),
        "search": "/search/?q=harbour",
    }
    page = keeper.goto(paths[where])
    if where != "search":
        page.locator("main .bar .menu summary").last.click()
    page.get_by_role("link", name=re.compile("Tell me about this|Notify me")).first.click()
    page.get_by_label("My letter box").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".note.good")).to_be_visible()
    rule = Rule.objects.get(user=owner)
    found = {
        "site": rule.when == "page" and rule.site_id,
        "dead feed": rule.when == "feed" and rule.feed_id,
        "search": rule.when == "article" and rule.query == "harbour",
    }
    assert found[where]


def test_a_failing_place_says_why(keeper: Visitor, owner: User, settings: Any) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    with WebServer({"/hook": Reply(status=500, body=b"out of order")}) as sink:
        page = keeper.goto("/me/notifications/targets/new/")
        page.select_option("#id_kind", "webhook")
        page.get_by_label("Web address").fill(f"{sink.origin}/hook")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("main")).to_contain_text("Its secret, shown only now")
        page.get_by_role("link", name="New", exact=True).click()
        page.get_by_role("checkbox").first.check()
        page.get_by_role("button", name="Save", exact=True).click()
        page.goto(f"{keeper.address}{Rule.objects.get(user=owner).get_absolute_url()}")
        page.get_by_role("button", name="send me a test now").click()
        send_for(5)
        expect(page.locator("#test")).to_contain_text("it answers 500: out of order")
        page.goto(f"{keeper.address}/me/notifications/")
        expect(page.locator("main")).to_contain_text("out of order")
    confined.programs.close()


def test_a_digest_is_opened_and_ended_by_its_link(
    keeper: Visitor, owner: User, letters: list[Message], settings: Any
) -> None:
    settings.PUBLIC_URL = keeper.address
    now = datetime.now(UTC)
    rule = Rule.objects.create(
        user=owner, when="article", pace="daily", hour=now.hour, name="Morning", looked=now
    )
    Rule.objects.filter(pk=rule.pk).update(created=now - timedelta(days=2))
    rule.refresh_from_db()
    rule.targets.set([make_mail(owner)])
    rule.notices.create(key="article:1", at=now - timedelta(minutes=1), title="High water", source="Courier")
    assert write(rule, now) == 1
    send_for(5)
    (letter,) = letters
    html = letter.get_payload()[1].get_payload(decode=True).decode()
    page = keeper.page
    page.set_content(html)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.get_by_role("heading", name="Morning: 1 piece of news")).to_be_visible()
    page.get_by_role("link", name="Stop these messages").click()
    page.get_by_role("button", name="Stop them").click()
    expect(page.get_by_role("heading", name="Stopped")).to_be_visible()
    rule.refresh_from_db()
    assert rule.paused


def expect_soon(page: Page, condition: Callable[[], bool], seconds: float = 30) -> None:
    """Let `page` go on until `condition` holds; returns after `seconds` in any case: the caller asserts."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        page.wait_for_timeout(100)


def test_a_device_shows_what_is_pushed(keeper: Visitor, owner: User) -> None:
    page = keeper.goto("/read/")
    page.context.grant_permissions(["notifications"], origin=keeper.address)
    page.evaluate("navigator.serviceWorker.register('/worker.js')")
    # A worker that activates still takes no message, and a slow machine needs seconds.
    page.wait_for_function(
        "async () => (await navigator.serviceWorker.ready).active.state === 'activated'", timeout=30_000
    )
    session = page.context.new_cdp_session(page)
    versions: list[dict[str, Any]] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated", lambda event: versions.extend(event["registrations"])
    )
    session.send("ServiceWorker.enable")
    expect_soon(page, lambda: bool(versions))
    data = '{"title": "High water", "text": "at noon", "url": "/read/", "id": "a"}'
    session.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": keeper.address, "registrationId": versions[-1]["registrationId"], "data": data},
    )

    def shown() -> list[list[str]]:
        return page.evaluate(  # type: ignore[no-any-return]
            "navigator.serviceWorker.ready.then((ready) => ready.getNotifications())"
            ".then((list) => list.map((notification) => [notification.title, notification.body]))"
        )

    expect_soon(page, lambda: bool(shown()))
    assert shown() == [["High water", "at noon"]]
    assert len(push.public_key()) == 87


def test_quiet_hours_are_chosen_and_hold_a_message_back(keeper: Visitor, owner: User) -> None:
    target = make_mail(owner)
    page = keeper.goto("/me/notifications/new/?when=article")
    page.get_by_text("Quiet hours, and once a story").click()
    now = datetime.now(UTC)
    page.locator("[name=quiet_from]").select_option(str(now.hour))
    page.locator("[name=quiet_until]").select_option(str((now.hour + 2) % 24))
    page.get_by_label(target.name).check()
    page.get_by_role("button", name="Save", exact=True).click()
    rule = Rule.objects.get(user=owner)
    assert (rule.quiet_from, rule.quiet_until) == (now.hour, (now.hour + 2) % 24)
    rule.notices.create(key="one", at=now, title="In the night")
    write(rule, now)
    message = Notification.objects.get(rule=rule)
    assert timedelta(hours=1) <= message.due - now.replace(minute=0, second=0, microsecond=0)
    page.goto(f"{keeper.address}/me/notifications/log/")
    expect(page.locator("main")).to_contain_text("In the night")
    assert keeper.complaints == []


def test_an_article_is_shared(keeper: Visitor, owner: User) -> None:
    page = keeper.goto("/read/")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".item .t").first.click()
    page.locator(".reader .menu summary").last.click()
    mail = page.get_by_role("link", name="Send by mail").get_attribute("href") or ""
    assert mail.startswith("mailto:?subject=")
    page.get_by_role("button", name="Copy the link").click()
    expect(page.locator("#toast")).to_contain_text("The link is copied.")
    address = page.locator(".orig").get_attribute("href")
    assert page.evaluate("navigator.clipboard.readText()") == address
    page.once("dialog", lambda dialog: dialog.accept("https://social.example/"))
    page.context.route("https://social.example/**", lambda route: route.fulfill(body="a form"))
    page.locator(".reader .menu summary").last.click()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Post on Mastodon").click()
    assert opened.value.url.startswith("https://social.example/share?text=")
    opened.value.close()
    with page.context.expect_page() as again:  # the server is chosen once
        page.get_by_role("button", name="Post on Mastodon").click()
    assert again.value.url.startswith("https://social.example/share?text=")
