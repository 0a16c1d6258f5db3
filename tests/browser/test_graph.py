"""The graph in a browser: a query asked, saved, shared and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from crawler.pipeline.models import SavedQuery
from crawler.pipeline.sparql.replica import Replica
from tests.browser.conftest import Visitor


@pytest.fixture
def replica(settings: Any, tmp_path: Path) -> Iterator[Replica]:
    """A snapshot of the graph, and no query that a test saved left behind."""
    settings.DATA_DIR = tmp_path
    replica = Replica()
    replica.follow()
    yield replica
    SavedQuery.objects.all().delete()


def test_a_query_is_saved_shared_and_deleted(keeper: Visitor, reader: Visitor, replica: Replica) -> None:
    page = keeper.goto("/graph/query/")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_label("Query").fill("ASK { ?person a foaf:Person }")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_label("Query")).to_have_value(
        "PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nASK { ?person a foaf:Person }"
    )
    page.get_by_text("Save this query").click()
    page.get_by_label("Name", exact=True).fill("Is anybody there?")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("“Is anybody there?” is saved.").first).to_be_visible()
    assert Axe().run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    other = reader.goto("/graph/query/")
    other.get_by_role("link", name="Is anybody there?").click()
    expect(other.get_by_role("heading", name="Is anybody there?")).to_be_visible()
    expect(other.get_by_role("heading", name="Answer")).to_be_visible()

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("The query is back.").first).to_be_visible()
    assert SavedQuery.objects.get().name == "Is anybody there?"
