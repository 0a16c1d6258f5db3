"""The graph in a browser: a query asked, saved, shared and deleted."""

from __future__ import annotations

import re
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from crawler.frontier.models import Body
from crawler.pipeline.models import Document, SavedQuery, Stylesheet
from crawler.pipeline.sparql.replica import Replica
from tests.browser.conftest import Visitor

SHEET = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.example/">
  <xsl:param name="url"/><xsl:template match="/"><rdf:RDF><rdf:Description rdf:about="{$url}">
  <x:heading><xsl:value-of select="//h1"/></x:heading>
  </rdf:Description></rdf:RDF></xsl:template></xsl:stylesheet>"""


@pytest.fixture
def page_here() -> Iterator[None]:
    """A finished document with its content."""
    content = b"<html><body><h1>Soup</h1></body></html>"
    document = Document.objects.filter(state="done").latest("id")
    body = Body.objects.create(digest=uuid.uuid4(), content=zlib.compress(content), size=len(content))
    earlier = document.body_id
    Document.objects.filter(pk=document.pk).update(body=body, type="html")
    yield
    Document.objects.filter(pk=document.pk).update(body=earlier, type=document.type)
    body.delete()


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


def test_a_question_has_a_page_with_its_query(reader: Visitor, replica: Replica) -> None:
    page = reader.goto("/graph/questions/")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("link", name="Who writes most?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Who writes most?")
    page.get_by_text("The query", exact=True).click()
    page.get_by_role("link", name="Change it").click()
    expect(page.get_by_label("Query")).to_have_value(re.compile("dct:creator/foaf:name"))


def test_a_stylesheet_is_tried_and_kept(keeper: Visitor, page_here: None) -> None:
    page = keeper.goto("/pipeline/stylesheets/")
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_label("Name:").fill("Headings")
    page.get_by_label("Stylesheet (XSLT 1.0)").fill(SHEET)
    try:
        page.get_by_role("button", name="Try", exact=True).click()
        # The first trial starts a process behind walls, for which a busy machine took more than five seconds.
        expect(page.get_by_text("1 statement. Nothing was kept.")).to_be_visible(timeout=20_000)
        assert Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert not Stylesheet.objects.exists()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("“Headings” is used for what is read from now on.").first).to_be_visible()
        page.get_by_role("button", name="Switch Headings off").click()
        expect(page.get_by_role("button", name="Switch Headings on")).to_be_visible()
        page.get_by_role("button", name="Delete Headings").click()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("The stylesheet is back.").first).to_be_visible()
    finally:
        Stylesheet.objects.all().delete()
