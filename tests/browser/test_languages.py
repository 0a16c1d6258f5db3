"""Pages in other languages in a real browser: they fit a phone, and a choice holds."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visitor, signed_in
from tests.browser.test_accounts import DOORS
from tests.browser.test_pages import PAGES, barriers, path_of
from tests.languages import LANGUAGES

PHONE = 390


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_fits_a_phone_in_every_language(
    demo: str, transactional_db: None, browser: Browser, language: str
) -> None:
    with signed_in(demo, browser) as context:
        context.set_extra_http_headers({"Accept-Language": language})
        page = context.new_page()
        page.set_viewport_size({"width": PHONE, "height": 844})
        wide = [name for name in PAGES if _width(page, demo + path_of(name)) > PHONE]
        assert wide == []
        assert page.locator("html").get_attribute("lang") == language
    doors = browser.new_context(viewport={"width": PHONE, "height": 844}, locale=language)
    wide = [path for path in DOORS if _width(doors.new_page(), demo + path) > PHONE]
    doors.close()
    assert wide == []


def test_a_person_chooses_language_and_time_zone(keeper: Visitor) -> None:
    page = keeper.goto("/settings/language/")
    page.locator('select[name="zone"]').select_option("Asia/Tokyo")
    expect(page.locator(".lead")).to_contain_text("Asia/Tokyo")
    page.locator('select[name="language"]').select_option("de")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert barriers(page) == []
    keeper.goto("/read/")
    expect(page.get_by_role("link", name="Alle Feeds").first).to_be_visible()
    page.locator(".item .t").first.click()
    expect(page.locator(".art .by time")).to_have_attribute("title", re.compile("JST"))
    page.locator(".foot .menu summary").click()
    page.locator('[data-do="theme"]').click()
    expect(page.locator("#toast")).to_contain_text("Farben")
    keeper.goto("/settings/language/")
    page.locator('select[name="language"]').select_option("")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.locator('select[name="zone"]').select_option("")
    expect(page.locator(".lead")).not_to_contain_text("Asia/Tokyo")
    assert keeper.complaints == []


def _width(page: Page, address: str) -> int:
    page.goto(address)
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width
