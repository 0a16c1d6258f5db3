# ruff: noqa: E501 (documents stand as they come)
"""Every format of feeds gives the same kind of record."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from crawler.reading.documents import Enclosure, FeedDocument
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.limits import Limits

URL = "https://example.org/feed"
NOON = 1704110400.0  # 2024-01-01 12:00 UTC


def parse(text: str, **options: str) -> FeedDocument:
    return parse_feed(text.encode(), url=URL, **options)


RSS2 = """<?xml version="1.0"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
 xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>Daily &amp; News</title><link>https://example.org/</link><description>All of it</description>
<language>en-us</language><ttl>90</ttl><sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>
<skipHours><hour>0</hour><hour>24</hour><hour>13</hour></skipHours><skipDays><day>Sunday</day><day>Monday</day></skipDays>
<atom:link rel="self" href="https://example.org/feed.xml"/><atom:link rel="hub" href="https://hub.example/"/>
<image><title>Not this</title><link>https://other.example/</link></image>
<item><title>First</title><link>https://example.org/1</link><guid isPermaLink="false">tag:1</guid>
<pubDate>Mon, 01 Jan 2024 12:00:00 GMT</pubDate><dc:creator>Ann Lee</dc:creator><author>mail@example.org (Bob)</author>
<category>world</category><category>world</category><dc:subject>art</dc:subject>
<description>Short.</description><content:encoded><![CDATA[<p>The long text.</p>]]></content:encoded>
<enclosure url="/a.mp3" type="audio/mpeg" length="123"/></item>
<item><title>Second</title><guid>https://example.org/2</guid><itunes:author>Cy</itunes:author>
<media:group><media:description>Seen on film</media:description></media:group></item>
</channel></rss>"""


def test_it_reads_all_of_rss_2() -> None:
    feed = parse(RSS2)
    first, second = feed.entries
    assert (feed.format, feed.title, feed.site_url) == ("rss2.0", "Daily & News", "https://example.org/")
    assert (feed.self_url, feed.hub) == ("https://example.org/feed.xml", "https://hub.example/")
    assert (feed.ttl, feed.update_period, feed.language) == (5400, 1800, "en-US")
    assert (feed.skip_hours, feed.skip_days) == ((0, 13), (0, 6))
    assert feed.well_formed and feed.size == 2 and len(feed.fingerprints) == 24
    assert (first.identity, first.url, first.published) == ("tag:1", "https://example.org/1", NOON)
    assert (first.summary, first.content, first.text) == ("Short.", "<p>The long text.</p>", "The long text.")
    assert (first.author, first.categories) == ("Ann Lee", ("world", "art"))
    assert first.enclosures == (Enclosure("https://example.org/a.mp3", "audio/mpeg", 123),)
    assert (second.identity, second.url, second.author) == (second.url, "https://example.org/2", "Cy")
    assert (second.summary, second.published, second.language) == ("Seen on film", None, "en-US")


def test_it_reads_all_of_atom_1() -> None:
    feed = parse(
        """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="pt-br"><title type="html">A &amp;lt;b&amp;gt;x</title>
        <subtitle>sub</subtitle><link href="/"/><link rel="self" href="/atom"/><author><name>Whole</name></author>
        <entry><id>urn:1</id><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">One <b>two</b></div></title>
        <link rel="replies" href="/no"/><link rel="alternate" href="/1"/><link rel="enclosure" href="/v.mp4" type="video/mp4"/>
        <published>2024-01-01T13:00:00+01:00</published><updated>2024-01-01T12:00:01Z</updated>
        <author><name>Ann</name></author><author><name>Bob</name></author><category term="t" label="Label"/>
        <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Hello<br/>you</p></div></content></entry>
        <entry xml:lang="de"><id>urn:2</id><title>T</title><summary type="text">1 &lt; 2</summary></entry></feed>"""
    )
    first, second = feed.entries
    assert (feed.format, feed.site_url, feed.self_url) == (
        "atom1.0",
        "https://example.org/",
        "https://example.org/atom",
    )
    assert (first.identity, first.url, first.title) == ("urn:1", "https://example.org/1", "One two")
    assert (first.published, first.updated) == (NOON, NOON + 1)
    assert (first.author, first.categories, first.language) == ("Ann, Bob", ("Label",), "pt-BR")
    assert (first.content, first.text) == ("<p>Hello<br>you</p>", "Hello\nyou")
    assert first.enclosures == (Enclosure("https://example.org/v.mp4", "video/mp4"),)
    assert (second.author, second.language, second.summary) == ("Whole", "de", "1 &lt; 2")


def test_it_reads_atom_0_3() -> None:
    feed = parse(
        """<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Old</title><tagline>x</tagline>
        <entry><id>1</id><title>E</title><link rel="alternate" type="text/html" href="https://example.org/e"/>
        <issued>2024-01-01T12:00:00Z</issued><modified>2024-01-01T12:00:00Z</modified>
        <content type="text/html" mode="escaped">&lt;p&gt;Hi&lt;/p&gt;</content></entry></feed>"""
    )
    (entry,) = feed.entries
    assert (feed.format, feed.description) == ("atom0.3", "x")
    assert (entry.url, entry.published, entry.updated) == ("https://example.org/e", NOON, NOON)
    assert entry.content == "<p>Hi</p>"


@pytest.mark.parametrize(
    ("space", "name"),
    [("http://purl.org/rss/1.0/", "rss1.0"), ("http://my.netscape.com/rdf/simple/0.9/", "rss0.90")],
)
def test_it_reads_rdf_whose_items_stand_outside_the_channel(space: str, name: str) -> None:
    feed = parse(
        f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{space}"
        xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>C</title><link>https://example.org/</link></channel>
        <item rdf:about="urn:item:1"><title>I</title><link>https://example.org/i</link><dc:date>2024-01-01T12:00Z</dc:date>
        </item></rdf:RDF>"""
    )
    (entry,) = feed.entries
    assert (feed.format, feed.title) == (name, "C")
    assert (entry.identity, entry.url, entry.published) == ("urn:item:1", "https://example.org/i", NOON)


