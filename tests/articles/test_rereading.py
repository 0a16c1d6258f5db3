"""Stored pages are read again when terminals read better; what cannot be read keeps what it had."""

import zlib

import pytest

from articles.models import Article, Page
from articles.pages import outdated, take_again
from crawler.messages import PAGE_READING, Harvest, StoredPage, decode, encode
from crawler.terminals.page import read_again
from tests.factories import make_article

pytestmark = pytest.mark.django_db
HTML = "<html><head><title>Rain</title></head><body><article>" + "<p>The river rose über the wall.</p>" * 9


@pytest.fixture
def stored():
    article = make_article(text="old")
    row = Page.objects.create(
        url=article.url, url_key="0" * 32, host=article.feed.host, status="stored", reading="0", text="old",
        html=zlib.compress(HTML.encode("latin-1")), content_type="text/html; charset=iso-8859-1",
    )  # fmt: skip
    Article.objects.filter(pk=article.pk).update(page=row)
    return row


def again(pages):
    sent = [decode(StoredPage, encode(page)) for page in pages]
    return [decode(Harvest, encode(read_again(page))) for page in sent]


def test_a_page_of_an_older_reading_is_read_again(stored):
    assert take_again(again(outdated(10))) == 1
    stored.refresh_from_db()
    assert stored.reading == PAGE_READING
    assert "über the wall" in stored.text
    assert zlib.decompress(bytes(stored.html)) == HTML.encode("latin-1")
    assert "über the wall" in Article.objects.get().text
    assert Article.objects.get().enrichment.state == "waiting"
    assert outdated(10) == []


@pytest.mark.parametrize("html", [zlib.compress(b"%PDF-1.7"), b"not zlib", zlib.compress(b"<html></html>")])
def test_what_cannot_be_read_keeps_its_text(stored, html):
    Page.objects.update(html=html)
    take_again(again(outdated(10)))
    stored.refresh_from_db()
    assert (stored.reading, stored.text) == (PAGE_READING, "old")
    assert Article.objects.get().text == "old"
