"""The browser extension in Chromium: settings, saving, what goes wrong, a part picked on a page.

Playwright presses neither the button of the toolbar, nor menus, nor the browser's question for a right.
So the popup is opened as a page (?tab=ID), the menus' event is dispatched, and the right to reach 127.0.0.1
is put into the manifest. All else is as it is built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import lxml.html
import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import BrowserContext, Locator, Page, Playwright, Worker, expect

from articles.saved.models import SavedPage
from crawler.fetching.sandboxed import client as confined
from crawler.terminals.client import terminal_client
from crawler.web.models import ApiToken
from tests.browser.conftest import CHROMIUM, wait_until
from tests.servers import Reply, WebServer
from tests.test_extension import load_build

HTML = {"Content-Type": "text/html; charset=utf-8"}
BOATS = (
    "<!doctype html><html lang=en><head><title>Boats &amp; oars</title></head><body><h1>Boats</h1>"
    "<table><tr><td>Canoe</td><td class=cost>240 €</td></tr></table>"
    "<p id=stock>In stock</p><p id=p-7381>Come and see them</p><a href=/more>More boats</a></body></html>"
)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built extension, with the right to reach this machine."""
    folder = tmp_path_factory.mktemp("extension")
    load_build().build(folder, "1.2.3")
    path = folder / "webextension" / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"host_permissions": ["http://127.0.0.1/*"]}))
    return path.parent


@dataclass
class Extension:
    """The extension in the browser of somebody who is signed in at `address`, with a page of a shop open."""

    context: BrowserContext
    worker: Worker
    address: str
    tab: Page

    def open(self, page: str) -> Page:
        """Open a page of the extension itself."""
        opened = self.context.new_page()
        opened.goto(f"{self.worker.url.rsplit('/', 1)[0]}/{page}")
        return opened

    def tab_id(self) -> int:
        """Return the browser's number of the shop's tab."""
        number = self.worker.evaluate("async (url) => (await chrome.tabs.query({ url }))[0].id", self.tab.url)
        return int(number)

    def popup(self) -> Page:
        """Open the popup about the shop's tab."""
        return self.open(f"popup.html?tab={self.tab_id()}")

    def set_up(self, token: str, address: str = "") -> Page:
        """Fill in the settings, and try them."""
        page = self.open("options.html")
        page.get_by_label("Address of your Freshet").fill(address or self.address)
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Save and try it").click()
        return page


@pytest.fixture
def shop(settings: Any, tmp_path: Path) -> Iterator[WebServer]:
    settings.DATA_DIR = tmp_path
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    settings.FETCH_HOST_SPACING_SECONDS = 0.0
    terminal_client.cache_clear()
    with WebServer({"/boats": Reply(BOATS.encode(), headers=HTML)}) as server:
        yield server
    terminal_client.cache_clear()
    confined.programs.close()


@pytest.fixture
def token(transactional_db: None) -> Iterator[str]:
    """A token that may save pages."""
    yield ApiToken.make(User.objects.get(username="keeper"), "extension", scope="manage")[1]
    ApiToken.objects.filter(name="extension").delete()


@pytest.fixture
def extension(
    demo: str, token: str, playwright: Playwright, unpacked: Path, shop: WebServer
) -> Iterator[Extension]:
    context = playwright.chromium.launch_persistent_context(
        "",  # a new profile, which is removed at the end
        executable_path=CHROMIUM,
        headless=False,  # Playwright's own headless mode knows no extensions
        args=[
            "--headless=new", "--no-sandbox", "--lang=en",
            f"--disable-extensions-except={unpacked}", f"--load-extension={unpacked}",
        ],
        locale="en-GB",
        reduced_motion="reduce",
    )  # fmt: skip
    try:
        worker = (
            context.service_workers[0] if context.service_workers else context.wait_for_event("serviceworker")
        )
        client = Client()
        client.force_login(User.objects.get(username="keeper"))
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": demo}])
        tab = context.new_page()
        tab.goto(f"{shop.origin}/boats")
        yield Extension(context, worker, demo, tab)
    finally:
        context.close()
        SavedPage.objects.filter(article__url__startswith=shop.origin).delete()


