"""People and topics in a browser: from the search to a followed feed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from articles.models import PersonalFeed
from tests.browser.conftest import Visitor


@pytest.fixture
def kept() -> Iterator[None]:
    """What a test follows is let go of again."""
    before = set(PersonalFeed.objects.values_list("pk", flat=True))
    yield
    PersonalFeed.objects.exclude(pk__in=before).delete()


def test_from_the_search_to_a_person_and_to_a_followed_feed(keeper: Visitor, kept: None) -> None:
    page = keeper.goto("/search/?q=vold&in=people")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("link", name="Ines Vold").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ines Vold")
    expect(page.get_by_text("Articles a month")).to_be_visible()
    page.locator(".bar").get_by_role("button", name="Follow").click()
    assert PersonalFeed.objects.filter(query__contains="Ines Vold").count() == 1
    page = keeper.goto("/about/person/Ines Vold/")
    expect(page.locator(".bar").get_by_role("button", name="Follow")).to_have_count(0)
    page.locator(".hit h3 a").first.click()
    expect(page).to_have_url(re.compile("/read/"))
    expect(page.get_by_role("link", name="Ines Vold").first).to_be_visible()
