"""What an entry is known by, and where it leads."""

from __future__ import annotations

import pytest

from crawler.messages import Entry
from feeds.parsing import parse_feed

URL = "https://example.org/blog/feed.xml"


def entries(items: str, channel: str = "", url: str = URL) -> tuple[Entry, ...]:
    return parse_feed(f"<rss><channel>{channel}{items}</channel></rss>".encode(), url=url).entries


@pytest.mark.parametrize(
    ("item", "identity"),
    [
        ("<guid> tag:x,1 </guid><link>https://a.example/</link><title>T</title>", "tag:x,1"),
        ("<guid>HTTP://A.example/x?b=1&amp;a=2#f</guid>", "HTTP://A.example/x?b=1&a=2#f"),
        ("<link>https://A.example</link><title>T</title>", "https://A.example"),
        ("<link>post/1</link>", "https://example.org/blog/post/1"),
        ("<link>//cdn.example/1</link>", "https://cdn.example/1"),
        ("<guid/><link/><title> Only a title </title>", "Only a title"),
    ],
)
def test_identity_is_guid_else_absolute_link_else_title(item: str, identity: str) -> None:
    assert entries(f"<item>{item}</item>")[0].identity == identity


def test_entries_without_any_name_are_known_by_their_content() -> None:
    first, second = entries(
        "<item><description>a</description></item><item><description>b</description></item>"
    )
    again = entries("<item><description>a</description></item>")[0]
    assert first.identity == again.identity != second.identity


def test_doubled_identities_keep_the_first() -> None:
    found = entries("<item><guid>1</guid><title>a</title></item><item><guid>1</guid><title>b</title></item>")
    assert [e.title for e in found] == ["a"]


def test_empty_items_are_no_entries() -> None:
    assert entries("<item/><item> </item>") == ()


def test_endless_identities_stay_distinct_and_bounded() -> None:
    first, second = entries(f"<item><guid>{'x' * 9000}1</guid></item><item><guid>{'x' * 9000}2</guid></item>")
    assert first.identity != second.identity and len(first.identity) <= 4000


@pytest.mark.parametrize(
    ("item", "url"),
    [
        ("<link> /a b </link>", "https://example.org/a%20b"),
        ("<link>//cdn.example/x#part</link>", "https://cdn.example/x#part"),
        ("<guid>https://example.org/g</guid>", "https://example.org/g"),
        ('<guid isPermaLink="false">https://example.org/g</guid>', ""),
        ("<link>javascript:alert(1)</link><title>t</title>", ""),
        ("<link>https://[broken</link><title>t</title>", ""),
        ("<link>ftp://example.org/x</link><title>t</title>", ""),
    ],
)
def test_url_is_absolute_and_of_the_web(item: str, url: str) -> None:
    assert entries(f"<item>{item}</item>")[0].url == url


def test_relative_links_of_a_feed_on_another_host_belong_to_its_site() -> None:
    (entry,) = entries(
        "<item><link>/1</link></item>", "<link>https://site.example/</link>", "https://feeds.example/site"
    )
    assert entry.url == entry.identity == "https://site.example/1"


def test_xml_base_is_respected() -> None:
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://base.example/x/">
    <entry xml:base="y/"><id>1</id><link href="z"/>
    <content type="html" xml:base="w/">&lt;img src="i.png"></content>
    </entry></feed>"""
    (entry,) = parse_feed(body, url=URL).entries
    assert entry.url == "https://base.example/x/y/z"
    assert entry.content == '<img src="https://base.example/x/y/w/i.png">'


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("AT&amp;amp;T", "AT&T"),
        ("Tom &amp;amp;amp; Jerry", "Tom & Jerry"),
        ("1 &lt; 2 &amp; 3", "1 < 2 & 3"),
        ("&lt;b&gt;bold&lt;/b&gt; w&lt;i&gt;or&lt;/i&gt;d", "bold word"),
        ("<![CDATA[a<br>b]]>", "a b"),
        ("std::vector&lt;int&gt;", "std::vector<int>"),
        (" a\n\t b\u00a0c ", "a b c"),
        ("&lt;script&gt;x()&lt;/script&gt;y", "y"),
        ("it&#146;s", "it\u2019s"),
    ],
)
def test_titles_are_plain_text(given: str, title: str) -> None:
    assert entries(f"<item><guid>1</guid><title>{given}</title></item>")[0].title == title
