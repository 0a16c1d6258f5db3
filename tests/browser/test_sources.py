"""Sources that are no feeds, followed by mouse and keyboard: lists of pages, and what asks for a login."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from articles.models import Article
from crawler.engine.models import SiteLogin
from crawler.fetching.sandboxed import client as confined
from crawler.inline import work_off
from crawler.terminals.client import terminal_client
from feeds.adding.add import add_feed
from feeds.mail.models import MailAddress, Newsletter
from feeds.models import Category, Feed, FeedImport
from tests.browser.conftest import Visitor, signed_in
from tests.browser.test_pages import COLOURS, barriers
from tests.servers import Reply, Request, WebServer, article

HTML = {"Content-Type": "text/html; charset=utf-8"}
NEWS = ("The harbour gets its light back", "Nineteen lamps and a list", "Minutes of the board, October",
        "Where the customs house stood", "Ferry posters, 1950 to 1971")  # fmt: skip
EVENINGS = (
    "An evening on the lamps of the pier",
    "A walk along the old customs wall",
    "Songs of the ferrymen",
)
SECRET = "lamp-oil-and-wicks-4711"
WIDTHS = (390, 1280)
BIG_ENOUGH = 44
"""Pixels of a button's height that a thumb hits."""


def path_to(title: str) -> str:
    return "/news/" + re.sub(r"[^a-z0-9]+", "-", title.lower())


def council(*titles: str, moved: bool = False) -> Reply:
    """A council's page without a feed: a menu, a list of news with dates, and one of what is to come."""
    if moved:
        news = "".join(
            f'<article class="teaser"><h3><a href="{path_to(title)}">{title}</a></h3>'
            f'<time datetime="2026-11-{20 - n:02}"></time><p>What the council says of it, at some length.</p>'
            "</article>"
            for n, title in enumerate(titles)
        )
    else:
        rows = "".join(
            f'<li><span class="date">2026-11-{20 - n:02}</span> <a href="{path_to(title)}">{title}</a></li>'
            for n, title in enumerate(titles)
        )
        news = f'<ul class="news">{rows}</ul>'
    dates = "".join(f'<tr><td><a href="{path_to(title)}">{title}</a></td></tr>' for title in EVENINGS)
    menu = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in ("home", "town", "office", "contact"))
    return Reply(
        f"<html><head><title>The Harbour Council</title></head><body><nav><ul>{menu}</ul></nav>"
        f"<main><section><h1>News</h1>{news}</section><section><h2>Evenings</h2>"
        f"<table class='dates'>{dates}</table></section></main>"
        "<footer><a href='/imprint'>Imprint</a></footer></html>".encode(),
        headers=HTML,
    )


def behind_a_login(request: Request) -> Reply:
    """The same page, for who sends the right name and password."""
    right = "Basic " + base64.b64encode(f"mara:{SECRET}".encode()).decode()
    if request.headers.get("authorization") != right:
        return Reply(b"No.", 401, {**HTML, "WWW-Authenticate": 'Basic realm="members"'})
    items = "".join(f"<item><guid>{n}</guid><title>{title}</title></item>" for n, title in enumerate(NEWS))
    body = f'<rss version="2.0"><channel><title>For members</title>{items}</channel></rss>'
    return Reply(body.encode(), headers={"Content-Type": "application/rss+xml"})


