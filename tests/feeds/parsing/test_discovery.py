# ruff: noqa: E501 (documents stand as they come)
"""Feeds that HTML pages name."""

from __future__ import annotations

import time

from crawler.reading.documents import FeedLink
from crawler.reading.feeds import feed_links

URL = "https://example.org/blog/"


def links(html: str, **options: str) -> list[str]:
    return [link.url for link in feed_links(html.encode(), url=URL, **options)]


def test_it_finds_declared_feeds_with_title_and_type() -> None:
    html = (
        b'<head><link rel="Alternate" type="application/RSS+xml" title="News &amp; more" href="/rss"></head>'
    )
    assert feed_links(html, url=URL) == (
        FeedLink("https://example.org/rss", "News & more", "application/rss+xml"),
    )


def test_it_puts_the_likeliest_first_and_comments_last() -> None:
    html = """<link rel=alternate type=application/rss+xml title="Comments" href="/comments/feed/">
    <a href="/feed/">Subscribe</a><link rel=alternate type=text/xml href="/some.xml">
    <link rel=alternate type=application/rdf+xml href="/rdf"><link rel=alternate type=application/feed+json href="/json">
    <link rel=alternate type=application/atom+xml href="atom">"""
    paths = [u.removeprefix("https://example.org/") for u in links(html)]
    assert paths == ["blog/atom", "json", "rdf", "some.xml", "comments/feed/", "feed/"]


def test_it_takes_anchors_that_look_like_feeds_only() -> None:
    html = """<a href="/rss.xml">a</a><a href="x/atom.xml#f">b</a><a href="/feed">c</a><a href="/feed.json">d</a><a href="/?feed=rss2">e</a>
    <a href="/feedback">no</a><a href="/rss-tutorial">no</a><a href="/atoms">no</a><a href="mailto:feed">no</a>"""
    assert links(html) == [
        "https://example.org/rss.xml",
        "https://example.org/blog/x/atom.xml",
        "https://example.org/feed",
        "https://example.org/feed.json",
        "https://example.org/?feed=rss2",
    ]


def test_it_respects_base_and_names_each_feed_once() -> None:
    html = """<base href="//cdn.example/x/"><a href="feed/">y</a><link rel=alternate type=application/rss+xml href="feed/">"""
    assert [(f.url, f.type) for f in feed_links(html.encode(), url=URL)] == [
        ("https://cdn.example/x/feed/", "application/rss+xml")
    ]


def test_it_ignores_other_alternates_and_addresses() -> None:
    html = """<link rel=alternate hreflang=de href="/de"><link rel=stylesheet type=text/css href=a.css>
    <link rel=alternate type=application/rss+xml href="javascript:x"><link rel=alternate type=application/rss+xml>
    <link rel=alternate type=application/json href="/wp-json/wp/v2/posts/1">"""
    assert links(html) == []


def test_it_reads_titles_in_the_page_s_encoding() -> None:
    html = '<link rel=alternate type=application/rss+xml title="Größe" href=f>'.encode("cp1252")
    assert feed_links(html, url=URL, content_type="text/html; charset=windows-1252")[0].title == "Größe"


def test_hostile_pages_end_soon() -> None:
    start = time.process_time()
    assert links("<div>" * 200_000 + "<a href=/feed>x</a>") == []
    assert links("") == links("\0") == []
    many = "".join(f'<a href="/{i}/feed">x</a>' for i in range(50_000))
    assert len(links(many)) == 30
    links("<link " + " ".join(f"a{i}=1" for i in range(5_000)) + ">")
    assert time.process_time() - start < 3
