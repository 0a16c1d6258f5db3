"""Moving in with files that other feed readers export."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from typing import Any

import pytest

from articles.moving import archives, calls, files, outlines
from articles.moving.files import read_export
from articles.moving.program import safe_part
from articles.moving.values import ForeignAccount, ForeignFilter, MovedFeed, MovingError, time_of
from tests.articles.moving.reader_servers import LOGIN, SECRET, Miniflux, ReaderServer

OPML = b"""<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0" xmlns:frss="https://freshrss.org/opml"><head><title>x</title></head><body>
<outline text="News"><outline text="Deep">
  <outline type="rss" text="One &amp; only" xmlUrl="https://one.example/feed" htmlUrl="https://one.example/"
    frss:filtersActionRead="intitle:casino&#10;author:Bob" frss:filtersActionStar="intitle:good"/>
</outline></outline>
<outline text="Two" xmlUrl="https://two.example/feed?a&b"/>
<outline type="HTML+XPath" text="Three" xmlUrl="https://three.example/" frss:xPathItem="//p"/>
<outline text="No address" xmlUrl="javascript:alert(1)"/>
</body></opml>"""


def stream(*items: dict[str, Any], key: str = "user/-/state/com.google/starred") -> dict[str, Any]:
    return {"id": key, "title": "x", "items": list(items)}


STARRED = {
    "id": "tag:google.com,2005:reader/item/1",
    "title": "Caf&eacute;",
    "published": 1_700_000_000,
    "categories": ["user/12/state/com.google/read", "user/12/label/later"],
    "alternate": [{"href": "https://one.example/1"}],
    "content": {"content": "<p>One</p><script>x</script>"},
    "origin": {"streamId": "feed/https://one.example/feed"},
}
FRESHRSS = {
    "id": "tag:google.com,2005:reader/item/2",
    "guid": "one:2",
    "title": "Two",
    "published": 1_700_000_001,
    "categories": ["user/-/state/com.google/read"],
    "canonical": [{"href": "https://one.example/2"}],
    "content": {"content": "<p>Two</p>"},
    "origin": {"feedUrl": "https://one.example/feed"},
}


def archive(**members: Any) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            packed.writestr(name.replace("__", "/").replace("_", "."), data)
    return file.getvalue()


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()


def test_opml_with_filters_of_freshrss() -> None:
    part = read_export("feeds.opml", OPML)
    assert part.feeds == (
        MovedFeed("https://one.example/feed", "One & only", "News/Deep"),
        MovedFeed("https://two.example/feed?a&b", "Two"),
    )
    rules = {"read": ["intitle:casino", "author:Bob"], "star": ["intitle:good"]}
    assert part.filters == (ForeignFilter("freshrss", json.dumps(rules), "https://one.example/feed"),)
    assert part.left_out == (outlines.NO_RULES, outlines.NO_ADDRESS, "No address: javascript:alert(1)")
    assert (part.items, part.cursor) == ((), "")


def test_a_filter_of_a_folder() -> None:
    text = OPML.replace(b'<outline text="News">', b'<outline text="News" frss:filtersActionRead="x">')
    assert read_export("x.opml", text).filters[0] == ForeignFilter(
        "freshrss", '{"read": ["x"], "star": []}', folder="News"
    )


@pytest.mark.parametrize(
    "data",
    [
        b'<!DOCTYPE opml [<!ENTITY x "y">]><opml><body><outline text="&x;" xmlUrl="https://x.example"/></body></opml>',
        b"<opml><body>",
        b"<rss><channel/></rss>",
        b"{",
        b"[" * 100_000,
        b'{"a": 1}',
        b'[{"a": 1}]',
        b"",
        b"\0\1\2",
        b"PK\x03\x04broken",
        archive(readme_txt=b"hello"),
        archive(a_json={"x": 1}),
    ],
)
def test_files_that_are_no_exports(data: bytes) -> None:
    with pytest.raises(MovingError) as caught:
        read_export("x", data)
    assert caught.value.detail.endswith(".")


def test_deep_outlines_end() -> None:
    deep = b"<opml><body>" + b'<outline text="a">' * 200 + b"</outline>" * 200 + b"</body></opml>"
    assert read_export("x.opml", deep).feeds == ()


def test_starred_items_in_google_readers_format() -> None:
    (item,) = safe_part(read_export("starred.json", as_json(stream(STARRED)))).items
    assert (item.feed_url, item.url, item.title) == (
        "https://one.example/feed",
        "https://one.example/1",
        "Café",
    )
    assert (item.starred, item.read, item.labels) == (0.0, True, ("later",))
    assert (item.content, item.text, item.published) == ("<p>One</p>", "One", 1_700_000_000.0)


def test_an_archive_of_freshrss() -> None:
    data = archive(
        **{
            "starred_json": stream(STARRED),
            "a__feed_json": stream(FRESHRSS, key="feed/https://one.example/feed"),
            "feeds_opml_xml": OPML,
            "readme_json": {"x": 1},
        }
    )
    part = read_export("freshrss.zip", data)
    assert len(part.feeds) == 2
    assert sorted((item.url, item.starred, item.identity) for item in part.items) == [
        ("https://one.example/1", 0.0, ""),
        ("https://one.example/2", None, "one:2"),
    ]
    assert {item.feed_url for item in part.items} == {"https://one.example/feed"}
    assert files.UNREAD_FILES in part.left_out
    assert len(part.filters) == 1 and part.about == 2


def test_an_archive_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED", 1000)
    with pytest.raises(MovingError) as caught:
        read_export("x.zip", archive(feeds_opml=OPML * 3))
    assert caught.value.kind == "too-large"
    monkeypatch.setattr(archives, "MAX_FILES", 1)
    with pytest.raises(MovingError, match="too many"):
        read_export("x.zip", archive(a_json=[], b_json=[]))


def test_a_packed_file_that_is_damaged_or_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(OPML)
    assert len(read_export("feeds.opml.gz", packed).feeds) == 2
    for broken in (packed[:-20], packed[:12] + b"\xff" * 20):
        with pytest.raises(MovingError) as caught:
            read_export("feeds.opml.gz", broken)
        assert caught.value.kind == "damaged"
        assert "This .gz file" in str(caught.value)
    monkeypatch.setattr(archives, "MAX_UNPACKED", 100)
    with pytest.raises(MovingError) as caught:
        read_export("feeds.opml.gz", packed)
    assert caught.value.kind == "too-large"


def test_json_may_be_in_utf_16_and_a_feed_of_tt_rss_without_articles() -> None:
    value = {"id": "user/-/state/com.google/starred", "items": [{"title": "Ärger", "canonical": []}]}
    (item,) = read_export("starred.json", json.dumps(value, ensure_ascii=False).encode("utf-16")).items
    assert item.title == "Ärger"
    empty = {"id": 1, "self_url": "https://t.example/public.php?op=rss&id=-1", "articles": []}
    assert read_export("feed.json", json.dumps(empty).encode()).items == ()


def test_bounds_of_items_and_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ITEMS", 2)
    monkeypatch.setattr(files, "MAX_CONTENT", 40)
    part = read_export("starred.json", as_json(stream(STARRED, STARRED, STARRED)))
    assert [bool(item.content) for item in part.items] == [True, False]
    assert part.left_out == (files.NO_TEXTS_LEFT, files.NO_ITEMS_LEFT)


def test_feedbin() -> None:
    rows = [
        {
            "id": 1,
            "title": "T",
            "author": None,
            "content": "<p>x</p>",
            "url": "https://one.example/1",
            "published": "2026-03-04T05:06:07.000000Z",
            "created_at": "2026-03-05T05:06:07.000000Z",
            "feed": {"title": "One", "feed_url": "https://one.example/feed"},
        }
    ]
    (item,) = read_export("starred.json", as_json(rows)).items
    assert (item.feed_url, item.starred, item.published) == ("https://one.example/feed", 0.0, 1772600767.0)


def test_newsblur() -> None:
    value = {
        "feeds": {"5": {"feed_address": "https://one.example/feed"}},
        "stories": [
            {
                "story_feed_id": 5,
                "story_title": "A &amp; B",
                "story_permalink": "https://one.example/1",
                "story_content": "<p>x</p>",
                "story_authors": "Ada",
                "story_date": "2026-03-04 05:06:07",
                "starred_timestamp": 1772600800,
                "read_status": 1,
                "user_tags": ["later", "later", 5],
            },
            {"story_permalink": "https://one.example/2", "story_feed_id": 6, "starred_date": "long ago"},
        ],
        "classifiers": {"5": {"titles": {"casino": -1}}},
    }
    part = read_export("stories.json", as_json(value))
    first, second = part.items
    assert (first.feed_url, first.title, first.read) == ("https://one.example/feed", "A & B", True)
    assert (first.published, first.starred, first.labels) == (1772600767.0, 1772600800.0, ("later", "5"))
    assert (second.feed_url, second.starred, second.published) == ("", None, None)
    assert [one.program for one in part.filters] == ["newsblur"]


def test_nextcloud_news_names_feeds_by_their_sites() -> None:
    rows = [
        {
            "guid": "g1",
            "url": "https://one.example/1",
            "title": "T",
            "author": "Ada",
            "pubDate": 1_700_000_000,
            "body": "<p>x</p>",
            "unread": False,
            "starred": True,
            "feedLink": "https://one.example/",
        }
    ]
    (item,) = read_export("x.zip", archive(articles_json=rows, feeds_opml=OPML)).items
    assert (item.feed_url, item.identity, item.read, item.starred) == (
        "https://one.example/feed",
        "g1",
        True,
        0.0,
    )


def test_tt_rss() -> None:
    data = b"""<articles schema-version="130"><article><guid><![CDATA[g1]]></guid>
    <title><![CDATA[A & B]]></title>
    <content><![CDATA[<p>x</p>]]></content><marked><![CDATA[1]]></marked>
    <link><![CDATA[https://one.example/1]]></link><tag_cache><![CDATA[a,b]]></tag_cache>
    <label_cache><![CDATA[[[-1027,"Later","",""]]]]></label_cache>
    <feed_url><![CDATA[https://one.example/feed]]></feed_url><updated>2026-03-04 05:06:07</updated>
    </article></articles>"""
    (item,) = read_export("x.xml", data).items
    assert (item.identity, item.title, item.content) == ("g1", "A & B", "<p>x</p>")
    assert (item.labels, item.starred, item.published) == (("a", "b", "Later"), 0.0, 1772600767.0)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (1_700_000_000, 1.7e9),
        ("1700000000", 1.7e9),
        (1_700_000_000_000, 1.7e9),
        ("1700000000123456", 1700000000.123456),
        ("2023-11-14T22:13:20Z", 1.7e9),
        ("0001-01-01T00:00:00Z", None),
        (0, None),
        (10**30, None),
        (float("nan"), None),
        ("x", None),
        (None, None),
        ([], None),
    ],
)
def test_times(written: object, seconds: float | None) -> None:
    found = time_of(written)
    assert found == seconds if seconds is None else found == pytest.approx(seconds)


def test_a_file_in_a_process_of_its_own() -> None:
    part = calls.read_export_file("starred.json", as_json(stream(STARRED)))
    assert [item.content for item in part.items] == ["<p>One</p>"]
    with pytest.raises(MovingError) as caught:
        calls.read_export_file("x", b"nothing")
    assert (caught.value.kind, caught.value.detail[-1]) == ("unknown-file", ".")


def test_an_account_in_a_process_of_its_own(settings: Any) -> None:
    settings.FETCH_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    with ReaderServer(Miniflux([{"feed_url": "https://one.example/feed"}])) as server:
        account = ForeignAccount("miniflux", server.url, LOGIN, SECRET)
        assert calls.next_part(account).feeds == (MovedFeed("https://one.example/feed"),)
        settings.FETCH_ALLOWED_NETWORKS = []
        with pytest.raises(MovingError) as caught:
            calls.next_part(account)
    assert caught.value.kind == "refused-address"