@pytest.fixture
def site(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """The council's site, with a part for members."""
    settings.DATA_DIR = tmp_path
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    settings.FETCH_HOST_SPACING_SECONDS = 0.0
    monkeypatch.setattr("feeds.adding.add.Deployment.networks", lambda: ("127.0.0.0/8",))
    terminal_client.cache_clear()
    with WebServer({"/": council(*NEWS), "/members.xml": behind_a_login}) as server:
        for number, title in enumerate((*NEWS, *EVENINGS)):
            server.replies[path_to(title)] = Reply(article(number), headers=HTML)
        yield server
    terminal_client.cache_clear()
    confined.programs.close()


@pytest.fixture
def own_feeds(transactional_db: None) -> Iterator[None]:
    """Take away the feeds and logins that a test makes: the deployment is shared."""
    feeds = set(Feed.with_removed.values_list("pk", flat=True))
    folders = set(Category.objects.values_list("pk", flat=True))
    imports = set(FeedImport.objects.values_list("pk", flat=True))
    yield
    FeedImport.objects.exclude(pk__in=imports).delete()
    Feed.with_removed.exclude(pk__in=feeds).delete()
    Category.objects.exclude(pk__in=folders).delete()
    SiteLogin.objects.filter(url__contains="127.0.0.1").delete()


@pytest.fixture(params=WIDTHS)
def person(
    request: pytest.FixtureRequest, demo: str, browser: Browser, site: WebServer, own_feeds: None
) -> Iterator[Visitor]:
    """Somebody who may add feeds, at a phone and at a desk."""
    with signed_in(demo, browser) as context:
        visitor = Visitor(context.new_page(), demo)
        visitor.page.set_viewport_size({"width": request.param, "height": 844})
        visitor.listen()
        yield visitor


def read_now(site: WebServer) -> Feed:
    """Let the newest feed of the site be visited, as workers do, and no other."""
    others = Feed.objects.exclude(url__startswith=site.origin).filter(selected_at__isnull=False)
    waiting = list(others.values_list("pk", "selected_at"))
    others.update(selected_at=None)
    now = datetime.now(UTC)
    Feed.objects.filter(url__startswith=site.origin).update(selected_at=now, not_before=now)
    work_off()
    for key, moment in waiting:
        Feed.objects.filter(pk=key).update(selected_at=moment)
    return Feed.objects.filter(url__startswith=site.origin).latest("pk")


def titles(feed: Feed) -> set[str]:
    return set(Article.objects.filter(feed=feed).values_list("title", flat=True))


def looks_right(page: Page) -> None:
    """Open all that can be opened; nothing is a barrier, sticks out, or is too small for a thumb."""
    page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")
    assert barriers(page, *COLOURS) == []
    page.emulate_media(color_scheme="light")
    size = page.viewport_size
    assert size is not None
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    if size["width"] < BIG_ENOUGH * 10:
        heights = page.locator("main > :not(.bar) .btn:visible").evaluate_all(
            "(all) => all.map((one) => [one.textContent.trim(), one.getBoundingClientRect().height])"
        )
        assert [each for each in heights if each[1] < BIG_ENOUGH] == []
        page.set_viewport_size({"width": 320, "height": size["height"]})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.set_viewport_size(size)


def test_a_page_without_a_feed_is_followed_in_three_clicks(person: Visitor, site: WebServer) -> None:
    page = person.goto("/add/")
    page.get_by_role("textbox", name="Address of a site or feed").click()
    page.keyboard.type(f"{site.origin}/")
    page.get_by_role("button", name="Find feeds").click()
    found = page.locator("#found")
    expect(found.get_by_role("heading", name="This page has no feed.")).to_be_visible()
    for title in NEWS:
        expect(found.get_by_text(title)).to_be_visible()
    page.get_by_role("button", name="Follow this list").click()
    expect(page.locator("#import")).to_contain_text("0 of 1")
    looks_right(page)
    feed = read_now(site)
    assert (feed.failure, titles(feed)) == ("", set(NEWS))
    person.goto(f"/read/?feed={feed.pk}")
    expect(page.locator(".item")).to_have_count(len(NEWS))
    page.locator(".item .t").first.click()
    expect(page.locator(".art h1")).to_have_text(NEWS[0])
    assert person.complaints == []


def test_another_list_is_chosen_by_keyboard_and_shown(person: Visitor, site: WebServer) -> None:
    page = person.goto(f"/add/?url={site.origin}/")
    previews = page.locator(".tryout")
    expect(previews.filter(has_text=NEWS[0])).to_be_visible()
    expect(previews.filter(has_text=EVENINGS[0])).to_be_hidden()
    page.get_by_text("Not these? Choose another list").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="News")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Evenings")).to_be_checked()
    expect(previews.filter(has_text=EVENINGS[0])).to_be_visible()
    expect(previews.filter(has_text=NEWS[0])).to_be_hidden()
    looks_right(page)
    page.get_by_role("button", name="Follow this list").click()
    expect(page.locator("#import")).to_contain_text("0 of 1")
    assert titles(read_now(site)) == set(EVENINGS)
    assert person.complaints == []


