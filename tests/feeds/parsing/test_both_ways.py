"""The same document gives the same entries by the fast reader, the mender and feedparser."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import format_datetime
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.reading.documents import FeedDocument
from crawler.reading.feeds import parse_feed
from crawler.reading.feeds.build import document
from crawler.reading.feeds.tolerant import read_tolerantly
from crawler.reading.limits import Limits

URL = "https://example.org/feed"
LIMITS = Limits()

words = st.text(st.sampled_from("abc XYZ äé–日本 <>&\"'1."), max_size=20)
names = st.text(st.sampled_from("Abcdé 日"), min_size=1, max_size=12).map(lambda s: f"N {s}".strip())
markup = st.lists(
    st.sampled_from(
        [
            "<p>one</p>",
            "text ",
            "<b>bold</b>",
            '<a href="/x">l</a>',
            "<img src='i.png'>",
            "<br>",
            "&amp;",
            "<i>ü</i>",
        ]
    ),
    max_size=6,
).map("".join)
entry = st.fixed_dictionaries(
    {
        "id": st.uuids().map(str),
        "link": st.sampled_from(["", "https://example.org/a?b=1&c=2", "/rel", "//h.example/x"]),
        "title": words,
        "author": st.one_of(st.just(""), names),
        "category": st.lists(names, max_size=2, unique=True),
        "date": st.one_of(st.none(), st.datetimes().filter(lambda d: d.year >= 1970)),
        "summary": markup,
        "content": markup,
        "media": st.sampled_from(["", "https://example.org/a.mp3"]),
    }
)
corpus = st.lists(entry, max_size=4)
Item = dict[str, object]


def optional(template: str, value: object) -> str:
    return template.format(escape(str(value))) if value else ""


def rss2(items: list[Item]) -> str:
    def item(e: Item) -> str:
        date = format_datetime(e["date"]) if e["date"] else ""
        return (
            f'<item><guid isPermaLink="false">{e["id"]}</guid>'
            + optional("<link>{}</link>", e["link"])
            + optional("<title>{}</title>", e["title"])
            + optional("<dc:creator>{}</dc:creator>", e["author"])
            + "".join(optional("<category>{}</category>", c) for c in e["category"])
            + optional("<pubDate>{}</pubDate>", date)
            + optional("<description>{}</description>", e["summary"])
            + optional("<content:encoded>{}</content:encoded>", e["content"])
            + optional('<enclosure url="{}" length="5" type="audio/mpeg"/>', e["media"])
            + "</item>"
        )

    return (
        '<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>T &amp; t</title>'
        "<link>https://example.org/</link><description>d</description><language>en</language><ttl>60</ttl>"
        f"<skipHours><hour>3</hour></skipHours>{''.join(map(item, items))}</channel></rss>"
    )


def rss1(items: list[Item]) -> str:
    def item(e: Item) -> str:
        date = e["date"].isoformat() + "Z" if e["date"] else ""
        return (
            f'<item rdf:about="urn:{e["id"]}">'
            + optional("<title>{}</title>", e["title"])
            + optional("<link>{}</link>", e["link"])
            + optional("<description>{}</description>", e["summary"])
            + optional("<dc:creator>{}</dc:creator>", e["author"])
            + optional("<dc:date>{}</dc:date>", date)
            + "".join(optional("<dc:subject>{}</dc:subject>", c) for c in e["category"])
            + "</item>"
        )

    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>T</title>'
        f"<link>https://example.org/</link></channel>{''.join(map(item, items))}</rdf:RDF>"
    )


def atom(items: list[Item]) -> str:
    def item(e: Item) -> str:
        date = e["date"].isoformat() + "Z" if e["date"] else ""
        return (
            f"<entry><id>urn:{e['id']}</id>"
            + optional('<title type="html">{}</title>', escape(str(e["title"])))
            + optional('<link href="{}"/>', e["link"])
            + optional("<author><name>{}</name></author>", e["author"])
            + "".join(optional('<category term="{}"/>', c) for c in e["category"])
            + optional("<published>{0}</published><updated>{0}</updated>", date)
            + optional('<summary type="html">{}</summary>', e["summary"])
            + optional('<content type="html">{}</content>', e["content"])
            + optional('<link rel="enclosure" href="{}" length="5" type="audio/mpeg"/>', e["media"])
            + "</entry>"
        )

    return (
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>T</title><link href="https://example.org/"/>'
        f'<link rel="self" href="/feed"/><link rel="hub" href="https://hub.example/"/>'
        f"{''.join(map(item, items))}</feed>"
    )


def fast(text: str) -> FeedDocument:
    found = parse_feed(text.encode(), url=URL)
    assert found.well_formed
    return found


def mended(text: str) -> FeedDocument:
    found = parse_feed(f"\n<?xml version='1.0'?>{text} &nbsp; junk".encode(), url=URL)
    assert not found.well_formed
    return replace(found, well_formed=True)


def slow(text: str) -> FeedDocument:
    raw = read_tolerantly(text, LIMITS)
    assert raw is not None
    return document(raw, URL, LIMITS, well_formed=True)


@pytest.mark.parametrize("written", [rss2, rss1, atom])
@pytest.mark.parametrize("other", [mended, slow])
@settings(max_examples=60, deadline=None)
@given(items=corpus)
def test_all_ways_give_the_same_feed(
    other: Callable[[str], FeedDocument], written: Callable[[list[Item]], str], items: list[Item]
) -> None:
    text = written(items)
    assert other(text) == fast(text)