def status_of(page: Page, sentence: str) -> None:
    expect(page.get_by_role("status")).to_have_text(sentence)


def saved_pages(extension: Extension, token: str) -> list[dict[str, object]]:
    """Return what the API says of the saved pages of the shop."""
    response = extension.context.request.get(
        f"{extension.address}/api/saved/", headers={"Authorization": f"Token {token}"}
    )
    assert response.ok
    host = urlsplit(extension.tab.url).netloc
    return [row for row in response.json()["results"] if urlsplit(row["url"]).netloc == host]


def test_a_page_is_saved_with_tags_and_note(extension: Extension, token: str) -> None:
    options = extension.set_up(token, f"{extension.address}/")
    status_of(options, "It works: pages can be saved.")
    expect(options.get_by_label("Address of your Freshet")).to_have_value(extension.address)
    assert saved_pages(extension, token) == []

    popup = extension.popup()
    popup.get_by_label("Tags").fill("boats, to buy ,")
    popup.get_by_label("Note").fill("for the summer")
    popup.keyboard.press("Tab")
    expect(popup.get_by_role("button", name="Save this page")).to_be_focused()
    popup.keyboard.press("Enter")
    status_of(popup, "The page is saved.")
    (row,) = saved_pages(extension, token)
    assert (row["url"], row["title"], row["tags"], row["note"]) == (
        extension.tab.url, "Boats & oars", ["boats", "to buy"], "for the summer",
    )  # fmt: skip

    popup.get_by_role("button", name="Save this page").click()
    status_of(popup, "The page was saved before; tags and note are added.")


def test_what_goes_wrong_is_said_in_a_sentence(extension: Extension, token: str, shop: WebServer) -> None:
    popup = extension.popup()
    status_of(popup, "Give the address of your Freshet and a token in the settings first.")
    popup.get_by_role("button", name="Follow this site").click()
    status_of(popup, "Give the address of your Freshet and a token in the settings first.")

    options = extension.set_up("wrong")
    refused = "Your server refused the token; make a new one under Settings, Apps and keys."
    status_of(options, refused)
    popup.get_by_role("button", name="Save this page").click()
    status_of(popup, refused)

    reading = ApiToken.make(User.objects.get(username="keeper"), "extension", scope="read")[1]
    status_of(extension.set_up(reading), "This token may only read; make one that may read and change.")
    status_of(extension.set_up(token, "ftp://127.0.0.1"), "This is not the address of a server.")
    status_of(extension.set_up(token, shop.origin), "There is no Freshet at this address, or an old one.")
    shop.replies["/api/saved/"] = Reply(status=301, headers={"Location": "/elsewhere"})
    sentence = "Your server redirects; write its address as the browser shows it, with https if it has that."
    status_of(extension.set_up(token, shop.origin), sentence)
    unreachable = "Your server cannot be reached; check the address and the network."
    status_of(extension.set_up(token, "http://127.0.0.1:9"), unreachable)

    shop.replies["/api/saved/"] = Reply(b'{"url": ["no page"]}', 400, {"Content-Type": "application/json"})
    status_of(extension.set_up(token, shop.origin), "It works: pages can be saved.")
    popup.get_by_role("button", name="Save this page").click()
    status_of(popup, "Your server refused the address of this page.")
    assert saved_pages(extension, token) == []


def test_a_site_is_followed(extension: Extension, token: str) -> None:
    status_of(extension.set_up(token), "It works: pages can be saved.")
    popup = extension.popup()
    with extension.context.expect_page() as opening:
        popup.get_by_role("button", name="Follow this site").click()
    expect(opening.value).to_have_url(re.compile(r"/add/\?url="))
    assert parse_qs(urlsplit(opening.value.url).query) == {"url": [extension.tab.url]}
    status_of(extension.open("popup.html"), "This tab shows no page of the web.")


