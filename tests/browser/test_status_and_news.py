"""The status page and the line about an upgrade in a browser: on a phone, in the dark, with the keyboard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, expect

from crawler.accounts.models import Account
from crawler.operation.site import news, status
from crawler.operation.site.models import VersionStart
from crawler.operation.site.news import NEWS
from tests.browser.conftest import Visitor
from tests.browser.fit import SIZES, sticks_out, too_small_for_thumbs

SHOTS = os.environ.get("SHOTS")


@pytest.fixture
def upgrade(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An upgrade of yesterday, for people who have been here for longer."""
    monkeypatch.setattr(news, "version", lambda: NEWS[0].version)
    monkeypatch.setattr(news, "_read", {})
    monkeypatch.setattr(status, "_last", [])
    Account.objects.update(news_seen="")
    since = datetime.now(UTC) - timedelta(days=1)
    VersionStart.objects.create(version=NEWS[0].version, since=since)
    people = User.objects
    joined = dict(people.values_list("pk", "date_joined"))
    people.update(date_joined=since - timedelta(days=30))
    yield
    for key, at in joined.items():
        people.filter(pk=key).update(date_joined=at)
    VersionStart.objects.all().delete()
    Account.objects.update(news_seen="")


def shoot(visitor: Visitor, name: str) -> None:
    """Take a picture where one is wanted."""
    if SHOTS:
        visitor.page.screenshot(path=Path(SHOTS) / f"{name}.png")


@pytest.mark.parametrize("size", SIZES)
def test_both_pages_and_the_line_fit(keeper: Visitor, upgrade: None, size: tuple[int, int]) -> None:
    page = keeper.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme="dark" if size[0] < 500 else "light")
    for path in ("/read/", "/status/", "/new/"):
        keeper.goto(path)
        assert not sticks_out(page)
        if size[0] < 500:
            assert not too_small_for_thumbs(page, ".newsline, .page")
        shoot(keeper, f"{path.strip('/')}-{size[0]}")
    assert not keeper.complaints


def test_the_line_is_put_away_with_the_keyboard(keeper: Visitor, upgrade: None) -> None:
    page = keeper.goto("/read/")
    line = page.locator("#news-line")
    expect(line).to_contain_text("Freshet is new since yesterday")
    line.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(line).to_have_count(0)
    keeper.goto("/read/")
    expect(line).to_have_count(0)
    assert not keeper.complaints


def test_a_stranger_reads_one_sentence(demo: str, transactional_db: None, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    visitor = Visitor(context.new_page(), demo)
    visitor.listen()
    page = visitor.goto("/status/")
    expect(page.locator("h1")).to_have_count(1)
    assert not sticks_out(page)
    shoot(visitor, "stranger")
    assert not visitor.complaints
    context.close()
