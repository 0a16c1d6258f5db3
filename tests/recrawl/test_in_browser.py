"""Pages that need JavaScript: read in a browser, with steps, screenshots and their differences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from crawler.fetching.browser.look import missing
from recrawl.inline import work_off
from recrawl.models import Change, Check, Site
from recrawl.visiting.mapping import add_pages
from tests.factories import make_user
from tests.html import flat
from tests.recrawl.sites import visit
from tests.servers import Reply, WebServer

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser"),
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "tried_again_soon"),
]


@pytest.fixture
def shop() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


def page(text: str, style: str = "") -> Reply:
    """A page whose text a script writes, some of it after a click."""
    body = (
        "<!doctype html><title>Shop</title><body style='STYLE'><div id=a></div><button id=more>More</button>"
        "<script>const a = document.getElementById('a'); a.textContent = 'TEXT';"
        "document.getElementById('more').onclick = () => { a.textContent += ' and more'; }</script>"
    )
    body = body.replace("STYLE", style).replace("TEXT", text)
    return Reply(body.encode(), headers={"Content-Type": "text/html"})


def watch_in_browser(shop: WebServer, **options: Any) -> Site:
    site = add_pages([f"{shop.origin}/"], budget=1.0, browser=True, **options)
    work_off([site])
    site.refresh_from_db()
    return site


def test_the_text_of_a_script_is_watched_after_its_steps(shop: WebServer, client: Client) -> None:
    shop.replies["/"] = page("Canoe 300")
    site = watch_in_browser(shop, steps=[{"do": "click", "at": "#more"}], parts=["css:#a"])
    assert site.state == Site.State.WATCHED, site.trouble
    shop.replies["/"] = page("Canoe 280")
    assert visit(site).changed == 1
    change = Change.objects.get()
    assert change.summary == "Canoe 280 and more"
    assert change.visual is not None and change.areas
    client.force_login(make_user())
    shown = flat(client.get(f"/sites/changes/{change.pk}/").content)
    assert re.search(r"<svg\s+viewBox", shown) and "<rect" in shown
    for path in (f"picture/{change.before_id}/", "picture/"):
        answer = client.get(f"/sites/{site.pk}/pages/{change.page_id}/{path}")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/webp")
    assert (
        client.get(f"/sites/{site.pk}/pages/{change.page_id}/picture/{change.before_id}9/").status_code == 404
    )


def test_a_page_that_only_looks_different_is_told_where_asked(shop: WebServer) -> None:
    shop.replies["/"] = page("Canoe 300")
    site = watch_in_browser(shop, visual_percent=5)
    shop.replies["/"] = page("Canoe 300", "background: teal")
    assert visit(site).changed == 1
    assert "looks different" in Change.objects.get().summary
    Site.objects.update(visual_ignored=["0,0,1280,10000"])
    shop.replies["/"] = page("Canoe 300", "background: orange")
    assert visit(site).changed == 0


def test_a_step_that_cannot_be_done_is_a_named_failure(shop: WebServer) -> None:
    shop.replies["/"] = page("Canoe 300")
    site = watch_in_browser(shop, steps=[{"do": "click", "at": "#gone"}])
    assert (site.state, Check.objects.get().failure) == (Site.State.WATCHED, "step")


def test_a_page_that_is_gone_is_gone_in_the_browser_too(shop: WebServer) -> None:
    shop.replies["/"] = page("Canoe 300")
    site = watch_in_browser(shop)
    shop.replies["/"] = Reply(b"<p>Nothing here</p>", status=404, headers={"Content-Type": "text/html"})
    visit(site)
    assert Change.objects.get().kind == "gone"
