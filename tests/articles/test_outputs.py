"""The item model and its three formats: what is in them, and that nothing breaks them."""

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import feedparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from crawler.reading.documents import CategoryTerm, Details, FileLink
from crawler.reading.feeds import parse_feed
from crawler.web.syndication.atom import write_atom
from crawler.web.syndication.item import (
    Attachment,
    Channel,
    Item,
    ItemSource,
    attachment,
    full_body,
    legal,
    paragraphs,
    short_body,
    web_url,
)
from crawler.web.syndication.json_feed import write_json_feed
from crawler.web.syndication.rss import write_rss

AT = datetime(2026, 3, 1, 12, 30, 15, 987654, tzinfo=UTC)
ATOM = "{http://www.w3.org/2005/Atom}"


def channel(**changes):
    values = {
        "id": "urn:uuid:0c1b0e52-4b44-5a83-8a0d-000000000001",
        "title": "Mine",
        "description": "Articles",
        "home_url": "https://freshet.example/me/",
        "self_url": "https://freshet.example/personal/x.rss",
        "first_url": "https://freshet.example/personal/x.rss",
        "next_url": "https://freshet.example/personal/x.rss?page=2",
        "previous_url": "",
        "updated": AT,
    }
    return Channel(**(values | changes))


def item(**changes):
    values = {
        "id": "urn:uuid:0c1b0e52-4b44-5a83-8a0d-000000000002",
        "url": "https://news.example/1?a=1&b=2",
        "title": "A <b>title</b> & more",
        "author": "Ann",
        "published": AT,
        "updated": AT,
        "summary": "<p>Short &amp; sweet</p>",
        "content": "<p>Long</p>",
        "source": ItemSource("News", "https://news.example/feed", "https://news.example/"),
        "language": "en",
        "categories": ("One", "Two"),
        "attachments": (Attachment("https://news.example/1.mp3", "audio/mpeg", 123),),
    }
    return Item(**(values | changes))


DETAILS = Details(
    duration=90, episode="3", season="2", episode_type="full", explicit=False, comments="https://news.example/c",
    comment_count=4, via=("https://via.example/",), related=("https://rel.example/",), contributors=("Bo",),
    terms=(CategoryTerm("One", "d:x"),), rights="CC BY", latitude=48.25, longitude=16.0,
    transcripts=(FileLink("https://news.example/t.vtt", "text/vtt", "es"),),
    chapters=FileLink("https://news.example/c.json", "application/json"),
)  # fmt: skip


@pytest.mark.parametrize("write", [write_rss, write_atom])
def test_feeds_pass_on_what_was_said_beside_the_text(write):
    two = (
        Attachment("https://n.example/1.mp3", "audio/mpeg", 1),
        Attachment("https://n.example/2.mp4", "video/mp4"),
    )
    document = write(channel(), [item(details=DETAILS, image="https://n.example/p.jpg", attachments=two)])
    (entry,) = parse_feed(document, url="https://freshet.example/x").entries
    details = entry.details
    assert [file.url for file in entry.enclosures] == [file.url for file in two]
    assert details.image == "https://n.example/p.jpg"
    assert (details.comments, details.comment_count) == ("https://news.example/c", 4) or write is write_atom
    assert (details.via, details.related, details.contributors) == (DETAILS.via, DETAILS.related, ("Bo",))
    assert (details.terms, details.rights, details.latitude) == (
        (CategoryTerm("One", "d:x"),),
        "CC BY",
        48.25,
    )
    if write is write_rss:
        assert (details.duration, details.episode, details.season, details.explicit) == (90, "3", "2", False)
        assert (details.transcripts, details.chapters) == (DETAILS.transcripts, DETAILS.chapters)


def test_json_passes_on_what_was_said_beside_the_text():
    document = write_json_feed(channel(), [item(details=DETAILS, image="https://n.example/p.jpg")])
    (out,) = json.loads(document)["items"]
    assert (out["image"], out["external_url"]) == ("https://n.example/p.jpg", "https://via.example/")
    assert out["_details"]["episode"] == "3"
    assert "_details" not in json.loads(write_json_feed(channel(), [item()]))["items"][0]


def test_rss_says_all_that_an_item_is():
    root = etree.fromstring(write_rss(channel(), [item()]))
    out = root.find("channel/item")
    assert root.get("version") == "2.0"
    assert out.findtext("title") == "A <b>title</b> & more"
    assert out.findtext("link") == "https://news.example/1?a=1&b=2"
    assert (out.find("guid").get("isPermaLink"), out.findtext("guid")) == ("false", item().id)
    assert parsedate_to_datetime(out.findtext("pubDate")) == AT.replace(microsecond=0)
    assert out.findtext("{http://purl.org/dc/elements/1.1/}creator") == "Ann"
    assert [c.text for c in out.findall("category")] == ["One", "Two"]
    assert out.findtext("description") == "<p>Short &amp; sweet</p>"
    assert out.findtext("{http://purl.org/rss/1.0/modules/content/}encoded") == "<p>Long</p>"
    assert dict(out.find("enclosure").attrib) == {
        "url": "https://news.example/1.mp3",
        "length": "123",
        "type": "audio/mpeg",
    }
    assert (out.find("source").get("url"), out.findtext("source")) == ("https://news.example/feed", "News")
    links = {link.get("rel"): link.get("href") for link in root.iter(f"{ATOM}link")}
    assert links["self"] == "https://freshet.example/personal/x.rss"
    assert links["next"].endswith("?page=2")
    assert "previous" not in links


