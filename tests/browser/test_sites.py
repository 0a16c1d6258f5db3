"""Watched sites in a browser: the inbox by keyboard and on a phone, a part picked by clicking, conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from crawler.fetching.browser.look import missing
from crawler.fetching.sandboxed import client as confined
from crawler.notices.models import Rule, Target
from crawler.terminals.client import terminal_client
from recrawl.inline import work_off
from recrawl.models import Change, SeenChanges, Site
from recrawl.visiting.visits import visit_now
from tests.browser.conftest import Visitor
from tests.servers import Reply, WebServer

HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture
def unseen(keeper: Visitor) -> Iterator[Visitor]:
    """A visitor who has seen no change yet, afterwards as before."""
    user = User.objects.get(username="keeper")
    SeenChanges.objects.update_or_create(user=user, defaults={"up_to": 0, "unseen": [], "seen": []})
    yield keeper
    SeenChanges.objects.filter(user=user).delete()


@pytest.fixture
def shop(settings: Any, tmp_path: Path) -> Iterator[WebServer]:
    settings.DATA_DIR = tmp_path
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    settings.FETCH_HOST_SPACING_SECONDS = 0.0
    terminal_client.cache_clear()
    with WebServer() as server:
        yield server
    terminal_client.cache_clear()
    confined.programs.close()
    Site.objects.filter(url__startswith=server.origin).delete()


def offer(price: int) -> Reply:
    body = (
        "<!doctype html><html><head><title>Boats</title><script>document.title = 'run'</script></head><body>"
        f"<h1>Boats</h1><table><tr><td>Canoe</td><td class=cost>{price} €</td></tr>"
        "<tr><td>Kayak</td><td class=cost>900 €</td></tr></table><p>Come and see them</p>"
        "<a href='https://elsewhere.example/' target=_top>Leave</a>"
        "<form action=/x><button>Send</button></form>"
    )
    return Reply(body.encode(), headers=HTML)


def watched(server: WebServer) -> Site:
    site = Site.objects.get(url__startswith=server.origin)
    work_off([site])
    return site


def look_again(site: Site) -> None:
    assert visit_now(site, datetime.now(UTC))
    work_off([site])


def count(page: Page) -> int:
    return int(page.locator("#count-unseen").inner_text())


def test_the_inbox_is_read_by_keyboard(unseen: Visitor) -> None:
    page = unseen.goto("/sites/")
    counter, before = page.locator("#count-unseen"), count(page)
    assert before == Change.objects.counting().count() > 2
    page.keyboard.press("j")
    expect(page.locator(".changepane h1")).to_be_visible()
    expect(counter).not_to_have_text(str(before))
    after_first = count(page)
    first = page.locator(".item[aria-current] .t").get_attribute("href") or ""
    page.keyboard.press("j")
    expect(page.locator(".item[aria-current] .t")).not_to_have_attribute("href", first)
    expect(counter).not_to_have_text(str(after_first))
    assert 0 <= count(page) < after_first < before
    page.keyboard.press("m")
    expect(counter).to_have_text(str(after_first))
    page.keyboard.press("Shift+A")
    expect(counter).to_have_text("0")
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(counter).to_have_text(str(after_first))
    assert unseen.complaints == []


def test_the_inbox_is_read_on_a_phone(unseen: Visitor) -> None:
    page = unseen.page
    page.set_viewport_size({"width": 360, "height": 740})
    unseen.goto("/sites/")
    page.locator(".item .t").first.click()
    expect(page.locator(".changepane h1")).to_be_visible()
    expect(page.locator(".list")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="One text").click()
    expect(page.locator(".diff.one")).to_be_visible()
    page.get_by_role("link", name="Back to the list").click()
    expect(page.locator(".list")).to_be_visible()
    assert unseen.complaints == []


def test_a_part_is_picked_by_clicking_and_its_change_is_told(keeper: Visitor, shop: WebServer) -> None:
    shop.replies["/"] = offer(300)
    page = keeper.goto("/sites/add/")
    page.get_by_role("link", name="Choose it by clicking").click()
    page.get_by_label("Address of a page").fill(f"{shop.origin}/")
    page.get_by_role("button", name="Show").click()
    frame = page.frame_locator("#copy")
    expect(frame.locator("h1")).to_have_text("Boats")
    frame.get_by_text("Send").click()
    frame.get_by_text("Leave").click()
    expect(page).to_have_url(re.compile("/sites/pick/"))
    frame.get_by_text("300").click()
    expect(page.locator("#text")).to_have_text("300 €")
    part = page.get_by_label("The part").input_value()
    assert part.startswith("css:")
    page.get_by_role("button", name="All that are like it: 2").click()
    assert page.get_by_label("The part").input_value() == "css:td.cost"
    page.get_by_label("The part").fill(part)
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Watch this part").click()
    expect(page.get_by_label("Only these parts")).to_have_value(part)
    page.get_by_role("button", name="Watch it").click()
    expect(page).to_have_url(re.compile(r"/sites/\d+/"))
    site = watched(shop)
    assert site.parts == [part]
    shop.replies["/"] = offer(280)
    look_again(site)
    keeper.goto(f"/sites/?site={site.pk}")
    page.locator(".item .t").click()
    expect(page.locator(".changepane .lead2")).to_contain_text("“300 €” became “280 €”")
    assert keeper.complaints == []


def test_a_part_is_picked_by_keyboard(keeper: Visitor, shop: WebServer) -> None:
    shop.replies["/"] = offer(300)
    page = keeper.goto(f"/sites/pick/?url={shop.origin}/")
    frame = page.frame_locator("#copy")
    expect(frame.locator("h1")).to_have_text("Boats")
    frame.locator("body").evaluate("() => window.focus()")
    frame.locator("body").press("ArrowDown")
    frame.locator("body").press("ArrowRight")
    frame.locator("body").press("Enter")
    expect(page.get_by_label("The part")).to_have_value("css:table")
    expect(page.locator("#text")).to_contain_text("Kayak")


def test_a_condition_and_a_notification(keeper: Visitor, shop: WebServer) -> None:
    owner = User.objects.get(username="keeper")
    target = Target(user=owner, kind="mail", name="My letter box")
    target.address = "keeper@news.example"
    target.save()
    shop.replies["/"] = offer(300)
    page = keeper.goto(f"/sites/add/?url={shop.origin}/&part=css:td.cost")
    page.get_by_label("Only if the price or first number").select_option("below")
    page.get_by_label("Number", exact=True).fill("250")
    page.get_by_role("button", name="Watch it").click()
    expect(page).to_have_url(re.compile(r"/sites/\d+/"))
    site = watched(shop)
    page.reload()
    page.get_by_role("link", name="You are told: Any change. Change it").click()
    expect(page.get_by_label("My letter box")).to_be_checked()
    page.get_by_role("button", name="Save", exact=True).click()
    try:
        assert Rule.objects.get(user=owner).page == site.pages.get()
        shop.replies["/"] = offer(280)
        look_again(site)
        assert [change.kind for change in site.changes.all()] == ["unmet"]
        shop.replies["/"] = offer(240)
        look_again(site)
        assert sorted(change.kind for change in site.changes.all()) == ["edited", "unmet"]
        keeper.goto(f"/sites/?site={site.pk}")
        expect(page.locator(".item")).to_have_count(1)
    finally:
        Rule.objects.filter(user=owner).delete()
        target.delete()


@pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")
def test_a_page_of_a_script_and_its_look(keeper: Visitor, shop: WebServer) -> None:
    def app(price: int) -> Reply:
        script = f"document.body.innerHTML = '<h1>Boats</h1><p>Canoe {price}</p>'"
        body = f"<!doctype html><title>Boats</title><body><script>{script}</script>"
        return Reply(body.encode(), headers=HTML)

    shop.replies["/"] = app(300)
    page = keeper.goto(f"/sites/add/?url={shop.origin}/&part=css:p")
    page.get_by_label("Open it in a browser").check()
    page.get_by_label("Also if the picture looks different, in percent").fill("0.001")
    page.get_by_role("button", name="Watch it").click()
    expect(page).to_have_url(re.compile(r"/sites/\d+/"))
    site = watched(shop)
    shop.replies["/"] = app(280)
    look_again(site)
    keeper.goto(f"/sites/?site={site.pk}")
    page.locator(".item .t").click()
    expect(page.locator(".looks figure")).to_have_count(2)
    expect(page.locator(".looks rect").first).to_be_visible()
    assert Axe().run(page).response["violations"] == []
    assert keeper.complaints == []
