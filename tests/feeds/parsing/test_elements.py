# ruff: noqa: E501
"""Every element of the formats in the table of docs/feeds.md, each read from a feed of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from crawler.reading.documents import CategoryTerm, Enclosure, FeedDocument, FileLink
from crawler.reading.feeds import parse_feed

SPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "atom": "http://www.w3.org/2005/Atom",
        "content": "http://purl.org/rss/1.0/modules/content/",
        "dc": "http://purl.org/dc/elements/1.1/",
        "dcterms": "http://purl.org/dc/terms/",
        "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
        "georss": "http://www.georss.org/georss",
        "gml": "http://www.opengis.net/gml",
        "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
        "media": "http://search.yahoo.com/mrss/",
        "podcast": "https://podcastindex.org/namespace/1.0",
        "slash": "http://purl.org/rss/1.0/modules/slash/",
        "sy": "http://purl.org/rss/1.0/modules/syndication/",
        "thr": "http://purl.org/syndication/thread/1.0",
        "wfw": "http://wellformedweb.org/CommentAPI/",
    }.items()
)
AT = 1704110400.0
DATE, ISO = "Mon, 01 Jan 2024 12:00:00 GMT", "2024-01-01T12:00:00Z"
SITE = "https://example.org"


def rss(channel: str, item: str) -> str:
    return f'<rss version="2.0" {SPACES}><channel>{channel}<item><guid>1</guid>{item}</item></channel></rss>'


def atom(channel: str, entry: str) -> str:
    start = f'<feed xmlns="http://www.w3.org/2005/Atom" {SPACES}>'
    return f"{start}{channel}<entry><id>1</id>{entry}</entry></feed>"


def rdf(channel: str, item: str) -> str:
    names = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
    about = f'rdf:about="{SITE}/1"'
    return f"<rdf:RDF {names} {SPACES}><channel>{channel}</channel><item {about}>{item}</item></rdf:RDF>"


def jsonfeed(channel: str, item: str) -> str:
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "T"} | json.loads(channel or "{}")
    return json.dumps(feed | {"items": [{"id": "1"} | json.loads(item or "{}")]})


WRITE = {"RSS 2.0": rss, "Atom": atom, "RSS 1.0": rdf, "JSON Feed": jsonfeed}

# format | element | of the channel | of the item | where it is kept | its value
ROWS: list[tuple[str, str, str, str, str, Any]] = [
    ("RSS 2.0", "channel/title", "<title>News</title>", "", "title", "News"),
    ("RSS 2.0", "channel/link", f"<link>{SITE}/</link>", "", "site_url", f"{SITE}/"),
    ("RSS 2.0", "channel/description", "<description>All</description>", "", "description", "All"),
    ("RSS 2.0", "channel/language", "<language>de-at</language>", "", "language", "de-AT"),
    ("RSS 2.0", "channel/image", "<image><url>/i.png</url></image>", "", "image", f"{SITE}/i.png"),
    ("RSS 2.0", "channel/ttl", "<ttl>90</ttl>", "", "ttl", 5400.0),
    ("RSS 2.0", "channel/skipHours", "<skipHours><hour>3</hour></skipHours>", "", "skip_hours", (3,)),
    ("RSS 2.0", "channel/skipDays", "<skipDays><day>Sunday</day></skipDays>", "", "skip_days", (6,)),
    ("RSS 2.0", "item/title", "", "<title>One</title>", "entry.title", "One"),
    ("RSS 2.0", "item/link", "", f"<link>{SITE}/1</link>", "entry.url", f"{SITE}/1"),
    ("RSS 2.0", "item/description", "", "<description>Short</description>", "entry.summary", "Short"),
    ("RSS 2.0", "item/content:encoded", "", "<content:encoded>Long</content:encoded>", "entry.content", "Long"),
    ("RSS 2.0", "item/guid", "", "", "entry.identity", "1"),
    ("RSS 2.0", "item/pubDate", "", f"<pubDate>{DATE}</pubDate>", "entry.published", AT),
    ("RSS 2.0", "item/author", "", "<author>a@b.example (Ann)</author>", "entry.author", "Ann"),
    ("RSS 2.0", "item/dc:creator", "", "<author>a@b.example</author><dc:creator>Ann</dc:creator>", "entry.author", "Ann"),
    ("RSS 2.0", "item/dc:contributor", "", "<dc:contributor>Bo</dc:contributor>", "details.contributors", ("Bo",)),
    ("RSS 2.0", "item/category", "", '<category domain="d:x">Sea</category>', "details.terms", (CategoryTerm("Sea", "d:x"),)),
    ("RSS 2.0", "item/enclosure", "", '<enclosure url="/a.mp3" type="audio/mpeg" length="5"/>',
     "entry.enclosures", (Enclosure(f"{SITE}/a.mp3", "audio/mpeg", 5),)),
    ("RSS 2.0", "item/comments", "", "<comments>/c</comments>", "details.comments", f"{SITE}/c"),
    ("RSS 2.0", "item/slash:comments", "", "<slash:comments>7</slash:comments>", "details.comment_count", 7),
    ("RSS 2.0", "item/wfw:commentRss", "", "<wfw:commentRss>/c.xml</wfw:commentRss>", "details.comments_feed", f"{SITE}/c.xml"),
    ("RSS 2.0", "item/source", "", f'<source url="{SITE}/other">Other</source>', "details.source_url", f"{SITE}/other"),
    ("RSS 2.0", "item/dc:rights", "", "<dc:rights>CC BY</dc:rights>", "details.rights", "CC BY"),
    ("RSS 2.0", "item/dc:date", "", f"<dc:date>{ISO}</dc:date>", "entry.published", AT),
    ("RSS 2.0", "item/dc:language", "", "<dc:language>fr</dc:language>", "entry.language", "fr"),
    ("RSS 2.0", "item/georss:point", "", "<georss:point>48.2 16.4</georss:point>", "details.latitude", 48.2),
    ("RSS 2.0", "item/georss:where", "", "<georss:where><gml:Point><gml:pos>1 2</gml:pos></gml:Point></georss:where>",
     "details.longitude", 2.0),
    ("RSS 2.0", "item/geo:lat", "", "<geo:lat>1</geo:lat><geo:long>-2.5</geo:long>", "details.longitude", -2.5),
    ("RSS 2.0", "item/atom:link rel=via", "", f'<atom:link rel="via" href="{SITE}/v"/>', "details.via", (f"{SITE}/v",)),
    ("RSS 2.0", "channel/sy:updatePeriod", "<sy:updatePeriod>hourly</sy:updatePeriod>", "", "update_period", 3600.0),
    ("RSS 2.0", "channel/atom:link rel=hub", f'<atom:link rel="hub" href="{SITE}/hub"/>', "", "hub", f"{SITE}/hub"),
    ("RSS 2.0", "channel/atom:link rel=self", f'<atom:link rel="self" href="{SITE}/me"/>', "", "self_url", f"{SITE}/me"),
    ("Atom", "feed/title", "<title>News</title>", "", "title", "News"),
    ("Atom", "feed/subtitle", "<subtitle>All</subtitle>", "", "description", "All"),
    ("Atom", "feed/link rel=alternate", f'<link href="{SITE}/"/>', "", "site_url", f"{SITE}/"),
    ("Atom", "feed/icon", "<icon>/i.ico</icon>", "", "icon", f"{SITE}/i.ico"),
    ("Atom", "feed/logo", "<logo>/l.png</logo>", "", "image", f"{SITE}/l.png"),
    ("Atom", "feed/author", "<author><name>Ann</name></author>", "", "entry.author", "Ann"),
    ("Atom", "entry/id", "", "", "entry.identity", "1"),
    ("Atom", "entry/title", "", "<title>One</title>", "entry.title", "One"),
    ("Atom", "entry/link rel=alternate", "", '<link href="/1"/>', "entry.url", f"{SITE}/1"),
    ("Atom", "entry/link rel=enclosure", "", '<link rel="enclosure" href="/a.mp3" type="audio/mpeg" length="5"/>',
     "entry.enclosures", (Enclosure(f"{SITE}/a.mp3", "audio/mpeg", 5),)),
    ("Atom", "entry/link rel=via", "", '<link rel="via" href="/v"/>', "details.via", (f"{SITE}/v",)),
    ("Atom", "entry/link rel=related", "", '<link rel="related" href="/r"/>', "details.related", (f"{SITE}/r",)),
    ("Atom", "entry/link rel=replies", "", '<link rel="replies" href="/c" type="text/html"/>', "details.comments", f"{SITE}/c"),
    ("Atom", "entry/thr:total", "", "<thr:total>3</thr:total>", "details.comment_count", 3),
    ("Atom", "entry/published", "", f"<published>{ISO}</published>", "entry.published", AT),
    ("Atom", "entry/updated", "", f"<updated>{ISO}</updated>", "details.updated", "2024-01-01T12:00:00+00:00"),
    ("Atom", "entry/author", "", "<author><name>Ann</name></author>", "entry.author", "Ann"),
    ("Atom", "entry/contributor", "", "<contributor><name>Bo</name></contributor>", "details.contributors", ("Bo",)),
    ("Atom", "entry/category", "", '<category term="s" scheme="d:x" label="Sea"/>', "details.terms", (CategoryTerm("s", "d:x", "Sea"),)),
    ("Atom", "entry/summary", "", "<summary>Short</summary>", "entry.summary", "Short"),
    ("Atom", "entry/content", "", "<content>Long</content>", "entry.content", "Long"),
    ("Atom", "entry/rights", "", "<rights>CC BY</rights>", "details.rights", "CC BY"),
    ("Atom", "entry/source", "", '<source><title>Other</title><link rel="self" href="/o"/></source>',
     "details.source_title", "Other"),
    ("RSS 1.0", "channel/title", "<title>News</title>", "", "title", "News"),
    ("RSS 1.0", "item/rdf:about", "", "<title>One</title>", "entry.identity", f"{SITE}/1"),
    ("RSS 1.0", "item/link", "", f"<link>{SITE}/2</link>", "entry.url", f"{SITE}/2"),
    ("RSS 1.0", "item/dc:date", "", f"<dc:date>{ISO}</dc:date>", "entry.published", AT),
    ("RSS 1.0", "item/dc:subject", "", "<dc:subject>Sea</dc:subject>", "entry.categories", ("Sea",)),
    ("RSS 1.0", "item/dc:source", "", f"<dc:source>{SITE}/s</dc:source>", "details.source_url", f"{SITE}/s"),
    ("Media RSS", "media:content", "", '<media:content url="/v.mp4" type="video/mp4" fileSize="9" medium="video" duration="61" width="640" height="360"/>',
     "entry.enclosures", (Enclosure(f"{SITE}/v.mp4", "video/mp4", 9, "video", "", 61, 640, 360),)),
    ("Media RSS", "media:group", "", '<media:group><media:content url="/v.mp4"/></media:group>',
     "entry.enclosures", (Enclosure(f"{SITE}/v.mp4", "video/mp4"),)),
    ("Media RSS", "media:thumbnail", "", '<media:thumbnail url="/t.jpg" width="320" height="180"/>', "details.image", f"{SITE}/t.jpg"),
    ("Media RSS", "media:title", "", '<media:content url="/v.mp4"><media:title>Film</media:title></media:content>',
     "entry.enclosures", (Enclosure(f"{SITE}/v.mp4", "video/mp4", title="Film"),)),
    ("Media RSS", "media:description", "", "<media:description>Seen</media:description>", "entry.summary", "Seen"),
    ("Media RSS", "media:copyright", "", "<media:copyright>CC BY</media:copyright>", "details.rights", "CC BY"),
    ("iTunes", "channel/itunes:image", '<itunes:image href="/cover.jpg"/>', "", "image", f"{SITE}/cover.jpg"),
    ("iTunes", "channel/itunes:author", "<itunes:author>Ann</itunes:author>", "", "entry.author", "Ann"),
    ("iTunes", "itunes:author", "", "<itunes:author>Ann</itunes:author>", "entry.author", "Ann"),
    ("iTunes", "itunes:image", "", '<itunes:image href="/e.jpg"/>', "details.image", f"{SITE}/e.jpg"),
    ("iTunes", "itunes:duration", "", "<itunes:duration>1:02:03</itunes:duration>", "details.duration", 3723),
    ("iTunes", "itunes:episode", "", "<itunes:episode>12</itunes:episode>", "details.episode", "12"),
    ("iTunes", "itunes:season", "", "<itunes:season>2</itunes:season>", "details.season", "2"),
    ("iTunes", "itunes:episodeType", "", "<itunes:episodeType>Bonus</itunes:episodeType>", "details.episode_type", "bonus"),
    ("iTunes", "itunes:explicit", "", "<itunes:explicit>no</itunes:explicit>", "details.explicit", False),
    ("iTunes", "itunes:summary", "", "<itunes:summary>Short</itunes:summary>", "entry.summary", "Short"),
    ("Podcasting 2.0", "podcast:transcript", "", '<podcast:transcript url="/t.vtt" type="text/vtt" language="es"/>',
     "details.transcripts", (FileLink(f"{SITE}/t.vtt", "text/vtt", "es"),)),
    ("Podcasting 2.0", "podcast:chapters", "", '<podcast:chapters url="/c.json" type="application/json+chapters"/>',
     "details.chapters", FileLink(f"{SITE}/c.json", "application/json+chapters")),
    ("Podcasting 2.0", "podcast:episode", "", "<podcast:episode>3.5</podcast:episode>", "details.episode", "3.5"),
    ("Podcasting 2.0", "podcast:season", "", "<podcast:season>4</podcast:season>", "details.season", "4"),
    ("JSON Feed", "title", '{"title": "News"}', "", "title", "News"),
    ("JSON Feed", "home_page_url", f'{{"home_page_url": "{SITE}/"}}', "", "site_url", f"{SITE}/"),
    ("JSON Feed", "feed_url", f'{{"feed_url": "{SITE}/f"}}', "", "self_url", f"{SITE}/f"),
    ("JSON Feed", "description", '{"description": "All"}', "", "description", "All"),
    ("JSON Feed", "icon", '{"icon": "/i.png"}', "", "image", f"{SITE}/i.png"),
    ("JSON Feed", "favicon", '{"favicon": "/f.png"}', "", "icon", f"{SITE}/f.png"),
    ("JSON Feed", "authors", '{"authors": [{"name": "Ann"}]}', "", "entry.author", "Ann"),
    ("JSON Feed", "language", '{"language": "de"}', "", "language", "de"),
    ("JSON Feed", "hubs", f'{{"hubs": [{{"type": "WebSub", "url": "{SITE}/hub"}}]}}', "", "hub", f"{SITE}/hub"),
    ("JSON Feed", "items/id", "", "", "entry.identity", "1"),
    ("JSON Feed", "items/url", "", '{"url": "/1"}', "entry.url", f"{SITE}/1"),
    ("JSON Feed", "items/external_url", "", '{"url": "/1", "external_url": "/2"}', "details.related", (f"{SITE}/2",)),
    ("JSON Feed", "items/title", "", '{"title": "One"}', "entry.title", "One"),
    ("JSON Feed", "items/content_html", "", '{"content_html": "<p>Long</p>"}', "entry.content", "<p>Long</p>"),
    ("JSON Feed", "items/content_text", "", '{"content_text": "a < b"}', "entry.content", "a &lt; b"),
    ("JSON Feed", "items/summary", "", '{"summary": "Short"}', "entry.summary", "Short"),
    ("JSON Feed", "items/image", "", '{"image": "/p.jpg"}', "details.image", f"{SITE}/p.jpg"),
    ("JSON Feed", "items/banner_image", "", '{"banner_image": "/b.jpg"}', "details.image", f"{SITE}/b.jpg"),
    ("JSON Feed", "items/date_published", "", f'{{"date_published": "{ISO}"}}', "entry.published", AT),
    ("JSON Feed", "items/date_modified", "", f'{{"date_modified": "{ISO}"}}', "details.updated", "2024-01-01T12:00:00+00:00"),
    ("JSON Feed", "items/authors", "", '{"authors": [{"name": "Bo"}]}', "entry.author", "Bo"),
    ("JSON Feed", "items/tags", "", '{"tags": ["Sea"]}', "entry.categories", ("Sea",)),
    ("JSON Feed", "items/language", "", '{"language": "fr"}', "entry.language", "fr"),
    ("JSON Feed", "items/attachments", "", '{"attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg", "title": "Part", "size_in_bytes": 5, "duration_in_seconds": 60}]}',
     "entry.enclosures", (Enclosure(f"{SITE}/a.mp3", "audio/mpeg", 5, "", "Part", 60),)),
]  # fmt: skip


def kept(feed: FeedDocument, where: str) -> Any:
    place, _, name = where.rpartition(".")
    entry = feed.entries[0]
    return getattr({"": feed, "entry": entry, "details": entry.details}[place], name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_element(row: tuple[str, str, str, str, str, Any]) -> None:
    kind, _, channel, item, where, value = row
    text = WRITE.get(kind, rss)(channel, item)
    assert kept(parse_feed(text.encode(), url=f"{SITE}/feed"), where) == value
    if (channel or item) and where != "entry.identity":
        bare = parse_feed(WRITE.get(kind, rss)("", "").encode(), url=f"{SITE}/feed")
        assert kept(bare, where) != value


def test_the_table_of_the_docs_has_these_elements() -> None:
    text = (Path(__file__).parents[3] / "docs" / "feeds.md").read_text()
    rows = re.findall(
        r"^\| (RSS 2\.0|Atom|RSS 1\.0|Media RSS|iTunes|Podcasting 2\.0|JSON Feed) \| `([^`]+)` \|", text, re.M
    )
    assert sorted(rows) == sorted((row[0], row[1]) for row in ROWS)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1:30", 90),
        ("1:02:03", 3723),
        ("1 hr 2 min", 3720),
        ("62 min.", 3720),
        ("PT1H2M3S", 3723),
        ("PT", 0),
        ("61.5", 61),
        ("", 0),
        ("long", 0),
        ("-4", 0),
        ("9" * 30, 0),
        ("1:2:3:4", 0),
    ],
)
def test_durations(text: str, seconds: int) -> None:
    feed = parse_feed(rss("", f"<itunes:duration>{text}</itunes:duration>").encode(), url=SITE)
    assert feed.entries[0].details.duration == seconds


@pytest.mark.parametrize(
    "item",
    [
        "<georss:point>north south</georss:point>",
        "<georss:point>91 0</georss:point>",
        "<geo:lat>nan</geo:lat><geo:long>1</geo:long>",
        '<media:thumbnail url="javascript:alert(1)"/>',
        '<podcast:chapters url="data:text/html,x"/>',
        "<slash:comments>many</slash:comments>",
        "<itunes:explicit>perhaps</itunes:explicit>",
        "<comments>mailto:a@b.example</comments>",
    ],
)
def test_odd_values_are_left_out(item: str) -> None:
    details = parse_feed(rss("", f"<title>t</title>{item}").encode(), url=SITE).entries[0].details
    odd = (
        details.image,
        details.chapters,
        details.comments,
        details.latitude,
        details.longitude,
        details.explicit,
    )
    assert odd == ("", None, "", None, None, None)
    assert details.comment_count in {None, 0}


def test_an_ill_formed_feed_keeps_its_details_too() -> None:
    item = '<title>t</title><media:thumbnail url="/t.jpg"/><itunes:duration>60</itunes:duration><comments>/c</comments>'
    text = rss("", item).replace("</guid>", "</guid><b>")
    feed = parse_feed(text.encode(), url=SITE)
    assert not feed.well_formed
    details = feed.entries[0].details
    assert (details.image, details.duration, details.comments) == (f"{SITE}/t.jpg", 60, f"{SITE}/c")
