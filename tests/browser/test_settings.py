"""Settings, from the pages alone: tokens, the budget, sign-up, looks, interests; each tab looked at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from crawler.engine.chosen import chosen, put_back
from crawler.web.roles import OWNER, give_role
from crawler.web.settings_tabs import TABS
from feeds.laboratory.models import Experiment
from feeds.models import PlanningRules
from feeds.visiting.rules import rules
from tests.browser.conftest import Visitor, signed_in
from tests.browser.test_pages import barriers
from tests.factories import make_user
from tests.feeds.laboratory.test_answer import DELAYS

TAB_PATHS = ["/settings/", *(f"/settings/{key}/" for key in TABS)]


@pytest.fixture
def owner(demo: str, transactional_db: None, browser: Browser) -> Any:
    """An owner of the deployment, in a browser of their own."""
    give_role(make_user("olga"), OWNER)
    with signed_in(demo, browser, "olga") as context:
        visitor = Visitor(context.new_page(), demo)
        visitor.listen()
        yield visitor
    User.objects.filter(username="olga").delete()


def test_a_token_is_made_used_and_revoked(keeper: Visitor) -> None:
    page = keeper.goto("/settings/")
    page.get_by_role("link", name="Apps and keys").first.click()
    page.get_by_label("What is it for?").fill("Home display")
    page.get_by_role("button", name="Make a token").click()
    secret = page.locator("#made-token").inner_text()
    headers = {"Authorization": f"Token {secret}"}
    assert Client().get("/api/articles/", headers=headers).status_code == 200
    page.goto(f"{keeper.address}/settings/apps/")
    expect(page.locator("#made-token")).to_have_count(0)
    page.get_by_role("button", name="Take back Home display").click()
    expect(page.locator("#main")).to_contain_text("opens nothing any more")
    assert Client().get("/api/articles/", headers=headers).status_code == 401
    assert keeper.complaints == []


def test_what_twice_the_budget_would_bring_and_setting_it(keeper: Visitor) -> None:
    budget = rules().budget
    outcomes = [
        {
            "policy": "freshness", "budget": budget * factor, "error": "", "spent": factor,
            "metrics": {"delay_mean": delay, "delay_p50": delay / 2, "delay_p95": delay * 2, "lost": 0},
            "pending_by_hour": [], "delays": [delay * share / 50 for share in range(1, 100)], "seconds": 1,
        }
        for factor, delay in DELAYS.items()
    ]  # fmt: skip
    row = Experiment.objects.create(
        name="own", source="history", policies=["freshness"], budget=budget, curve=True, feeds=20,
        articles=400, days=20, result={"outcomes": outcomes, "sends": 1}, finished=datetime.now(UTC),
    )  # fmt: skip
    try:
        page = keeper.goto("/tools/")
        page.locator(".shop").get_by_role("link", name="Lab").click()
        expect(page.locator(".labanswer")).to_contain_text("18 minutes earlier")
        for width in (390, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert barriers(page) == []
        page.get_by_role("button", name="Set ").click()
        expect(page.locator("#toast")).to_contain_text("next round of visits")
        assert rules().budget == pytest.approx(2 * budget)
        page.locator("#toast").get_by_role("button", name="Undo").click()
        expect(page.locator("#main")).to_contain_text("set as before")
        assert rules().budget == pytest.approx(budget)
    finally:
        row.delete()
        PlanningRules.objects.all().delete()


def test_who_may_sign_up_is_found_and_changed(owner: Visitor) -> None:
    page = owner.goto("/settings/")
    page.get_by_role("link", name="Sign-up").first.click()
    expect(page.locator(".lead")).to_contain_text("by invitation")
    page.get_by_label("Anyone").check()
    expect(page.locator("#toast")).to_contain_text("Kept.")
    assert chosen("SIGN_UP") == "open"
    page.locator("#toast").get_by_role("button", name="Undo").click()
    expect(page.locator("#main")).to_contain_text("set as before")
    put_back("SIGN_UP", None)
    assert owner.complaints == []


def test_a_look_holds_at_once_and_after_a_reload(keeper: Visitor) -> None:
    page = keeper.goto("/settings/reading/")
    page.get_by_label("Dark", exact=True).check()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_label("Single keys").uncheck()
    page.goto(f"{keeper.address}/read/")
    page.keyboard.press("?")
    expect(page.locator("#keys")).not_to_be_visible()
    page.goto(f"{keeper.address}/settings/reading/")
    page.get_by_role("button", name="Set everything here back").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")


def test_an_interest_is_moved_by_keyboard_muted_and_added(keeper: Visitor) -> None:
    page = keeper.goto("/settings/interests/")
    slider = page.locator('input[type="range"]').first
    slider.focus()
    slider.press("End")
    expect(page.locator("#toast")).to_contain_text("Kept.")
    expect(slider).to_have_attribute("aria-valuetext", "much more")
    page.get_by_label("A word, a feed or a person").fill("lighthouse")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".tune", has_text="lighthouse")).to_be_visible()
    page.get_by_role("button", name="Mute lighthouse").click()
    expect(page.locator(".tune.muted")).to_contain_text("lighthouse")
    assert barriers(page) == []
    page.get_by_role("button", name="Muted lighthouse").click()
    assert keeper.complaints == []


def test_what_was_done_is_told_once(keeper: Visitor) -> None:
    page = keeper.goto("/settings/budget/")
    page.get_by_label("Between two requests to one site").fill("3")
    page.keyboard.press("Tab")
    expect(page.locator("#toast")).to_be_visible()
    page.goto(f"{keeper.address}/settings/mail/")
    expect(page.locator("#toast")).not_to_be_visible()
    put_back("FETCH_HOST_SPACING_SECONDS", None)


@pytest.mark.parametrize("path", TAB_PATHS)
def test_each_tab_is_accessible_and_fits(owner: Visitor, path: str) -> None:
    page: Page = owner.goto(path)
    assert barriers(page) == []
    page.emulate_media(color_scheme="dark")
    for width in (390, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 390, "height": 844})
    assert barriers(page) == []
    assert owner.complaints == []