def begin_to_pick(extension: Extension, token: str) -> Page:
    status_of(extension.set_up(token), "It works: pages can be saved.")
    extension.popup().get_by_role("button", name="Watch this part").click()
    expect(picker(extension.tab)).to_have_count(1)
    return extension.tab


def picker(page: Page) -> Locator:
    return page.locator("html > div")


@pytest.mark.parametrize(("pressed", "part", "words"), [
    (".cost", "css:.cost", "240 €"), ("#stock", "css:#stock", "In stock"),
    ("#p-7381", "css:#p-7381", "Come and see them"),
    ("td:first-child", "css:table tr td:nth-of-type(1)", "Canoe"), ("a", "css:a", "More boats"),
])  # fmt: skip
def test_a_part_is_picked_and_its_form_opens(
    extension: Extension, token: str, pressed: str, part: str, words: str
) -> None:
    page = begin_to_pick(extension, token)
    with extension.context.expect_page() as opening:
        page.locator(pressed).click()
    form = opening.value
    expect(form).to_have_url(re.compile(r"/sites/new/\?url="))
    assert parse_qs(urlsplit(form.url).query) == {"url": [page.url], "part": [part]}
    chosen = form.locator("input[name=part]:checked").evaluate_all("all => all.map((field) => field.value)")
    assert [part] == (chosen or [form.get_by_label("Only these parts").input_value()])
    (element,) = lxml.html.fromstring(BOATS).cssselect(part.removeprefix("css:"))
    assert "".join(map(str, element.itertext())) == words
    expect(picker(page)).to_have_count(0)
    assert page.url.endswith("/boats")


def test_a_part_is_picked_by_keyboard_and_escape_cancels(extension: Extension, token: str) -> None:
    page = begin_to_pick(extension, token)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(picker(page)).to_have_count(0)
    pages = len(extension.context.pages)
    page.locator("#stock").click()
    assert len(extension.context.pages) == pages

    page = begin_to_pick(extension, token)
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    with extension.context.expect_page() as opening:
        page.keyboard.press("Enter")
    expect(opening.value).to_have_url(re.compile(r"part=css%3A%23stock"))


def test_a_menu_saves_a_link_and_quotes_a_selection(extension: Extension, token: str) -> None:
    choose = """async ([info, url]) => {
        const [tab] = await chrome.tabs.query({ url });
        chrome.contextMenus.onClicked.dispatch({ pageUrl: url, ...info }, tab);
        return tab.id;
    }"""
    badge = "(tabId) => chrome.action.getBadgeText({ tabId })"
    refused = "Your server refused the token; make a new one under Settings, Apps and keys."
    status_of(extension.set_up("wrong"), refused)
    info = {"menuItemId": "page", "selectionText": " In stock, for $1 "}
    number = extension.worker.evaluate(choose, [info, extension.tab.url])
    wait_until(lambda: extension.worker.evaluate(badge, number) == "!")
    status_of(extension.popup(), refused)

    status_of(extension.set_up(token), "It works: pages can be saved.")
    link = {"menuItemId": "link", "linkUrl": f"{extension.tab.url}/more"}
    for content in (info, link):
        extension.worker.evaluate(choose, [content, extension.tab.url])
    wait_until(lambda: len(saved_pages(extension, token)) == 2)
    rows = saved_pages(extension, token)
    assert {(row["url"], row["title"], row["note"]) for row in rows} == {
        (extension.tab.url, "Boats & oars", "“In stock, for $1”"), (link["linkUrl"], "", ""),
    }  # fmt: skip
    wait_until(lambda: extension.worker.evaluate(badge, number) == "✓")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_and_used_by_everybody(extension: Extension, scheme: Any) -> None:
    for name in ("options.html", "popup.html"):
        page = extension.open(name)
        page.emulate_media(color_scheme=scheme)
        expect(page.get_by_role("button").first).not_to_be_empty()
        assert Axe().run(page).response["violations"] == []
