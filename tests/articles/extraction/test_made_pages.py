# ruff: noqa: E501 (documents stand as they come)
"""Main text of pages with scripts and styles: no worse than what plain trafilatura finds."""

from __future__ import annotations

import pytest
import trafilatura

from benchmarks.made_pages import made_pages
from benchmarks.main_text import f1
from crawler.reading.errors import ReadingError
from crawler.reading.pages import extract_page
from crawler.reading.pages.maintext import main_text
from crawler.reading.pages.tree import page_tree

URL = "https://example.org/2024/page"


def ours(page: str) -> str:
    try:
        return extract_page(page.encode(), url=URL, content_type="text/html; charset=utf-8").text
    except ReadingError:
        return ""


@pytest.mark.parametrize("fast", [True, False])
def test_f1_on_made_pages_is_not_below_plain_trafilatura(fast: bool) -> None:
    pages = list(made_pages(48))
    found = [f1(ours(page), text) for page, text in pages]
    plain = [
        f1(trafilatura.extract(page, fast=fast, include_comments=False) or "", text) for page, text in pages
    ]
    assert sum(found) >= sum(plain) and min(found) > 0.9


def test_comparisons_in_scripts_are_no_tags() -> None:
    script = "for(i=0;i<n;i++){" + " ".join(f"a{i} = {i};" for i in range(400)) + "}"
    page = f"<html><head><script>{script}</script></head><body><p>{'The text of this page. ' * 20}</p></body></html>"
    assert "text of this page" in ours(page)


@pytest.mark.parametrize(
    "inside", ["<a><style>{}</style></a>", "<a><a><script>{}</script></a></a>", "<style>{}</style>"]
)
def test_styles_and_scripts_count_neither_for_nor_against_a_container(inside: str) -> None:
    hidden = inside.format(".x { color : red } " * 300)
    text = "".join(f"<p>Paragraph {i} tells what happened at the river.</p>" for i in range(30))
    page = f'<html><body><h1>Head</h1><div class="similar">{hidden}{text}</div><div>{"<a href=/x>x</a> " * 40}</div></body></html>'
    root = page_tree(page)
    assert root is not None
    found = main_text(root)
    assert "Paragraph 0 " in found and "Paragraph 29 " in found and "color" not in found


@pytest.mark.parametrize("kind", ["style", "script"])
def test_titles_and_names_hold_no_styles(kind: str) -> None:
    inner = f"<{kind}>.x{{}}</{kind}>"
    page = f"<html><body><h1>{inner}A head line</h1><span class=byline>{inner}Ann Lee</span><p>text</p></body></html>"
    found = extract_page(page.encode(), url=URL, content_type="text/html")
    assert (found.title, found.author) == ("A head line", "Ann Lee")