@pytest.mark.parametrize("version", ["0.91", "0.92"])
def test_it_reads_early_rss_with_its_document_type_and_entities(version: str) -> None:
    feed = parse(
        f"""<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN"
        "http://my.netscape.com/publish/formats/rss-0.91.dtd">
        <rss version="{version}"><channel><title>Caf&eacute;&nbsp;x</title><item><title>a</title></item></channel></rss>"""
    )
    assert (feed.format, feed.title, feed.entries[0].identity) == (f"rss{version}", "Café x", "a")


@pytest.mark.parametrize(("version", "name"), [("1", "json1.0"), ("1.1", "json1.1")])
def test_it_reads_json_feeds(version: str, name: str) -> None:
    item = {
        "id": 7,
        "url": "/7",
        "content_text": "a < b\nc",
        "date_published": "2024-01-01T12:00:00Z",
        "tags": ["x"],
        "authors": [{"name": "Ann"}],
        "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 5}],
    }
    body = {
        "version": f"https://jsonfeed.org/version/{version}",
        "title": "J",
        "home_page_url": "/",
        "items": [item],
    }
    feed = parse("\ufeff " + json.dumps(body))
    (entry,) = feed.entries
    assert (feed.format, feed.site_url) == (name, "https://example.org/")
    assert (entry.identity, entry.url, entry.published) == ("7", "https://example.org/7", NOON)
    assert (entry.content, entry.text, entry.author) == ("a &lt; b<br>c", "a < b\nc", "Ann")
    assert entry.enclosures == (Enclosure("https://example.org/a.mp3", "audio/mpeg", 5),)


def test_it_unpacks_gzip_that_a_server_left_undone() -> None:
    assert parse_feed(gzip.compress(RSS2.encode()), url=URL) == parse(RSS2)


