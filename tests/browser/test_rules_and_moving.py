"""Rules, moving in and all settings in a browser: on a phone, in the dark, with the keyboard."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from articles.models import Article
from crawler.notices.models import Rule
from tests.browser.conftest import Visitor
from tests.browser.fit import SIZES, sticks_out, too_small_for_thumbs

SHOTS = os.environ.get("SHOTS")
PATHS = ("/settings/rules/", "/me/rules/new/?words=a", "/me/move/", "/settings/more/", "/settings/data/")


@pytest.mark.parametrize("size", SIZES)
def test_the_pages_fit(keeper: Visitor, size: tuple[int, int]) -> None:
    page = keeper.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme="dark" if size[0] < 500 else "light")
    for path in PATHS:
        keeper.goto(path)
        assert not sticks_out(page), path
        if size[0] < 500:
            # Choices and switches are pressed by their labels, which are high enough.
            within = ".row, .field" if path in {"/me/move/", "/settings/more/"} else ".page"
            assert not too_small_for_thumbs(page, within), path
        if SHOTS:
            name = path.partition("?")[0].strip("/").replace("/", "-")
            page.screenshot(path=Path(SHOTS) / f"{name}-{size[0]}.png", full_page=True)
    assert not keeper.complaints


def test_a_rule_is_tried_made_applied_and_undone_by_keyboard(keeper: Visitor) -> None:
    page, article = keeper.page, Article.objects.order_by("-published").first()
    assert article is not None
    word = max(article.title.split(), key=len).strip(".,:;!?“”'\"")
    keeper.goto("/settings/rules/")
    page.get_by_role("link", name="New", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_label("with one of these words").fill(word)
    page.get_by_label("star it").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Show what it would hit").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What it would hit")).to_be_visible()
    assert not Rule.objects.acting().exists()
    page.get_by_role("button", name="Save", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Rule", exact=True)).to_be_visible()
    rule = Rule.objects.acting().get()
    assert (rule.words, rule.deeds) == (word, ["star"])
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / "rule-made.png", full_page=True)
    keeper.goto("/settings/rules/")
    expect(page.get_by_role("link", name=f"with “{word}”: star it")).to_be_visible()
    rule.delete()
    assert not keeper.complaints


def test_moving_in_asks_for_what_is_missing(keeper: Visitor) -> None:
    page = keeper.page
    keeper.goto("/me/move/")
    page.get_by_role("button", name="Show what would come").click()
    expect(page.get_by_role("alert")).to_contain_text("Write the address of the other reader.")
