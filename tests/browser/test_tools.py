"""Tools and Health in a browser: whoever runs Freshet finds from one page what waits, and does it there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from feeds.models import Feed, FeedAlias
from tests.browser.conftest import Visitor, signed_in
from tests.browser.test_pages import COLOURS, barriers
from tests.factories import make_feed, make_user

SCROLL_WIDTH = "document.documentElement.scrollWidth"


@pytest.fixture
def owner(demo: str, transactional_db: None, browser: Browser) -> Iterator[Visitor]:
    """A visitor who owns the deployment."""
    user = make_user("owner", staff=True, is_superuser=True)
    with signed_in(demo, browser, "owner") as context:
        visitor = Visitor(context.new_page(), demo)
        visitor.listen()
        yield visitor
    user.delete()


@pytest.fixture
def troubles(demo: str, transactional_db: None) -> Iterator[None]:
    """A feed that has moved, three that ended, two pages that are no feeds, and one behind a password."""
    now = datetime.now(UTC)
    failing = {"failure_streak": 3, "failing_since": now - timedelta(days=3)}
    moved = {"failure": "http-404", "proposed": {"url": "https://boost.example/news.rss"}}
    made = [
        make_feed("https://boost.example/old", title="Boost News", **failing, **moved),
        make_feed("https://locked.example/rss", title="Locked Paper", failure="http-401", **failing),
        make_feed("https://page.example/a", title="A Page", failure="not-a-feed", **failing),
        make_feed("https://page.example/b", title="Another Page", failure="not-a-feed", **failing),
        *(make_feed(f"https://diary.example/{each}", status="gone") for each in range(3)),
    ]
    yield
    keys = [feed.pk for feed in made]
    FeedAlias.objects.filter(feed__in=keys).delete()
    Feed.with_removed.filter(pk__in=keys).delete()


@pytest.mark.usefixtures("troubles")
def test_an_owner_finds_what_waits_and_does_it(owner: Visitor) -> None:
    page = owner.goto("/tools/")
    expect(page.locator(".verdict")).to_contain_text("wait for you.")
    line = page.locator(".fails li", has_text="Boost News")
    expect(line).to_contain_text("Its site names a new address.")
    line.get_by_role("button", name="Use the new address").click()
    expect(page.locator("main").get_by_text("1 feed is read from where it is now.")).to_be_visible()
    assert page.url.endswith("/tools/")
    expect(page.locator(".fails li", has_text="Boost News")).to_have_count(0)
    assert Feed.objects.filter(url="https://boost.example/news.rss", failure_streak=0).exists()

    page.locator(".fails li", has_text="Locked Paper").get_by_role("link", name="Give a login").click()
    expect(page).to_have_url(f"{owner.address}/logins/?url=https%3A%2F%2Flocked.example%2Frss")
    expect(page.get_by_role("heading", name="Logins", exact=True)).to_be_visible()

    owner.goto("/tools/")
    page.locator("#fails").get_by_role("link", name="Health").click()
    page.get_by_role("button", name="Remove all").click()
    expect(page.locator("#g-gone")).to_have_count(0)
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(page.locator("#g-gone")).to_contain_text("Freshet does not ask any more.")
    assert owner.complaints == []


@pytest.mark.usefixtures("troubles")
def test_pages_that_are_no_feeds_have_each_their_deed(owner: Visitor) -> None:
    page = owner.goto("/tools/")
    page.locator(".fails li", has_text="This is a page, not a feed.").get_by_role("link").click()
    group = page.locator("#g-not-a-feed")
    expect(group.get_by_role("link", name="A Page", exact=True)).to_be_visible()
    group.locator("li", has_text="Another Page").get_by_role("link", name="Find its feeds").click()
    expect(page).to_have_url(f"{owner.address}/add/?url=https%3A%2F%2Fpage.example%2Fb")


@pytest.mark.usefixtures("troubles")
@pytest.mark.parametrize(
    "path", ["/tools/", "/tools/health/", "/tools/health/details/", "/planning/", "/logins/"]
)
def test_they_fit_every_width_and_everybody(owner: Visitor, path: str) -> None:
    page = owner.goto(path)
    page.evaluate("document.querySelectorAll('main details.more').forEach(fold => { fold.open = true })")
    for width, scheme in ((1920, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert page.evaluate(SCROLL_WIDTH) <= width
        assert barriers(page, *(COLOURS if scheme == "dark" else ())) == []
    assert owner.complaints == []


def test_the_numbers_stand_above_the_fold_and_the_rest_is_folded(owner: Visitor) -> None:
    page = owner.goto("/tools/")
    bottom = page.locator(".kpis").evaluate("part => part.getBoundingClientRect().bottom")
    assert bottom < 450
    expect(page.locator(".shop h3")).to_have_text(["Crawls", "Lab", "Graph", "Pipeline"])
    expect(page.get_by_role("heading", name="The parts")).to_be_hidden()
    page.locator("summary", has_text="Details for experts").click()
    expect(page.get_by_role("heading", name="The parts")).to_be_visible()
    expect(page.locator("main").get_by_role("link", name="Administration")).to_be_visible()


def test_what_is_unfolded_stays_so_when_the_page_renews_itself(owner: Visitor) -> None:
    owner.page.clock.install()
    page = owner.goto("/tools/")
    page.locator("summary", has_text="Details for experts").click()
    with page.expect_response("**/overview/tiles/"):
        page.clock.fast_forward(11_000)
    expect(page.get_by_role("heading", name="The parts")).to_be_visible()
    expect(page.get_by_role("heading", name="The parts")).to_have_count(1)
