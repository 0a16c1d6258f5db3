"""Pages that leave out the tags of head and body, as HTML lets them."""

from __future__ import annotations

import pytest

from crawler.reading.pages.extract import extract_page
from crawler.reading.watched import ReadingRules, document_lines

TEXT = "Some words about the river and the town, which are long enough to be read as a text. "
REST = "".join(f"<p>{TEXT}{number}</p>" for number in range(8))
PAGES = [
    f"<!doctype html><html lang=en><title>A title</title><main><h1>H</h1>{REST}</main></html>",
    f"<!doctype html><title>A title</title><article>{REST}</article>",
    f"<!doctype html><meta charset=utf-8><title>A title</title><my-page>{REST}</my-page>",
    f"<!doctype html><title>A title</title><section>Top of it</section><main>{REST}</main><p>After</p>",
    f"<!doctype html><html><head><title>A title</title></head><body><main>{REST}</main></body></html>",
]


@pytest.mark.parametrize("page", PAGES)
def test_their_text_is_read(page: str) -> None:
    read = extract_page(page.encode(), url="http://a.example/")
    assert read.title == "A title"
    assert TEXT.strip() in read.text
    lines = document_lines(page.encode(), "text/html", "http://a.example/", ReadingRules())
    assert f" {TEXT}7" in lines


def test_the_order_stays() -> None:
    lines = document_lines(PAGES[3].encode(), "text/html", "http://a.example/", ReadingRules())
    texts = [line.strip() for line in lines]
    assert texts.index("Top of it") < texts.index(f"{TEXT}0") < texts.index(f"{TEXT}7") < texts.index("After")
