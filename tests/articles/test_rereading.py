"""Stored pages are read again when terminals read better; what cannot be read keeps what it had."""

import zlib

import pytest

from articles.messages import PAGE_READING, Reread, StoredPage
from articles.models import Article, Page
from articles.pages import outdated, take_again
from articles.terminal import read_again
from crawler.messages import Harvest, decode, encode
from crawler.reading.documents import PageDocument
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
    return [decode(Reread, encode(Reread(page.permit, read_again(page)))) for page in sent]


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


@pytest.mark.parametrize("permit", ["", "1", "1:2:3", "another's"])
def test_nobody_rewrites_a_page_without_the_permit(stored, permit):
    other = outdated(10)[0].permit.replace(str(stored.pk), str(stored.pk + 1), 1)
    forged = PageDocument(title="Forged", text="Forged", canonical_url="https://news.example/")
    harvest = Harvest("page", stored.pk, 0.0, stored.url, payload=forged)
    assert take_again([Reread(other if permit == "another's" else permit, harvest)]) == 0
    stored.refresh_from_db()
    assert (stored.reading, stored.text) == ("0", "old")


def test_no_page_gets_an_address_that_runs_a_script(stored):
    (page,) = outdated(10)
    document = PageDocument(text="New text", canonical_url="javascript:alert(1)")
    assert take_again([Reread(page.permit, Harvest("page", page.id, 0.0, page.url, payload=document))]) == 1
    stored.refresh_from_db()
    assert (stored.text, stored.canonical_url) == ("New text", "")


def test_a_page_that_cannot_be_stored_keeps_no_other_from_it(stored):
    page = outdated(10)[0]
    other = Page.objects.create(
        url="https://news.example/other", url_key="1" * 32, host=stored.host, status="stored", reading="0",
        html=stored.html,
    )  # fmt: skip
    bad = Reread(page.permit, Harvest("page", page.id, 0.0, page.url, payload=PageDocument(text="NUL \0")))
    good = again([one for one in outdated(10) if one.id == other.pk])
    assert take_again([bad, *good]) == 1
    assert outdated(10) == []
    stored.refresh_from_db()
    assert stored.text == "old"
