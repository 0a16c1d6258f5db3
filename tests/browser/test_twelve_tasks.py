"""Twelve tasks of somebody who has never seen Freshet, done by what pages show alone, from Read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, Route, expect

from articles.interest.models import Interest
from articles.models import Mark
from crawler.engine.chosen import chosen
from crawler.frontier.models import Crawl
from crawler.notices.models import Rule, Target
from feeds.models import Feed
from tests.browser.conftest import Visitor, wait_until
from tests.browser.test_feeds import own_feeds, site  # noqa: F401 - fixtures
from tests.browser.test_graph import linked_site  # noqa: F401 - a fixture
from tests.browser.test_pages import barriers
from tests.servers import WebServer

MOST_CLICKS = 6


@dataclass
class Walk:
    """A person before a page, whose clicks are counted, and of whom it is noted what had to be looked for."""

    visitor: Visitor
    name: str
    clicks: int = 0
    below: list[str] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.visitor.page

    def click(self, role: str, name: str, *, within: str = "body", exact: bool = False) -> None:
        """Press the first visible thing of this role and name."""
        found = self.page.locator(within).get_by_role(role, name=name, exact=exact)  # type: ignore[arg-type]
        self.press(found.locator("visible=true").first, name)

    def press(self, thing: Locator, name: str) -> None:
        """Press this, and note when one has to scroll to it."""
        expect(thing, name).to_be_visible()
        box = thing.bounding_box()
        height = (self.page.viewport_size or {"height": 0})["height"]
        if box and box["y"] + box["height"] > height - (60 if self.is_phone else 0):
            self.below.append(name)
        thing.click()
        self.clicks += 1

    @property
    def is_phone(self) -> bool:
        return (self.page.viewport_size or {"width": 0})["width"] < 500

    def aside(self, name: str, role: str = "link") -> None:
        """Press something in the sidebar, which phones have in a drawer."""
        if self.is_phone and not self.page.locator("#drawer.open").count():
            self.click("link", "Folders, tools and account")
        self.click(role, name, within="#drawer" if self.is_phone else "body")

    def settings(self, tab: str) -> None:
        """Go to a tab of Settings."""
        self._account("Settings")
        self.click("link", tab, within="#main" if self.is_phone else "body")

    def _account(self, name: str) -> None:
        if self.is_phone:
            self.click("link", "Folders, tools and account")
        self.press(self.page.locator(".foot .menu summary"), "the account")
        self.press(self.page.locator(".foot").get_by_role("link", name=name, exact=True), name)


@pytest.fixture(params=[1280, 390])
def walk(keeper: Visitor, request: pytest.FixtureRequest) -> Iterator[Walk]:
    """Somebody who begins at Read; what they found is kept below $WALKS."""
    keeper.page.set_viewport_size({"width": request.param, "height": 844})
    keeper.goto("/read/")
    walk = Walk(keeper, request.node.name)
    yield walk
    if report := os.environ.get("WALKS"):
        with open(report, "a") as file:
            file.write(f"{walk.name}: {walk.clicks} clicks; below the fold: {walk.below}\n")
    # A page that is left while it asks whether something is new drops the question.
    assert [words for words in keeper.complaints if "htmx:" not in words] == []


def test_1_follow_a_feed_and_put_it_in_a_folder(walk: Walk, site: WebServer, own_feeds: None) -> None:  # noqa: F811
    if walk.is_phone:
        walk.click("link", "Folders, tools and account")
    walk.click("link", "Add a feed or site")
    walk.page.get_by_label("Address of a site or feed").fill(f"{site.origin}/other.xml")
    walk.click("button", "Find feeds")
    walk.page.locator("#found").get_by_label("Folder").fill("Harbours")
    walk.click("button", "Follow")
    expect(walk.page.locator("#import")).to_contain_text("waits for its turn")
    assert str(Feed.objects.get(url=f"{site.origin}/other.xml").category) == "Harbours"
    assert walk.clicks <= MOST_CLICKS


def test_2_find_an_article_about_ferries_and_star_it(walk: Walk) -> None:
    before = set(Mark.objects.filter(starred__isnull=False).values_list("article", flat=True))
    walk.click("link", "Search", exact=True)
    walk.page.get_by_role("searchbox").first.fill("ferry")
    walk.page.keyboard.press("Enter")
    walk.press(walk.page.locator(".hit h3 a").nth(7), "an article")
    walk.press(walk.page.locator("button.star:visible").last, "Star")
    expect(walk.page.locator("button.star:visible").last).to_have_attribute("aria-pressed", "true")
    marks = Mark.objects.filter(starred__isnull=False).exclude(article__in=before)
    try:
        # The star is drawn before the server has it.
        wait_until(lambda: marks.count() == 1)
        expect(walk.page.locator(".art h1")).to_be_visible()
    finally:
        marks.update(starred=None)
    assert walk.clicks <= 3


def test_3_mark_a_folder_as_read_and_take_it_back(walk: Walk) -> None:
    walk.aside("All of News")
    count = walk.page.locator("#count-shown")
    unread = count.inner_text()
    walk.click("button", "Mark all as read")
    walk.click("button", "Undo")
    expect(count).to_have_text(unread)
    assert walk.clicks <= 4


def test_4_connect_a_phone_app(walk: Walk) -> None:
    walk.settings("Apps and keys")
    walk.page.get_by_label("Your app").select_option(label="FeedMe")
    expect(walk.page.locator(".typein").first).to_contain_text("/api/greader.php")
    walk.page.get_by_label("Which app, on which device?").fill("FeedMe on the phone")
    walk.click("button", "Make a password")
    expect(walk.page.locator(".box.secret")).to_be_visible()
    walk.click("button", "Take back FeedMe on the phone")
    assert walk.clicks <= MOST_CLICKS


def test_5_make_a_token_and_revoke_it(walk: Walk) -> None:
    walk.settings("Apps and keys")
    walk.page.get_by_label("What is it for?").fill("A display")
    walk.click("button", "Make a token")
    expect(walk.page.locator("#made-token")).to_be_visible()
    walk.click("button", "Take back A display")
    expect(walk.page.locator("#main")).to_contain_text("opens nothing any more")
    assert walk.clicks <= MOST_CLICKS


def test_6_be_told_when_a_feed_cannot_be_read(walk: Walk) -> None:
    user = User.objects.get(username="keeper")
    try:
        walk.settings("Notifications")
        walk.click("link", "New", exact=True)
        walk.page.get_by_label("When", exact=True).select_option(label="a feed cannot be read, or can again")
        walk.click("button", "Add a place first")
        walk.page.get_by_label("Mail address").fill("keeper@news.example")
        walk.click("button", "Save", exact=True)
        expect(walk.page.get_by_label("When", exact=True)).to_have_value("feed")
        expect(walk.page.get_by_label("keeper@news.example")).to_be_checked()
        walk.click("button", "Save", exact=True)
        rule = Rule.objects.get(user=user)
        assert (rule.when, rule.targets.count()) == ("feed", 1)
        assert walk.clicks <= MOST_CLICKS + 2
    finally:
        Rule.objects.filter(user=user).delete()
        Target.objects.filter(user=user).delete()


def test_7_find_why_a_feed_is_late_and_pause_it(walk: Walk) -> None:
    walk.click("link", "Feeds", exact=True)
    walk.click("link", "Need a look")
    walk.click("link", "Bulletin of the Lock Keepers")
    expect(walk.page.locator("main")).to_contain_text("Its server has a fault")
    walk.press(walk.page.locator("main .bar .menu summary"), "the menu")
    walk.click("button", "Pause")
    feed = Feed.objects.get(title="Bulletin of the Lock Keepers")
    expect(walk.page.get_by_role("button", name="Resume").locator("visible=true").first).to_be_visible()
    assert feed.status == "paused"
    walk.page.get_by_role("button", name="Resume").locator("visible=true").first.click()
    expect(walk.page.locator("main")).to_contain_text("Its server has a fault")
    assert walk.clicks <= MOST_CLICKS


def test_8_find_what_twice_the_requests_would_bring(walk: Walk) -> None:
    walk.settings("Budget and pace")
    walk.click("link", "Try it in the lab")
    expect(walk.page.locator("main")).to_contain_text(re.compile("being replayed|twice|earlier|too little"))
    assert walk.clicks <= MOST_CLICKS


def test_9_have_less_of_a_topic_and_mute_one(walk: Walk) -> None:
    kept = Interest.objects.filter(subscriber__user__username="keeper").values_list("tuned", "muted")[0]
    try:
        walk.settings("Interests")
        slider = walk.page.get_by_role("slider").first
        slider.focus()
        with walk.page.expect_response(lambda answer: answer.request.method == "POST"):
            walk.page.keyboard.press("ArrowLeft")
        walk.click("button", "Mute")
        expect(walk.page.locator("#toast")).to_contain_text("never come into")
        assert walk.clicks <= MOST_CLICKS
    finally:
        Interest.objects.filter(subscriber__user__username="keeper").update(tuned=kept[0], muted=kept[1])


def test_10_keep_articles_for_a_year_only(walk: Walk) -> None:
    before = chosen("RETENTION_ARTICLES_DAYS")
    walk.settings("Retention")
    walk.page.get_by_label("Articles", exact=True).select_option(label="a year")
    try:
        expect(walk.page.locator("#main .lead")).to_contain_text("a year")
    finally:
        walk.click("button", "Undo")
    expect(walk.page.locator("#main .lead")).to_contain_text("for ever")
    assert chosen("RETENTION_ARTICLES_DAYS") == before
    assert walk.clicks <= MOST_CLICKS


def test_11_ask_which_sites_link_to_another(walk: Walk, linked_site: None) -> None:  # noqa: F811
    _tools(walk, "Graph")
    walk.click("link", "Which sites link to …?")
    walk.page.get_by_label("Name or address of a site").fill("quay.example")
    walk.click("button", "Ask")
    expect(walk.page.locator("main")).to_contain_text("1 site links to quay.example")
    assert walk.clicks <= MOST_CLICKS


def test_12_start_a_small_crawl_and_see_how_far_it_is(walk: Walk) -> None:
    _tools(walk, "Crawls")
    walk.page.get_by_label("Start at").fill("https://quay.example/")
    walk.page.get_by_label("At most").first.fill("20")
    walk.click("button", "Start", exact=True)
    expect(walk.page.locator(".count2")).to_contain_text("of about 1 page")
    Crawl.objects.latest("id").delete()
    assert walk.clicks <= MOST_CLICKS


def test_a_request_that_fails_says_so_where_it_was_made(walk: Walk) -> None:
    walk.page.route(re.compile("/(un)?star/"), lambda route: route.abort())
    walk.page.route("**/settings/retention/", _refuse)
    row = walk.page.locator(".item").nth(1)
    if not walk.is_phone:
        row.hover()
        row.get_by_role("button", name="Star").click()
        expect(walk.page.locator(".item + li.note.bad").first).to_contain_text("That did not work")
    walk.page.goto(f"{walk.visitor.address}/settings/retention/")
    walk.page.get_by_label("HTML of articles").select_option(label="a year")
    note = walk.page.locator(".setline:has(#s-RETENTION_PAGE_HTML_DAYS) + .note.bad")
    expect(note).to_contain_text("That did not work")
    assert barriers(walk.page) == []
    assert len(walk.visitor.complaints) >= 1
    walk.visitor.complaints.clear()


def _refuse(route: Route) -> None:
    if route.request.method == "POST":
        route.fulfill(status=500, body="out of order")
    else:
        route.continue_()


def _tools(walk: Walk, name: str) -> None:
    """Go to a part of the workshop."""
    walk.aside("Tools")
    walk.click("link", name, within=".shop")