def test_rss_keeps_the_elements_that_the_specification_requires():
    root = etree.fromstring(write_rss(channel(), [item(url="", content="", attachments=())]))
    assert all(root.findtext(f"channel/{name}") for name in ("title", "link", "description"))
    out = root.find("channel/item")
    assert out.find("link") is None
    assert out.findtext("title") and out.findtext("description")


def test_the_description_comes_before_the_content():
    names = [
        child.tag.rpartition("}")[2]
        for child in etree.fromstring(write_rss(channel(), [item()])).find("channel/item")
    ]
    assert names.index("description") < names.index("encoded")


def test_atom_says_all_that_an_item_is():
    root = etree.fromstring(write_atom(channel(), [item()]))
    out = root.find(f"{ATOM}entry")
    assert root.findtext(f"{ATOM}updated") == "2026-03-01T12:30:15Z"
    assert out.findtext(f"{ATOM}id") == item().id
    assert out.findtext(f"{ATOM}author/{ATOM}name") == "Ann"
    assert out.find(f"{ATOM}content").get("type") == "html"
    assert out.findtext(f"{ATOM}content") == "<p>Long</p>"
    assert out.findtext(f"{ATOM}summary") == "<p>Short &amp; sweet</p>"
    assert [c.get("term") for c in out.findall(f"{ATOM}category")] == ["One", "Two"]
    links = {link.get("rel"): link.get("href") for link in out.findall(f"{ATOM}link")}
    assert links == {"alternate": "https://news.example/1?a=1&b=2", "enclosure": "https://news.example/1.mp3"}
    source = out.find(f"{ATOM}source")
    assert all(source.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))


def test_atom_has_content_where_there_is_no_link():
    out = etree.fromstring(write_atom(channel(), [item(url="", content="")])).find(f"{ATOM}entry")
    assert out.findtext(f"{ATOM}content") == "<p>Short &amp; sweet</p>"
    assert out.find(f"{ATOM}summary") is None


def test_json_feed_says_all_that_an_item_is():
    document = json.loads(write_json_feed(channel(), [item()]))
    assert document["version"] == "https://jsonfeed.org/version/1.1"
    assert document["next_url"].endswith("?page=2")
    out = document["items"][0]
    assert (out["id"], out["content_html"]) == (item().id, "<p>Long</p>")
    assert out["date_published"] == "2026-03-01T12:30:15Z"
    assert out["authors"] == [{"name": "Ann"}]
    assert out["attachments"][0]["size_in_bytes"] == 123
    assert out["_source"]["feed_url"] == "https://news.example/feed"


def test_json_feed_leaves_out_what_is_empty_but_never_the_items():
    document = json.loads(write_json_feed(channel(next_url=""), []))
    assert document["items"] == []
    assert "next_url" not in document
    bare = json.loads(write_json_feed(channel(), [item(url="", author="", categories=(), attachments=())]))
    assert not {"url", "authors", "tags", "attachments"} & set(bare["items"][0])


wild = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    ["\x00\x08\ud800\uffff", "]]>", "<![CDATA[", "&#0;", "</item>", "\u2028"]
)


@settings(max_examples=60, deadline=None)
@given(title=wild, author=wild, summary=wild, content=wild, category=wild, name=wild)
def test_no_text_breaks_a_document(*, title, author, summary, content, category, name):
    one = item(
        title=title,
        author=author,
        summary=summary,
        content=content,
        categories=(category,),
        source=ItemSource(name, "https://news.example/feed"),
    )
    page = channel(title=name, description=title)
    rss = etree.fromstring(write_rss(page, [one]))
    # XML has one kind of line end.
    assert rss.findtext("channel/item/title").splitlines() == legal(title).splitlines()
    etree.fromstring(write_atom(page, [one]))
    assert json.loads(write_json_feed(page, [one]))["items"][0]["id"] == one.id


def test_a_feed_reader_understands_all_of_them():
    for document in (write_rss(channel(), [item()]), write_atom(channel(), [item()])):
        found = feedparser.parse(document)
        assert not found.bozo
        assert found.entries[0].id == item().id
        assert found.entries[0].link == item().url


def test_the_same_items_give_the_same_bytes():
    for write in (write_rss, write_atom, write_json_feed):
        assert write(channel(), [item()]) == write(channel(), [item()])


def test_full_text_is_the_feed_s_own_where_it_says_as_much():
    text = "Word " * 100
    assert full_body(f"<p>{text}</p>", "", text) == f"<p>{text}</p>"
    assert full_body("<p>Teaser</p>", "", text) == paragraphs(text)
    assert full_body("", "<p>Teaser</p>", "") == "<p>Teaser</p>"
    assert full_body("", "", "One\n\nTwo & <three>") == "<p>One</p><p>Two &amp; &lt;three&gt;</p>"


def test_a_summary_is_the_feed_s_or_the_beginning_of_the_text():
    assert short_body("<p>S</p>", "Text") == "<p>S</p>"
    long = short_body("", "word " * 200)
    assert re.fullmatch(r"<p>(word ?)+ …</p>", long)
    assert len(long) < 420


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "/relative", "https://a b", 'https://a"b', "", "data:x"]
)
def test_only_addresses_of_the_web_are_linked(url):
    assert web_url(url) == ""
    assert attachment({"url": url}) is None


def test_attachments_are_put_right():
    given_badly = {"url": "https://a.example/1", "type": "nonsense", "length": -5}
    assert attachment(given_badly) == Attachment("https://a.example/1", "application/octet-stream", 0)
    assert attachment("nonsense") is None
