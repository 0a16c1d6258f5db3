"""A watched page in a browser: its value and history, and a price watched until it is below a bound."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from crawler.fetching.browser.look import missing
from crawler.fetching.sandboxed import client as confined
from crawler.notices.models import Rule, Target
from crawler.notices.watching import look
from crawler.terminals.client import terminal_client
from recrawl.inline import work_off
from recrawl.models import Site, Version, WatchedPage
from recrawl.visiting.mapping import add_pages
from recrawl.visiting.visits import visit_now
from tests.browser.conftest import Visitor
from tests.servers import Reply, WebServer


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


def lamp(price: int, days: int = 3) -> Reply:
    body = (
        "<!doctype html><html><head><title>Bergen desk lamp</title></head><body><header>Lamp shop</header>"
        "<main><h1>Bergen desk lamp</h1><p>Oak and brass, with a cord of linen</p>"
        f"<p><b class=price>{price} €</b> <s>{price + 10} €</s></p>"
        f"<p id=stock>In stock, delivered in {days} days</p>"
        "<p>The lamp stands 46 cm high. Its arm turns all the way round, and its bulb can be replaced.</p>"
        "<ul><li><a href=/a>Bulb</a></li><li><a href=/b>Cord</a></li><li><a href=/c>Shade</a></li></ul>"
        "</main></body></html>"
    )
    return Reply(body.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def look_again(site: Site) -> None:
    assert visit_now(site, datetime.now(UTC))
    work_off([site])


@pytest.fixture
def page_with_history(shop: WebServer, keeper: Visitor) -> WatchedPage:
    """A page with six versions: 269, 259, 249, 259, 249 and now 239 €."""
    shop.replies["/bergen"] = lamp(269, 5)
    site = add_pages([f"{shop.origin}/bergen"], parts=["css:.price", "css:#stock"], budget=1.0, every=0.25)
    work_off([site])
    for price in (259, 249, 259, 249, 239):
        shop.replies["/bergen"] = lamp(price, 5 if price > 239 else 3)
        look_again(site)
    row, now = site.pages.get(), datetime.now(UTC)
    days = [113, 88, 77, 59, 19, 0]
    WatchedPage.objects.filter(pk=row.pk).update(first_seen=now - timedelta(days=days[0]))
    for version, since, until in zip(row.versions.order_by("id"), days, days[1:], strict=False):
        Version.objects.filter(pk=version.pk).update(
            since=now - timedelta(days=since), until=now - timedelta(days=until)
        )
    Site.objects.filter(pk=site.pk).update(created=now - timedelta(days=days[0]))
    row.refresh_from_db()
    return row


def is_narrow(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_a_watched_page_says_its_value_and_what_became_of_it(
    keeper: Visitor, page_with_history: WatchedPage
) -> None:
    page = keeper.goto(f"/sites/{page_with_history.site_id}/")
    expect(page).to_have_url(re.compile(rf"/sites/\d+/pages/{page_with_history.pk}/"))
    expect(page.locator(".nowis .val")).to_have_text("239\u00a0€")
    expect(page.locator(".nowis .what")).to_contain_text("down 10\u00a0€ this")
    expect(page.locator(".nowis .what")).to_contain_text("the lowest since you began. In stock.")
    expect(page.locator("svg.series .pt")).to_have_count(6)
    expect(page.locator(".ribbon li")).to_have_count(6)
    expect(page.locator("table.diff ins").first).to_have_text("239 €")
    page.get_by_role("link", name="Older").click()
    expect(page.locator(".ribbon [aria-current]")).to_contain_text("249")
    expect(page.get_by_role("link", name="Newer")).to_be_visible()
    outside = page.locator("main").inner_text().lower()
    for word in ("update rate", "mapped", "of its pages at most"):
        assert word not in outside
    for summary in page.locator("main details.more > summary").all():
        if summary.is_visible():
            summary.click()
    assert Axe().run(page).response["violations"] == []
    for width in (390, 1920):
        page.set_viewport_size({"width": width, "height": 844})
        assert is_narrow(page)
    assert len(page.content()) < 60_000
    assert keeper.complaints == []


def test_a_price_is_watched_and_told_below_a_bound(keeper: Visitor, shop: WebServer) -> None:
    owner = User.objects.get(username="keeper")
    target = Target(user=owner, kind="mail", name="My letter box")
    target.address = "keeper@news.example"
    target.save()
    shop.replies["/bergen"] = lamp(239)
    page = keeper.goto(f"/sites/new/?url={shop.origin}/bergen")
    expect(page.locator("ol.steps > li")).to_have_count(4)
    expect(page.get_by_role("checkbox", name="Price")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Availability")).to_be_checked()
    expect(page.locator("#compared")).to_contain_text("239 €")
    expect(page.get_by_role("radio", name="When it is below")).to_be_checked()
    page.get_by_label("Number that it is to be below").fill("230")
    assert Axe().run(page).response["violations"] == []
    for width in (390, 1920, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert is_narrow(page)
    page.get_by_role("button", name="Watch it").click()
    expect(page).to_have_url(re.compile(r"/sites/\d+/pages/\d+/"))
    site = Site.objects.get(url__startswith=shop.origin)
    try:
        assert site.parts == ["css:.price", "css:#stock"]
        work_off([site])
        page.reload()
        expect(page.locator(".nowis .val")).to_have_text("239\u00a0€")
        button = page.get_by_role("link", name="You are told: Below 230\u00a0€. Change it")
        expect(button).to_be_visible()
        rule = Rule.objects.get(user=owner)
        counts = []
        for price in (235, 229, 225):
            shop.replies["/bergen"] = lamp(price)
            look_again(site)
            rule.refresh_from_db()
            counts.append(look(rule, datetime.now(UTC)))
        assert counts == [0, 1, 0]
        button.click()
        expect(page.get_by_label("Number that the value is compared with")).to_have_value("230")
        assert keeper.complaints == []
    finally:
        Rule.objects.filter(user=owner).delete()
        target.delete()


@pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")
def test_the_part_of_a_page_of_a_script_is_picked_on_a_picture(keeper: Visitor, shop: WebServer) -> None:
    shop.replies["/bergen"] = Reply(
        b"<!doctype html><title>Lamp</title><body><script>document.body.innerHTML = '<main><h1>Lamp</h1>"
        b"<p><b class=price>$239</b></p><p id=stock>In stock</p></main>'</script>",
        headers={"Content-Type": "text/html; charset=utf-8"},
    )
    page = keeper.goto(f"/sites/new/?url={shop.origin}/bergen")
    areas = page.locator("svg.shotpick a")
    expect(areas).to_have_count(2)
    expect(page.locator("svg.shotpick a[aria-current]")).to_have_count(2)
    page.get_by_role("link", name="Availability: In stock").click()
    expect(page.locator("svg.shotpick a[aria-current]")).to_have_count(1)
    expect(page.get_by_role("checkbox", name="Availability")).not_to_be_checked()
    assert Axe().run(page).response["violations"] == []
    assert len(page.content()) < 60_000
    page.get_by_role("button", name="Watch it").click()
    expect(page).to_have_url(re.compile(r"/sites/\d+/pages/\d+/"))
    site = Site.objects.get(url__startswith=shop.origin)
    assert (site.parts, site.browser) == (["css:.price"], True)
    assert keeper.complaints == []
