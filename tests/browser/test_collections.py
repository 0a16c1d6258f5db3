"""Collections in a browser: made from an article, shared by two people, taken along as files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect
from warcio.archiveiterator import ArchiveIterator

from articles.models import Article
from articles.saved.models import Collection
from tests.browser.conftest import Visitor, signed_in
from tests.browser.test_pages import COLOURS, barriers

SCROLL_WIDTH = "document.documentElement.scrollWidth"


@pytest.fixture
def article(keeper: Visitor) -> Iterator[Article]:
    followed = Article.objects.filter(feed__subscriptions__subscriber__user__username="keeper")
    User.objects.get_or_create(username="friend")
    yield followed.exclude(text="").earliest("pk")
    Collection.objects.all().delete()
    User.objects.filter(username="friend").delete()


def taken(page: Page, name: str, folder: Path) -> bytes:
    page.locator("summary[aria-label='Take this list along']").click()
    with page.expect_download() as file:
        page.get_by_role("link", name=name, exact=True).click()
    file.value.save_as(folder / "file")
    page.keyboard.press("Escape")
    return (folder / "file").read_bytes()


def test_two_people_share_a_collection(
    keeper: Visitor, article: Article, browser: Browser, tmp_path: Path
) -> None:
    page = keeper.goto(f"/read/{article.pk}/")
    page.get_by_text("Add to a collection").click()
    page.get_by_label("Name of a new collection").fill("Winter boats")
    page.get_by_label("A note for the others").fill("for the Friday page")
    page.get_by_label("Name of a new collection").press("Enter")
    expect(page.locator("body")).to_contain_text("Added to Winter boats.")
    row = Collection.objects.get()
    page = keeper.goto(f"/collections/{row.pk}/")
    expect(page.locator("main")).to_contain_text("for the Friday page")
    page.get_by_label("Name of a person here").fill("friend")
    page.get_by_label("What they may do").select_option("add")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.locator("main")).to_contain_text("reads and adds")
    rows = list(csv.reader(io.StringIO(taken(page, "CSV", tmp_path).decode("utf-8-sig"))))
    assert len(rows) == 2
    assert str(article) in " ".join(rows[1])
    (item,) = json.loads(taken(page, "JSON Feed", tmp_path))["items"]
    assert item["title"] == str(article)
    kinds = [record.rec_type for record in ArchiveIterator(io.BytesIO(taken(page, "WARC", tmp_path)))]
    assert kinds[0] == "warcinfo"
    assert "@" in taken(page, "BibTeX", tmp_path).decode()
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        for path in (f"/collections/{row.pk}/", f"/collections/{row.pk}/{article.pk}/", "/collections/"):
            keeper.goto(path)
            assert page.evaluate(SCROLL_WIDTH) <= width, path
            assert barriers(page, *(COLOURS if scheme == "dark" else ())) == [], path
    with signed_in(keeper.address, browser, "friend") as context:
        friend = Visitor(context.new_page(), keeper.address)
        friend.goto("/collections/").get_by_role("link", name="Winter boats").click()
        expect(friend.page.locator("main")).to_contain_text("Shared by keeper.")
        friend.page.get_by_role("link", name=str(article)).first.click()
        expect(friend.page.locator("h1")).to_contain_text(str(article)[:40])
        friend.goto(f"/collections/{row.pk}/").get_by_role("button", name="Leave the collection").click()
        expect(friend.page.locator("main")).to_contain_text("There is no collection yet.")
    assert keeper.complaints == []