FAULTS = {
    "space before the declaration": "\n  <?xml version='1.0'?><rss><channel><title>T</title>{}</channel></rss>",
    "a PHP warning first": "<br />\n<b>Warning</b>: x<?xml version='1.0'?><rss><channel><title>T</title>{}</channel></rss>",
    "junk behind": "<rss><channel><title>T</title>{}</channel></rss><script>x</script>",
    "a bare ampersand": "<rss><channel><title>T</title><copyright>A & B</copyright>{}</channel></rss>",
    "an undeclared entity": "<rss><channel><title>T</title><copyright>&copy;&nbsp;</copyright>{}</channel></rss>",
    "a control character": "<rss><channel><title>T</title><copyright>\x0b&#8;</copyright>{}</channel></rss>",
    "an undeclared prefix": "<rss><channel><title>T</title><dc:rights>x</dc:rights>{}</channel></rss>",
    "an unclosed tag": "<rss><channel><title>T</title><image>{}</channel></rss>",
    "no end": "<rss><channel><title>T</title>{}",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_reads_ill_formed_feeds(fault: str) -> None:
    item = "<item><title>E</title><link>https://example.org/e</link><description>&lt;p&gt;x&lt;/p&gt;</description></item>"
    feed = parse(FAULTS[fault].format(item))
    (entry,) = feed.entries
    assert not feed.well_formed
    assert (feed.title, entry.title, entry.url, entry.summary) == (
        "T",
        "E",
        "https://example.org/e",
        "<p>x</p>",
    )


def test_a_comment_before_the_root_is_no_fault() -> None:
    assert parse("<!-- made by <rss> tools --><rss><channel><title>T</title></channel></rss>").well_formed


def test_cdata_keeps_its_ampersands_when_the_rest_is_mended() -> None:
    feed = parse(
        "<rss><channel><title>a & b</title><item><title><![CDATA[x &amp; y & z]]></title></item></channel></rss>"
    )
    assert (feed.title, feed.entries[0].title) == ("a & b", "x & y & z")


def test_too_many_entries_leave_the_newest_in_document_order() -> None:
    items = "".join(
        f"<item><guid>{day}</guid><pubDate>{day:02d} Jan 2024 00:00 GMT</pubDate></item>"
        for day in (3, 1, 9, 5, 7)
    )
    body = f"<rss><channel>{items}</channel></rss>".encode()
    feed = parse_feed(body, url=URL, limits=Limits(entries=3))
    assert [e.identity for e in feed.entries] == ["9", "5", "7"]


def test_long_fields_are_cut() -> None:
    body = f"<rss><channel><item><title>{'t' * 5000}</title><description>{'d' * 5000}</description></item></channel></rss>"
    (entry,) = parse_feed(body.encode(), url=URL, limits=Limits(title=100, markup=200)).entries
    assert (len(entry.title), len(entry.summary)) == (100, 200)


@pytest.mark.parametrize("text", ['{"items": "x"}', '{"items": []}', "[1]", '{"a": 1}'])
def test_other_json_is_not_a_feed(text: str) -> None:
    with pytest.raises(ReadingError) as raised:
        parse(text)
    assert raised.value.kind == "not-a-feed"


def test_broken_json_is_malformed() -> None:
    with pytest.raises(ReadingError) as raised:
        parse('{"version": "https://jsonfeed.org/version/1", "items": [')
    assert raised.value.kind == "malformed"


ATOM = "http://www.w3.org/2005/Atom"
LONG_TEXT = "<p>Körper and mind, at some length.</p>"
PACKED = base64.b64encode(LONG_TEXT.encode()).decode()


@pytest.mark.parametrize(
    "content",
    [
        f'<content mode="base64" type="text/html">{PACKED}</content>',
        f'<content type="text/html">\n{PACKED[:40]}\n{PACKED[40:]}\n</content>',
        f'<content type="text/plain" mode="BASE64">{PACKED.rstrip("=")}</content>',
        f'<summary encoding="base64">{PACKED}</summary>',
    ],
)
def test_bodies_packed_as_base64_are_read(content: str) -> None:
    (entry,) = parse(f'<feed xmlns="{ATOM}"><entry><id>1</id>{content}</entry></feed>').entries
    assert entry.text == "Körper and mind, at some length."


@pytest.mark.parametrize("body", ["Internationalisation", "abcd" * 20, PACKED[:-6] + "!", "deadbeef" * 8])
def test_words_that_might_be_base64_stay_words(body: str) -> None:
    (entry,) = parse(
        f'<feed xmlns="{ATOM}"><entry><id>1</id><content type="text/plain">{body}</content></entry></feed>'
    ).entries
    assert entry.text == body


def test_content_in_other_media_types_is_no_text() -> None:
    (entry,) = parse(
        f'<feed xmlns="{ATOM}"><entry><id>1</id><content type="image/png">{PACKED}</content></entry></feed>'
    ).entries
    assert entry.text == ""


@pytest.mark.parametrize(
    ("content", "url", "media"),
    [
        ('<content type="text/html" src="/there"/>', "https://example.org/there", []),
        ('<content src="/there"/>', "https://example.org/there", []),
        ('<link href="/1"/><content type="text/html" src="/there"/>', "https://example.org/1", []),
        ('<content type="video/mp4" src="/v.mp4"/>', "", ["https://example.org/v.mp4"]),
        ('<content type="text/html" src="javascript:x"/>', "", []),
    ],
)
def test_content_that_stands_elsewhere_is_a_link_or_a_file(content: str, url: str, media: list[str]) -> None:
    (entry,) = parse(f'<feed xmlns="{ATOM}"><entry><id>1</id>{content}</entry></feed>').entries
    assert (entry.url, [one.url for one in entry.enclosures]) == (url, media)


RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


def test_it_reads_rdf_without_a_channel() -> None:
    feed = parse(
        f"""<rdf:RDF {RDF} xmlns="http://purl.org/rss/1.0/"><item rdf:about="https://example.org/i"><title>I</title>
        <link>https://example.org/i</link></item></rdf:RDF>"""
    )
    assert (feed.format, feed.title, [e.url for e in feed.entries]) == (
        "rss1.0",
        "",
        ["https://example.org/i"],
    )


def test_it_reads_rdf_with_items_inside_of_the_channel() -> None:
    feed = parse(
        f"""<rdf:RDF {RDF} xmlns="http://purl.org/rss/1.0/"><channel><title>C</title><items><rdf:Seq/></items>
        <item rdf:about="urn:1"><title>I</title></item></channel></rdf:RDF>"""
    )
    assert (feed.title, [e.title for e in feed.entries]) == ("C", ["I"])


def test_rdf_about_other_things_is_no_feed() -> None:
    with pytest.raises(ReadingError) as raised:
        parse(
            f'<rdf:RDF {RDF} xmlns:foaf="http://xmlns.com/foaf/0.1/"><foaf:Person><foaf:name>A</foaf:name></foaf:Person></rdf:RDF>'
        )
    assert raised.value.kind == "not-a-feed"


def test_it_reads_an_entry_of_atom_that_stands_alone() -> None:
    feed = parse(
        f"""<?xml version="1.0"?><entry xmlns="{ATOM}"><id>urn:1</id><title>E</title><link href="/e"/>
        <source><title>The feed</title><link href="https://site.example/"/></source><content type="html">x</content></entry>"""
    )
    (entry,) = feed.entries
    assert (feed.format, feed.title, feed.site_url) == ("atom1.0", "The feed", "https://site.example/")
    assert (entry.identity, entry.title, entry.text) == ("urn:1", "E", "x")


def test_entries_of_other_formats_are_no_feed() -> None:
    with pytest.raises(ReadingError) as raised:
        parse("<entry><word>a</word></entry>")
    assert raised.value.kind == "not-a-feed"


def test_a_namespace_with_a_blank_before_its_name_is_known() -> None:
    document = parse(
        '<feed xmlns=" http://www.w3.org/2005/Atom" xmlns:dc=" http://purl.org/dc/elements/1.1/ "><title>T</title>'
        "<entry><id>1</id><title>One</title><dc:creator>Ada</dc:creator></entry></feed>"
    )
    assert (document.title, document.entries[0].title, document.entries[0].author) == ("T", "One", "Ada")


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ("<managingEditor>ed@example.org (Ed Itor)</managingEditor>", "Ed Itor"),
        (
            '<i:author xmlns:i="http://www.itunes.com/dtds/podcast-1.0.dtd">Pod Caster</i:author>',
            "Pod Caster",
        ),
        ('<dc:creator xmlns:dc="http://purl.org/dc/elements/1.1/">Crea Tor</dc:creator>', "Crea Tor"),
    ],
)
def test_an_entry_without_author_has_that_of_its_feed(author: str, name: str) -> None:
    feed = f"<rss><channel><title>T</title>{author}<item><title>One</title></item></channel></rss>"
    assert parse(feed).entries[0].author == name


def test_feedburner_tells_the_article_s_own_address() -> None:
    (entry,) = parse(
        '<rss xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"><channel><item><guid>g</guid>'
        "<link>https://feeds.example.net/~r/x</link>"
        "<feedburner:origLink>https://example.org/article</feedburner:origLink></item></channel></rss>"
    ).entries
    assert (entry.identity, entry.url) == ("g", "https://example.org/article")


def test_packed_titles_and_texts_of_atom_are_unpacked() -> None:
    (entry,) = parse(
        f'<feed xmlns="{ATOM}"><entry><id>1</id><title mode="base64">VGhlIHRpdGxl</title>'
        f'<content type="application/html">{PACKED}</content></entry></feed>'
    ).entries
    assert entry.title == "The title"
    assert entry.text.startswith("Körper and mind")


def test_tags_of_a_json_feed_may_be_one_text() -> None:
    """Some write names with commas between, where the standard has a list."""
    body = b'{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [{"id": "1", "tags": "Sea, land"}]}'
    assert parse_feed(body, url="https://s.example/feed").entries[0].categories == ("Sea", "land")