def test_a_list_is_chosen_without_scripts(
    demo: str, browser: Browser, site: WebServer, own_feeds: None
) -> None:
    with signed_in(demo, browser) as signed:
        context = browser.new_context(java_script_enabled=False, storage_state=signed.storage_state())
        page = context.new_page()
        page.goto(f"{demo}/add/")
        page.get_by_role("textbox", name="Address of a site or feed").fill(f"{site.origin}/")
        page.get_by_role("button", name="Find feeds").click()
        page.get_by_text("Not these? Choose another list").click()
        page.get_by_role("radio", name="Evenings").check()
        expect(page.locator(".tryout").filter(has_text=EVENINGS[0])).to_be_visible()
        expect(page.locator(".tryout").filter(has_text=NEWS[0])).to_be_hidden()
        page.get_by_role("button", name="Follow this list").click()
        expect(page.locator("#import")).to_be_visible()
        context.close()
    assert titles(read_now(site)) == set(EVENINGS)


def test_selectors_are_tried_and_followed(person: Visitor, site: WebServer) -> None:
    page = person.goto(f"/add/?url={site.origin}/&kind=page")
    expect(page.get_by_role("heading", name="The lists on this page")).to_be_visible()
    page.get_by_role("link", name="Or say yourself which parts are its articles").click()
    expect(page.get_by_label("Address")).to_have_value(f"{site.origin}/")
    rule = page.get_by_label("An article")
    for wrong, reason in (("table[", "is no CSS selector"), ("dl", "Nothing on the page is chosen")):
        rule.fill(wrong)
        rule.press("Enter")
        expect(page.locator(".note")).to_contain_text(reason)
        looks_right(page)
    rule.fill("table.dates tr")
    page.get_by_role("button", name="Show what it finds").click()
    expect(page.locator(".tryout li")).to_have_text([*EVENINGS])
    looks_right(page)
    page.get_by_role("button", name="Follow this list").click()
    expect(page.locator("#import")).to_contain_text("0 of 1")
    feed = read_now(site)
    assert (feed.rules["entry"], titles(feed)) == ("table.dates tr", set(EVENINGS))
    assert person.complaints == []


def test_a_login_is_given_with_the_address_and_shown_nowhere(person: Visitor, site: WebServer) -> None:
    page = person.goto("/add/")
    page.get_by_role("textbox", name="Address of a site or feed").fill(f"{site.origin}/members.xml")
    page.keyboard.press("Enter")
    expect(page.locator("#found")).to_contain_text("It asks for a password.")
    looks_right(page)
    page.locator("#found").get_by_label("Name", exact=True).fill("mara")
    page.get_by_label("Password, or value").fill(SECRET)
    page.get_by_role("button", name="Follow with this login").click()
    expect(page.locator("#import")).to_contain_text("0 of 1")
    assert SECRET not in page.content()
    feed = read_now(site)
    assert (feed.failure, feed.title, titles(feed)) == ("", "For members", set(NEWS))
    for path in (
        "/logins/",
        f"/feeds/{feed.pk}/",
        "/feeds/",
        f"/add/?url={site.origin}/members.xml",
        "/add/",
    ):
        person.goto(path)
        assert SECRET not in page.content()
    person.goto("/logins/")
    expect(page.get_by_text(f"{site.origin}/members.xml")).to_be_visible()
    looks_right(page)
    page.get_by_role("button", name=f"Forget the login for {site.origin}/members.xml").click()
    expect(page.get_by_text("None yet.")).to_be_visible()
    assert person.complaints == []


