"""Django's admin in Freshet's colours, light and dark, at two widths."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from articles.models import Article
from feeds.models import Feed
from recrawl.models import Site
from tests.browser.conftest import Visitor, signed_in
from tests.browser.test_pages import COLOURS, barriers
from tests.factories import make_user

ADMIN_PAGES = (
    "/admin/",
    "/admin/?all=1",
    "/admin/feeds/",
    "/admin/auth/user/",
    "/admin/auth/user/add/",
    "/admin/auth/group/add/",
    "/admin/feeds/feed/",
    "/admin/feeds/feed/add/",
    "a feed",
    "a feed's deletion",
    "/admin/articles/article/",
    "an article",
    "/admin/recrawl/site/",
    "a site",
    "/admin/frontier/crawl/",
    "/admin/password_change/",
)
DJANGOS_OWN = ("aria-prohibited-attr", "empty-table-header", "label-title-only")
"""Rules of axe that the markup of Django's templates breaks."""
SCROLL_WIDTH = "document.documentElement.scrollWidth"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
ACCENT = "getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()"


@pytest.fixture
def root(demo: str, transactional_db: None, browser: Browser) -> Iterator[Visitor]:
    """A superuser in the admin."""
    user = make_user("root", staff=True, is_superuser=True)
    with signed_in(demo, browser, "root") as context:
        visitor = Visitor(context.new_page(), demo)
        visitor.listen()
        yield visitor
    user.delete()


def address_of(name: str) -> str:
    """The path of a page that is named by what it shows."""
    if name.startswith("a feed"):
        page = "delete" if "deletion" in name else "change"
        return f"/admin/feeds/feed/{Feed.objects.earliest('pk').pk}/{page}/"
    if name == "an article":
        return f"/admin/articles/article/{Article.objects.earliest('pk').pk}/change/"
    return f"/admin/recrawl/site/{Site.objects.earliest('pk').pk}/change/" if name == "a site" else name


@pytest.mark.parametrize("name", ADMIN_PAGES)
def test_every_page_of_the_admin_is_accessible_quiet_and_fits(root: Visitor, name: str) -> None:
    page = root.goto(address_of(name))
    # axe reads style sheets again in ways that the Content-Security-Policy forbids.
    assert root.complaints == []
    assert page.evaluate(SCROLL_WIDTH) <= 1280
    assert [barrier for barrier in barriers(page) if not barrier.startswith(DJANGOS_OWN)] == []
    page.emulate_media(color_scheme="dark")
    assert barriers(page, *COLOURS) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(SCROLL_WIDTH) <= 390
    assert page.locator("#header").evaluate("head => head.scrollHeight <= head.clientHeight")


def test_the_admin_and_other_pages_share_one_theme(root: Visitor) -> None:
    page = root.goto("/tools/")
    accent = page.evaluate(ACCENT)
    page = root.goto("/admin/")
    toggle = page.locator(".theme-toggle")
    for theme in ("light", "dark"):
        toggle.click()
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
        assert page.evaluate(ACCENT) == accent
        dark = page.evaluate(BACKGROUND)
    page.get_by_role("link", name="‹ Tools").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate(BACKGROUND) == dark
    root.goto("/admin/auth/user/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator(".theme-toggle").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "auto")
    root.goto("/tools/")
    assert page.locator("html").get_attribute("data-theme") is None
    assert root.complaints == []
