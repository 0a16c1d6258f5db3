# ruff: noqa: E501 (documents stand as they come)
"""What an entry is known by, and where it leads."""

from __future__ import annotations

import pytest

from crawler.reading.documents import Entry
from crawler.reading.feeds import parse_feed

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


LINK = "<link>https://example.org/releases</link>"


def test_entries_without_guid_that_share_a_link_are_told_apart_by_title_and_time() -> None:
    found = entries(
        f"<item>{LINK}<title>1.2</title></item><item>{LINK}<title>1.1</title></item>"
        f"<item>{LINK}<title>1.1</title><pubDate>Sat, 06 Mar 2021 14:05:09 GMT</pubDate></item>"
        f"<item>{LINK}<title>1.2</title></item><item><guid>g</guid>{LINK}<title>1.0</title></item>"
    )
    assert [e.title for e in found] == ["1.2", "1.1", "1.1", "1.0"]
    assert [e.url for e in found] == ["https://example.org/releases"] * 4
    assert found[0].identity == "https://example.org/releases" and found[3].identity == "g"
    assert len({e.identity for e in found}) == 4
    assert all(e.identity.startswith("https://example.org/releases#") for e in found[1:3])


def test_what_sets_such_entries_apart_is_neither_their_place_nor_an_edit() -> None:
    def item(title: str, text: str) -> str:
        return f"<item>{LINK}<title>{title}</title><description>{text}</description></item>"

    before = entries(item("3", "a") + item("2", "b") + item("1", "c"))
    after = entries(item("3", "a") + item("1", "c, edited") + item("2", "b"))
    assert {e.title: e.identity for e in before} == {e.title: e.identity for e in after}


def test_entries_that_share_a_link_and_have_no_title_are_told_apart_by_what_they_say() -> None:
    found = entries(
        f"<item>{LINK}<description>a</description></item><item>{LINK}<description>b</description></item>"
    )
    assert [e.text for e in found] == ["a", "b"]


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
        ("<guid>/posts/1</guid>", "https://example.org/posts/1"),
        ("<guid>posts/1.html?a=b:c</guid>", "https://example.org/blog/posts/1.html?a=b:c"),
        ('<guid isPermaLink="TRUE">1.html</guid>', "https://example.org/blog/1.html"),
        ('<guid isPermaLink="false">/posts/1</guid>', ""),
        ("<guid>/posts/1</guid><link>/posts/2</link>", "https://example.org/posts/2"),
        ("<guid>12345</guid>", ""),
        ("<guid>tag:example.org,2024:/posts/1</guid>", ""),
        ("<guid>either / or</guid>", ""),
        ("<guid>urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a</guid>", ""),
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
        ("The &lt;b> element", "The <b> element"),
        ("The &lt;b> and &lt;i> elements", "The <b> and <i> elements"),
        ("Why &lt;p>, &lt;li> and &lt;img> are empty", "Why <p>, <li> and <img> are empty"),
        ("When to close &lt;/p> and &lt;/div> again", "When to close </p> and </div> again"),
        ("&lt;p>Said by &lt;i>me&lt;/i>&lt;/p>", "Said by me"),
        ("&lt;p>A note that was cut", "A note that was cut"),
        ("was cut too&lt;/p>", "was cut too"),
        ("one&lt;p>two&lt;br/>three", "one two three"),
        ("see &lt;a href='/x'>here", "see here"),
        ("&lt;img src='x.png'> seen", "seen"),
        ("&amp;lt;b&amp;gt;bold&amp;lt;/b&amp;gt;", "bold"),
        ("The &amp;lt;table&amp;gt; element", "The <table> element"),
    ],
)
def test_titles_are_plain_text(given: str, title: str) -> None:
    assert entries(f"<item><guid>1</guid><title>{given}</title></item>")[0].title == title


@pytest.mark.parametrize(
    ("kind", "given", "title"),
    [
        ('type="text"', "&lt;b>not bold&lt;/b>", "<b>not bold</b>"),
        ('type="html"', "&lt;b>bold&lt;/b> &amp;amp; x", "bold & x"),
        ('type="html"', "The &amp;lt;b>shown&amp;lt;/b> tags", "The <b>shown</b> tags"),
        (
            'type="xhtml"',
            '<div xmlns="http://www.w3.org/1999/xhtml">A <b>b</b> &lt;i>c&lt;/i></div>',
            "A b <i>c</i>",
        ),
        ("", "&lt;b>bold by mistake&lt;/b>", "bold by mistake"),
        ("", "The &lt;b> element", "The <b> element"),
    ],
)
def test_titles_of_atom_are_what_they_are_declared_as(kind: str, given: str, title: str) -> None:
    body = f'<feed xmlns="http://www.w3.org/2005/Atom"><title {kind}>{given}</title><entry><id>1</id><title {kind}>{given}</title></entry></feed>'
    found = parse_feed(body.encode(), url=URL)
    assert (found.title, found.entries[0].title) == (title, title)


def test_long_titles_fit_into_an_index() -> None:
    (found,) = entries(
        f"<item><guid>1</guid><title>{chr(0x1F600) * 1000}</title></item>",
        f"<title>{chr(0x1F600) * 1000}</title>",
    )
    assert set(found.title) == {chr(0x1F600)} and 500 < len(found.title) <= 600


def item(guid: str, link: str, title: str) -> str:
    return f"<item><guid isPermaLink='false'>{guid}</guid><link>{link}</link><title>{title}</title></item>"


def identities_of(*items: str) -> list[str]:
    document = f"<rss><channel>{''.join(items)}</channel></rss>".encode()
    return [entry.identity for entry in parse_feed(document, url="https://example.org/feed").entries]


def test_articles_that_share_a_guid_are_told_apart_by_their_links() -> None:
    items = [item("same", f"https://example.org/{number}", f"Title {number}") for number in range(5)]
    names = identities_of(*items)
    assert len(set(names)) == 5
    assert names[1:] == identities_of(*items[1:])
    assert identities_of(items[0]) == ["same"]


def test_one_article_that_stands_twice_under_its_guid_is_one() -> None:
    assert identities_of(item("g", "/1", "Old"), item("g", "/1", "New")) == ["g"]
    assert identities_of(item("g", "/1?a", "Same"), item("g", "/1?b", "Same")) == ["g"]