def test_a_list_that_moved_is_replaced_by_one_press(person: Visitor, site: WebServer) -> None:
    assert add_feed(f"{site.origin}/", kind="page", rules={"entry": "ul.news > li"}).feed is not None
    assert titles(read_now(site)) == set(NEWS)
    site.replies["/"] = council("A ramp for the pier", *NEWS, moved=True)
    feed = read_now(site)
    assert feed.failure == "list-missing"
    page = person.goto(f"/feeds/{feed.pk}/")
    callout = page.get_by_role("region", name="Failure")
    expect(callout).to_contain_text("The list of articles is not on the page any more.")
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")
    assert barriers(page, *COLOURS) == []
    if (page.viewport_size or {}).get("width") == WIDTHS[0]:
        box = callout.get_by_role("button").bounding_box()
        assert box is not None and box["height"] >= BIG_ENOUGH
    callout.get_by_role("button", name="Use the list that was found").click()
    expect(page.get_by_role("region", name="Failure")).to_have_count(0)
    feed = read_now(site)
    assert (feed.failure, titles(feed)) == ("", {*NEWS, "A ramp for the pier"})
    person.goto(f"/feeds/{feed.pk}/")
    expect(page.get_by_role("link", name="A ramp for the pier")).to_be_visible()
    assert person.complaints == []


def test_an_address_for_newsletters_is_made_and_an_issue_is_read(
    person: Visitor, site: WebServer, settings: Any
) -> None:
    settings.INBOUND_MAIL_DOMAIN = "in.example.org"
    page = person.goto("/newsletters/")
    page.get_by_label("What it is for").fill("Harbour letters")
    page.get_by_role("button", name="Make an address").click()
    expect(page.locator("#main").get_by_text("The address is made")).to_be_visible()
    key = MailAddress.objects.latest("pk").key
    expect(page.get_by_role("textbox", name="Harbour letters")).to_have_value(f"{key}@in.example.org")
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")
    assert barriers(page, *COLOURS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= (page.viewport_size or {})["width"]
    issue = (
        b"From: Harbour letters <news@harbour.example>\r\nList-Id: <weekly.harbour.example>\r\n"
        b"Subject: Nineteen lamps\r\nMessage-ID: <1@harbour.example>\r\nContent-Type: text/html\r\n\r\n"
        b"<p>All nineteen of them were lit.</p>"
    )
    answer = page.request.post(
        f"{person.address}/inbound/{key}/", data=issue, headers={"Content-Type": "message/rfc822"}
    )
    assert answer.status == 202
    person.goto("/newsletters/")
    page.get_by_role("link", name="Harbour letters").click()
    expect(page.get_by_role("link", name="Nineteen lamps")).to_be_visible()
    Feed.objects.filter(kind="mail").delete()
    MailAddress.objects.all().delete()
    Newsletter.objects.all().delete()


def test_a_feed_that_died_is_replaced_by_its_new_address(person: Visitor, site: WebServer) -> None:
    body = f"<rss version='2.0'><channel><title>Old lamps</title><link>{site.origin}/home</link>"
    body += "<item><guid>1</guid><title>One lamp</title></item></channel></rss>"
    feed_type = {"Content-Type": "application/rss+xml"}
    site.replies["/old.xml"] = Reply(body.encode(), headers=feed_type)
    added = add_feed(f"{site.origin}/old.xml")
    assert added.feed is not None
    read_now(site)
    site.replies["/old.xml"] = Reply(b"", 404)
    site.replies["/new.xml"] = Reply(body.encode(), headers=feed_type)
    link = '<link rel="alternate" type="application/rss+xml" href="/new.xml">'
    site.replies["/home"] = Reply(f"<html><head>{link}</head><body>x".encode(), headers=HTML)
    Feed.objects.filter(pk=added.feed.pk).update(
        failing_since=datetime.now(UTC) - timedelta(days=8), failure_streak=3
    )
    read_now(site)
    page = person.goto(f"/feeds/{added.feed.pk}/")
    callout = page.get_by_role("region", name="Failure")
    expect(callout).to_contain_text("It has a new address")
    assert barriers(page) == []
    callout.get_by_role("button", name="Use the new address").click()
    expect(page.locator("#main").get_by_text("It is read from its new address now.")).to_be_visible()
    feed = read_now(site)
    assert (feed.failure, feed.url) == ("", f"{site.origin}/new.xml")
