"""The page of a watched site in a browser: changes are read and marked as seen, the figures are folded."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from recrawl.models import Change, SeenChanges, Site
from tests.browser.conftest import Visitor


@pytest.fixture
def unseen(keeper: Visitor) -> Iterator[Visitor]:
    """A visitor who has seen no change yet, afterwards as before."""
    user = User.objects.get(username="keeper")
    SeenChanges.objects.update_or_create(user=user, defaults={"up_to": 0, "unseen": [], "seen": []})
    yield keeper
    SeenChanges.objects.filter(user=user).delete()


@pytest.fixture
def site(unseen: Visitor) -> Site:
    return Site.objects.get(state="watched")


def is_narrow(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_a_person_sees_what_changed_and_marks_it_seen(unseen: Visitor, site: Site) -> None:
    page = unseen.goto(f"/sites/{site.pk}/?as=list")
    expect(page.locator("main .lead")).to_contain_text("Freshet looks at th")
    rows = page.locator("#now .arts > li")
    before = rows.count()
    assert before == Change.objects.filter(site=site).counting().count() or before >= 2
    expect(page.locator("#now .arts ins, #now .arts del").first).to_be_visible()
    expect(page.locator("#now .arts > li.old")).to_have_count(0)
    page.get_by_role("button", name=re.compile("Mark as seen: ")).first.click()
    expect(page).to_have_url(re.compile(rf"/sites/{site.pk}/"))
    expect(page.locator("#now .arts > li.old")).to_have_count(1)
    page.get_by_role("button", name=re.compile(r"Mark .*as seen$")).click()
    expect(page.locator("#now .arts > li:not(.old)")).to_have_count(0)
    page.locator("#toast").get_by_role("button", name="Undo").click()
    unseen.goto(f"/sites/{site.pk}/?as=list")
    expect(page.locator("#now .arts > li:not(.old)")).to_have_count(before - 1)
    page.locator("#now .arts .t").first.click()
    expect(page.locator(".changepane h1")).to_be_visible()
    assert unseen.complaints == []


def test_figures_and_terms_are_folded_and_the_page_fits(unseen: Visitor, site: Site) -> None:
    page = unseen.goto(f"/sites/{site.pk}/?as=list&edit=1#settings")
    outside = page.locator("main").inner_text().lower()
    for word in ("update rate", "mapped", "coverage", "method", "gate", "the next visit is", "1 pages"):
        assert word not in outside
    expect(page.locator(".tree a[aria-current=page]")).to_contain_text(str(site)[:20])
    assert page.locator("main .bar").get_by_role("button").count() == 1
    for summary in page.locator("main details.more > summary").all():
        if summary.is_visible() and summary.evaluate("s => !s.parentElement.open"):
            summary.click()
    page.get_by_label("Change this watch").click()
    assert Axe().run(page).response["violations"] == []
    expect(page.get_by_role("button", name="Watch no more")).to_be_visible()
    page.keyboard.press("Escape")
    for width in (390, 1920):
        page.set_viewport_size({"width": width, "height": 844})
        assert is_narrow(page)
    page.emulate_media(color_scheme="dark")
    assert Axe().run(page).response["violations"] == []
    assert len(page.content()) < 60_000
    assert unseen.complaints == []


def test_a_site_is_renamed_paused_and_resumed(unseen: Visitor, site: Site) -> None:
    page = unseen.goto(f"/sites/{site.pk}/?as=list&edit=1#settings")
    name = site.title
    try:
        page.get_by_label("Name", exact=True).fill("The harbour's own pages")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("The harbour's own pages")
        page.get_by_label("Change this watch").click()
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("main .lead")).to_contain_text("paused")
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Check now")).to_be_visible()
    finally:
        Site.objects.filter(pk=site.pk).update(title=name, state="watched")
