"""Feeds are added, followed, mended, managed and found, by mouse and keyboard."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from articles.models import PersonalFeed
from crawler.fetching.sandboxed import client as confined
from crawler.fetching.sandboxed.client import FetchLimits
from crawler.fetching.sandboxed.programs import Fetched
from crawler.inline import work_off
from crawler.terminals.client import terminal_client
from feeds.adding import imports
from feeds.categories import category_at
from feeds.models import Category, Feed, FeedImport
from feeds.websub.models import HubSubscription
from tests.browser.conftest import Visitor, signed_in
from tests.browser.test_pages import PRIVATE_WORDS, barriers
from tests.factories import make_feed, make_user
from tests.servers import Reply, WebServer

HTML = {"Content-Type": "text/html; charset=utf-8"}


def rss(title: str, text: str = "A sentence of the news. " * 90) -> Reply:
    items = "".join(
        f"<item><title>{title} number {number}</title><link>https://news.example/{title}/{number}</link>"
        f"<description>{text}</description></item>"
        for number in range(3)
    )
    body = f'<rss version="2.0"><channel><title>{title}</title>{items}</channel></rss>'
    return Reply(body.encode(), headers={"Content-Type": "application/rss+xml"})


def page_with(*links: str) -> Reply:
    head = "".join(f'<link rel="alternate" type="application/rss+xml" href="{link}">' for link in links)
    return Reply(f"<html><head><title>The news</title>{head}</head><p>Hello".encode(), headers=HTML)


@pytest.fixture
def site(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """A site with three feeds, of which one is another format of the first."""
    settings.DATA_DIR = tmp_path
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    settings.FETCH_HOST_SPACING_SECONDS = 0.0
    monkeypatch.setattr("feeds.adding.add.Deployment.networks", lambda: ("127.0.0.0/8",))
    terminal_client.cache_clear()
    with WebServer({"/": page_with("/main.xml", "/main.atom", "/other.xml")}) as server:
        server.replies |= {"/main.xml": rss("Main"), "/main.atom": rss("Main"), "/other.xml": rss("Other")}
        yield server
    terminal_client.cache_clear()
    confined.programs.close()


@pytest.fixture
def own_feeds(transactional_db: None) -> Iterator[None]:
    """Take away the feeds and folders that a test makes: the deployment is shared."""
    feeds = set(Feed.with_removed.values_list("pk", flat=True))
    folders = set(Category.objects.values_list("pk", flat=True))
    yield
    Feed.with_removed.exclude(pk__in=feeds).delete()
    Category.objects.exclude(pk__in=folders).delete()


def read_now() -> None:
    """Let the feeds that wait be visited, as workers do."""
    others = Feed.objects.exclude(url__contains="127.0.0.1").filter(selected_at__isnull=False)
    waiting = list(others.values_list("pk", "selected_at"))
    others.update(selected_at=None)
    work_off()
    for key, moment in waiting:
        Feed.objects.filter(pk=key).update(selected_at=moment)


def test_four_clicks_lead_from_an_empty_deployment_to_an_article(
    demo: str, browser: Browser, site: WebServer, own_feeds: None, tmp_path: Path
) -> None:
    newcomer = make_user("newcomer", staff=True)
    Feed.objects.update(removed=datetime.now(UTC))
    try:
        with signed_in(demo, browser, newcomer.username) as context:
            _read_a_first_article(Visitor(context.new_page(), demo), site, tmp_path)
    finally:
        Feed.with_removed.exclude(url__contains="127.0.0.1").update(removed=None)
        newcomer.delete()
    assert len(list(tmp_path.glob("*.png"))) == 4


def _read_a_first_article(visitor: Visitor, site: WebServer, shots: Path) -> None:
    """Click four times, with a screenshot of each page (pytest keeps those of the last runs)."""
    visitor.listen()
    page = visitor.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("What do you like to read?")
    expect(page.locator("main [name=url]")).to_be_focused()
    page.keyboard.type(site.origin)
    page.screenshot(path=shots / "1-welcome.png")
    page.get_by_role("button", name="Find feeds").click()
    expect(page.locator("#found h2")).to_have_text("3 feeds found on 127.0.0.1")
    page.screenshot(path=shots / "2-found.png")
    page.get_by_role("button", name="Follow 2 feeds").click()
    expect(page.locator("#import")).to_contain_text("0 of 2")
    read_now()
    page.screenshot(path=shots / "3-added.png")
    page.get_by_role("link", name="Start reading").click()
    page.locator(".item .t").first.click()
    expect(page.locator(".art h1")).to_contain_text("number")
    page.screenshot(path=shots / "4-article.png")
    assert visitor.complaints == []


def test_an_address_is_looked_at_while_it_is_typed(keeper: Visitor, site: WebServer, own_feeds: None) -> None:
    page = keeper.goto("/add/")
    expect(page.locator("#address")).to_be_focused()
    page.keyboard.type(f"{site.origin}/other.xml")
    expect(page.locator("#found")).to_contain_text("Other number 0")
    expect(page.locator("#found")).to_contain_text("whole articles")
    page.locator("#found").get_by_label("Folder").fill("Morning / News")
    page.keyboard.press("Enter")
    expect(page.locator("#import")).to_contain_text("waits for its turn")
    assert str(Feed.objects.get(url=f"{site.origin}/other.xml").category) == "Morning / News"
    assert keeper.complaints == []


def test_words_lead_to_the_search(keeper: Visitor) -> None:
    page = keeper.goto("/add/")
    expect(page.locator("#address")).to_be_focused()
    page.keyboard.type("harbour wall")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{keeper.address}/search/?q=harbour+wall")


def opml_of(site: WebServer, tmp_path: Path, number: int) -> Path:
    outlines = "".join(f'<outline text="Feed {n}" xmlUrl="{site.origin}/{n}.xml"/>' for n in range(number))
    file = tmp_path / "many.opml"
    file.write_text(f'<opml version="2.0"><body><outline text="Many">{outlines}</outline></body></opml>')
    return file


def test_a_list_of_a_thousand_feeds_is_followed_left_and_come_back_to(
    keeper: Visitor, site: WebServer, own_feeds: None, tmp_path: Path
) -> None:
    page = keeper.goto("/add/")
    page.locator("[name=opml]").set_input_files(opml_of(site, tmp_path, 1000))
    page.get_by_role("button", name="Bring the list").click()
    expect(page.locator("#import")).to_contain_text("0 of 1,000")
    imports.go_on(FeedImport.objects.get(name="many.opml").pk)  # the worker's part
    many = Feed.objects.filter(category__name="Many").order_by("pk")
    keys = list(many.values_list("pk", flat=True))
    Feed.objects.filter(pk__in=keys[:400]).update(last_success=datetime.now(UTC), selected_at=None)
    expect(page.locator("#import")).to_contain_text("400 of 1,000")
    page.goto(f"{keeper.address}/read/")
    Feed.objects.filter(pk__in=keys[400:999]).update(last_success=datetime.now(UTC), selected_at=None)
    Feed.objects.filter(pk=keys[999]).update(failure="http-404", failure_streak=1, selected_at=None)
    page.goto(f"{keeper.address}/add/")
    page.get_by_role("link", name="many.opml").click()
    expect(page.locator("#import")).to_contain_text("999 are fine")
    failing = page.locator("li.failing")
    expect(failing).to_contain_text("Feed 999: Not found.")
    # A line that failed is corrected in place, and read.
    failing.get_by_role("textbox").fill(f"{site.origin}/main.xml")
    failing.get_by_role("button", name="Use this address").click()
    expect(page.locator("#import")).to_contain_text("999 of 1,000")
    read_now()
    expect(page.locator("#import")).to_contain_text("1,000 are fine")
    expect(failing).to_have_count(0)
    assert keeper.complaints == []


def row(page: Page, feed: Feed) -> Any:
    return page.locator(f"#feed{feed.pk}")


@pytest.fixture
def ten(own_feeds: None) -> list[Feed]:
    folder = category_at(("Ten",))
    assert folder is not None
    return [make_feed(f"https://ten{n}.example/rss", title=f"Ten {n}", category=folder) for n in range(10)]


def test_a_feed_is_renamed_in_its_row_and_moved(keeper: Visitor, ten: list[Feed]) -> None:
    page = keeper.goto("/feeds/?q=ten")
    row(page, ten[0]).get_by_label("Change Ten 0").click()
    row(page, ten[0]).get_by_role("link", name="Rename or move").click()
    expect(row(page, ten[0]).get_by_label("Name")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("My name")
    row(page, ten[0]).get_by_label("Folder").fill("Elsewhere")
    row(page, ten[0]).get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("My name is in Elsewhere now.")
    expect(row(page, ten[0])).to_contain_text("My name")
    page.locator("#toast button").click()
    expect(row(page, ten[0])).to_contain_text("Ten 0")
    assert keeper.complaints == []


def test_ten_feeds_are_moved_paused_and_removed_at_once_and_all_is_undone(
    keeper: Visitor, ten: list[Feed]
) -> None:
    page = keeper.goto("/feeds/?q=ten")
    expect(page.locator(".bulk")).to_be_hidden()
    page.get_by_label("Pick all feeds of this page").check()
    expect(page.locator(".bulk")).to_contain_text("10 picked")
    page.get_by_label("Folder to move to").fill("New one")
    page.locator(".bulk").get_by_role("button", name="Move", exact=True).click()
    expect(page.locator("tr.grp")).to_have_text("New one")
    page.get_by_label("Pick all feeds of this page").check()
    page.locator(".bulk").get_by_role("button", name="Pause").click()
    expect(page.locator(".state", has_text="Paused")).to_have_count(10)
    page.locator("#toast button").click()
    expect(page.locator(".state", has_text="Paused")).to_have_count(0)
    page.get_by_label("Pick all feeds of this page").check()
    page.locator(".bulk").get_by_role("button", name="Remove").click()
    expect(page.locator("#toast")).to_contain_text("10 feeds are removed.")
    expect(page.locator("tbody tr")).to_have_count(0)
    page.locator("#toast button").click()
    expect(page.locator("tr[data-feed]")).to_have_count(10)
    assert keeper.complaints == []


def test_a_feed_is_dragged_to_a_folder(keeper: Visitor, ten: list[Feed]) -> None:
    target = category_at(("Target",))
    assert target is not None
    Feed.objects.filter(pk=ten[9].pk).update(category=target)
    page = keeper.goto("/feeds/?q=ten")
    row(page, ten[0]).drag_to(page.locator(f'tr[data-folder="{target.pk}"]'))
    expect(page.locator("#toast")).to_contain_text("Moved 1 feed to Target.")
    assert Feed.objects.get(pk=ten[0].pk).category == target


def test_typing_in_the_filter_changes_the_table_and_the_address(keeper: Visitor) -> None:
    page = keeper.goto("/feeds/")
    page.get_by_role("searchbox", name="Find a feed").press_sequentially("harbour")
    expect(page.locator("tr[data-feed]")).to_have_count(1)
    expect(page).to_have_url(f"{keeper.address}/feeds/?q=harbour&sort=folder")
    page.go_back()
    expect(page.locator("tr[data-feed]")).not_to_have_count(1)
    assert keeper.complaints == []


def test_results_appear_while_one_types_and_a_search_is_kept(keeper: Visitor) -> None:
    page = keeper.goto("/search/")
    expect(page.locator("main [name=q]")).to_be_focused()
    page.keyboard.type("harb")
    expect(page.locator(".hit").first).to_be_visible()
    expect(page).to_have_url(f"{keeper.address}/search/?q=harb")
    page.keyboard.type("our")
    expect(page).to_have_url(f"{keeper.address}/search/?q=harbour")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("“harbour” is kept beside your folders.")
    page.goto(f"{keeper.address}/read/")
    page.locator(".tree").get_by_role("link", name="harbour", exact=True).click()
    expect(page.locator("#q")).to_have_value("harbour")
    page.locator(".hit h3 a").first.click()
    expect(page.locator(".art h1")).to_be_visible()
    PersonalFeed.objects.filter(query="harbour").delete()
    assert keeper.complaints == []


def test_imports_of_the_demo_say_what_failed(keeper: Visitor) -> None:
    page = keeper.goto(FeedImport.objects.earliest("pk").get_absolute_url())
    expect(page.locator("#import")).to_contain_text("Late Edition: 3 articles")
    expect(page.locator("li.failing")).to_have_count(2)


NOW = datetime.now(UTC)
SEEN = {"last_attempt": NOW, "last_success": NOW, "last_new": NOW - timedelta(days=1), "document_size": 20}
KNOWN = SEEN | {"phase": "normal"}
STATES: dict[str, tuple[dict[str, Any], str]] = {
    "new": ({}, "New"),
    "learning": (SEEN, "Learning its rhythm"),
    "normal": (KNOWN, "Fine"),
    "failing": (
        SEEN | {"failure": "http-503", "failure_streak": 3, "failing_since": NOW - timedelta(hours=5)},
        "for 5 hours",
    ),
    "paused": (KNOWN | {"status": "paused"}, "It is paused: Freshet looks again once you resume it."),
    "gone": (KNOWN | {"status": "gone"}, "Its publisher says that it has ended"),
    "moved": (KNOWN | {"moved_to": "https://new.example/rss", "moved_count": 2}, "Moving to a new address"),
    "silent": (KNOWN | {"last_new": NOW - timedelta(days=800)}, "Silent since"),
    "on its way": (KNOWN | {"selected_at": NOW, "selected_because": "asked for"}, "looking at it now."),
}


@pytest.mark.parametrize("name", STATES)
def test_the_page_of_a_feed_says_how_it_is_and_when_it_is_looked_at(
    keeper: Visitor, own_feeds: None, name: str
) -> None:
    fields, words = STATES[name]
    feed = make_feed(f"https://state-{name.replace(' ', '-')}.example/rss", title="The Paper", **fields)
    page = keeper.goto(f"/feeds/{feed.pk}/")
    text = page.locator("main").inner_text()
    assert words in text
    assert PRIVATE_WORDS.findall(text) == []
    if fields.get("status") is None:
        assert re.search(r"Next (check|try) |Freshet (is looking|looks) at it|No check is planned", text)
    page.locator("summary", has_text="Details for experts").click()
    expect(page.locator("main").get_by_text("How the next visit is planned")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert keeper.complaints == []


def test_why_a_feed_is_late_is_said_and_mended_on_its_page(keeper: Visitor) -> None:
    page = keeper.goto(Feed.objects.get(title="Bulletin of the Lock Keepers").get_absolute_url())
    failure = page.get_by_role("region", name="Failure")
    expect(failure).to_contain_text("Its server has a fault for 5 hours.")
    expect(failure).to_contain_text("Next try")
    expect(page.locator("main .btn.primary")).to_have_text("Try again now")
    page.locator("main .btn.primary").click()
    expect(page.locator("main")).to_contain_text("1 feed to be checked now.")
    expect(failure).to_contain_text("Freshet is looking at it now.")
    expect(failure.get_by_role("button")).to_have_count(0)
    Feed.objects.filter(title="Bulletin of the Lock Keepers").update(selected_at=None, selected_because="")
    assert keeper.complaints == []


@pytest.mark.parametrize(
    ("title", "cause", "deed"),
    [
        ("Not Quite A Feed", "This is a page, not a feed", "Find its feeds"),
        ("Marsh Observer", "Its address is not known on the internet", "Find its feeds"),
        ("Ferry News (closed)", "Its publisher says that it has ended", "Find its feeds"),
        ("Minutes of a Club", "It is paused", "Resume"),
    ],
)
def test_each_cause_has_its_deed_beside_it(keeper: Visitor, title: str, cause: str, deed: str) -> None:
    page = keeper.goto(Feed.objects.get(title=title).get_absolute_url())
    note = page.locator("main .note")
    expect(note).to_contain_text(cause)
    expect(note.locator(".btn.primary")).to_have_text(deed)
    assert barriers(page) == []
    for width in (390, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert keeper.complaints == []


def test_a_feed_is_read_from_its_page_and_its_rhythm_is_seen(keeper: Visitor) -> None:
    feed = Feed.objects.get(title="The Harbour Courier")
    page = keeper.goto(feed.get_absolute_url())
    expect(page.locator(".arts li")).to_have_count(10)
    expect(page.locator(".answers")).to_contain_text(re.compile(r"about \d+ articles a day\."))
    expect(page.locator(".answers")).to_contain_text(re.compile(r"Next check .+\."))
    expect(page.get_by_role("img", name="When it posts: most on")).to_be_visible()
    page.locator("summary", has_text="Details for experts").click()
    expect(page.locator("svg.heat")).to_be_visible()
    expect(page.locator("svg.clock").first).to_be_visible()
    assert barriers(page) == []
    for width in (390, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name=re.compile(r"Read \d+ new")).click()
    expect(page).to_have_url(f"{keeper.address}/read/?feed={feed.pk}")
    expect(page.locator(".item").first).to_be_visible()
    assert keeper.complaints == []


def test_the_menu_of_a_feed_renames_pauses_and_resumes_it(keeper: Visitor, own_feeds: None) -> None:
    feed = make_feed("https://menu.example/rss", title="The Paper", **KNOWN)
    page = keeper.goto(feed.get_absolute_url())
    menu = page.locator("main .bar .menu")
    menu.locator("summary").click()
    assert barriers(page) == []
    expect(menu.locator("a, button").last).to_have_text("Remove")
    menu.get_by_role("link", name="Rename or move").click()
    page.get_by_label("Name", exact=True).fill("My paper")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("My paper")
    menu.locator("summary").click()
    menu.get_by_role("button", name="Pause").click()
    expect(page.locator("main .note")).to_contain_text("It is paused")
    page.locator("main .note .btn.primary").click()
    expect(page.locator("main .state").first).to_have_text("Fine")
    assert keeper.complaints == []


def test_the_page_of_a_pushed_feed_says_that_its_hub_tells(keeper: Visitor, own_feeds: None) -> None:
    feed = make_feed("https://pushed.example/rss", title="The Paper", **KNOWN)
    HubSubscription.objects.create(
        feed=feed, hub="https://hub.example/", host=feed.host, topic=feed.url, state="active"
    )
    page = keeper.goto(f"/feeds/{feed.pk}/")
    expect(page.locator("main")).to_contain_text("Tells Freshet of news at once")
    assert keeper.complaints == []


YOUTUBE = "https://www.youtube.com/feeds/videos.xml?"
LOOKUP = "https://itunes.apple.com/lookup?id=123456789&entity=podcast"
SPECIAL = {
    "https://www.youtube.com/channel/UC123/videos": f"{YOUTUBE}channel_id=UC123",
    "https://www.youtube.com/playlist?list=PL1": f"{YOUTUBE}playlist_id=PL1",
    "https://github.com/django/django": "https://github.com/django/django/releases.atom",
    "https://www.reddit.com/r/rust": "https://www.reddit.com/r/rust/.rss",
    "https://social.example/@ann": "https://social.example/@ann.rss",
    "https://tube.example/c/boats/videos": "https://tube.example/feeds/videos.xml?videoChannelName=boats",
    "https://podcasts.apple.com/us/podcast/a-name/id123456789": "https://pods.example/feed.xml",
}


@pytest.mark.parametrize("address", SPECIAL)
def test_a_page_of_a_known_source_is_followed_by_its_feed(
    keeper: Visitor, own_feeds: None, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    feed_url = SPECIAL[address]

    def fetch(url: str, limits: FetchLimits) -> Fetched:
        """Answer in place of the web: this feed, the lookup of podcasts, and pages without links."""
        if url == feed_url:
            return Fetched(url, "application/rss+xml", rss("Special").body)
        if url == LOOKUP:
            answer = json.dumps({"results": [{"feedUrl": feed_url}]}).encode()
            return Fetched(url, "application/json", answer)
        return Fetched(url, "text/html", b"<html><title>A page</title><p>Hello")

    monkeypatch.setattr("feeds.adding.discovery.client.fetch", fetch)
    page = keeper.goto("/add/")
    page.locator("#address").fill(address)
    expect(page.locator("#found")).to_contain_text("Special number 0")
    page.get_by_role("button", name="Follow 1 feed").click()
    expect(page.locator("#import")).to_be_visible()
    assert Feed.objects.filter(url=feed_url).exists()
    assert keeper.complaints == []
