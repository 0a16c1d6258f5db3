"""Files that other feed readers export, alone or in a zip file. Knows no Django.

OPML of any program (with FreshRSS's filters), streams in Google Reader's format (FreshRSS, Inoreader, The Old
Reader, Google Takeout), and the starred or all articles of Feedbin, NewsBlur, Nextcloud News and tt-rss.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import msgspec
from lxml import etree

from articles.moving.archives import files_in, is_archive, is_packed, unpacked
from articles.moving.outlines import joined, local_name, note_site, parsed, read_outlines
from articles.moving.streams import UNKNOWN_TIME, item_of
from articles.moving.values import (
    ForeignFilter,
    MovedFeed,
    MovedItem,
    MovedPart,
    MovingError,
    fields,
    moved_item,
    number,
    objects,
    site_key,
    text,
    time_of,
    web_url,
)
from crawler.text.characters import storable
from crawler.text.marking import gettext_noop

MAX_ITEMS = 100_000
MAX_CONTENT = 100_000_000
"""Characters of the HTML of all items of a file together."""
UNKNOWN = "unknown-file"
_STARRED = ("/state/com.google/starred", "/tag/global.saved")
"""Ends of the ids of streams with what a person starred, the last one Feedly's."""
_STARRED_FEED = re.compile(r"[?&]id=-1(?:&|$)")
"""The part of an address by which tt-rss names the feed that it makes of starred articles."""
NO_ITEMS_LEFT = gettext_noop("Items beyond the first 100,000 of the file.")
NO_TEXTS_LEFT = gettext_noop("The texts of the last items: those of the file are more than 100 MB.")
NO_ADDRESSES = gettext_noop(
    "Articles without an address. Those that their feeds still hold keep their marks all the same."
)
UNREAD_FILES = gettext_noop("Files in the archive that were not understood.")

Row = Mapping[str, Any]


def read_export(name: str, data: bytes) -> MovedPart:
    """Return what a file holds, all at once. `name` is the file's, which may tell its kind.

    Raises MovingError, of the kind "unknown-file" for a file of no known program.
    """
    export = _Export()
    if is_packed(data):
        data = unpacked(data)
    if is_archive(data):
        export.read_all(files_in(data))
    else:
        export.read(name, data)
    return export.part()


class _Export:
    """A collection of what is read from the files of one export."""

    def __init__(self) -> None:
        self._feeds: dict[str, MovedFeed] = {}
        self._items: list[MovedItem] = []
        self._filters: list[ForeignFilter] = []
        self._left_out: dict[str, None] = {}
        self._sites: dict[str, str] = {}
        self._addresses: dict[str, str] = {}
        self._characters = 0

    def read_all(self, files: Iterator[tuple[str, bytes]]) -> None:
        """Read the files of an archive, of which some may be of other kinds. Raises MovingError."""
        read_count = 0
        for name, data in files:
            try:
                self.read(name, data)
                read_count += 1
            except MovingError as error:
                if error.kind not in (UNKNOWN, "not-xml"):
                    raise
                self._left_out[UNREAD_FILES] = None
        if not read_count:
            raise _unknown()

    def read(self, name: str, data: bytes) -> None:
        """Read a file. Raises MovingError."""
        # Byte order marks of UTF-8 and UTF-16, in which Windows' editors save again what they show.
        start = data[:1000].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0")
        if start.startswith((b"{", b"[")):
            self._read_json(name, data)
        elif b"<" in start:
            self._read_xml(data)
        else:
            raise _unknown()

    def part(self) -> MovedPart:
        """Return what was read."""
        items = tuple(self._items)
        return MovedPart(
            tuple(self._feeds.values()), items, tuple(self._filters), tuple(self._left_out), about=len(items)
        )

    def _read_xml(self, data: bytes) -> None:
        # Without parsing, for tt-rss's files are much larger than a list of feeds may be.
        if b"<articles" in data[:1000]:
            for item in _tt_rss(parsed(data)):
                self._add(item)
            return
        if b"<opml" not in data[:4000].replace(b"\0", b"").lower():
            raise _unknown()
        outlines = read_outlines(data)
        for feed in outlines.feeds:
            self._feeds[feed.url] = joined(self._feeds.get(feed.url), feed)
            note_site(self._addresses, site_key(feed.url), feed.url)
        self._filters += outlines.filters
        for site, url in outlines.sites.items():
            note_site(self._sites, site, url)
        self._left_out |= dict.fromkeys(outlines.left_out)

    def _read_json(self, name: str, data: bytes) -> None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise MovingError("not-json", gettext_noop("The file is not well-formed JSON.")) from None
        if isinstance(value, dict) and isinstance(value.get("items"), list):
            folders = {feed.folder for feed in self._feeds.values()}
            for item in _stream(name, value, self._sites, folders):
                self._add(item)
            return
        if isinstance(value, dict) and _is_of_tt_rss(value):
            for item in _tt_rss_feed(name, value, self._sites):
                self._add(item)
            return
        if isinstance(value, dict) and isinstance(value.get("classifiers"), dict | list):
            rules = storable(json.dumps(value["classifiers"], ensure_ascii=False))
            self._filters.append(ForeignFilter("newsblur", rules))
        elif value == []:
            return
        elif self._reader_of(value) is None:
            raise _unknown()
        self._read_rows(value)

    def _read_rows(self, value: object) -> None:
        if read := self._reader_of(value):
            urls = self._sites | _newsblur_feeds(value)
            for row in _rows(value):
                self._add(read(row, urls))

    def _reader_of(self, value: object) -> Callable[[Row, Mapping[str, str]], MovedItem] | None:
        """Return the reader of the rows of a list, None if it is of no known program."""
        first = next(iter(_rows(value)), {})
        return next((read for field, read in _READERS.items() if field in first), None)

    def _add(self, item: MovedItem) -> None:
        if len(self._items) >= MAX_ITEMS:
            self._left_out[NO_ITEMS_LEFT] = None
            return
        if not item.url and not item.identity:
            self._left_out[NO_ADDRESSES] = None
        # A feed may have moved from http to https since its items were written.
        if item.feed_url not in self._feeds and (url := self._addresses.get(site_key(item.feed_url))):
            item = msgspec.structs.replace(item, feed_url=url)
        self._characters += len(item.content)
        if self._characters > MAX_CONTENT:
            self._left_out[NO_TEXTS_LEFT] = None
            item = msgspec.structs.replace(item, content="")
        self._items.append(item)


def _unknown() -> MovingError:
    return MovingError(
        UNKNOWN,
        gettext_noop("This is no export of a known feed reader: an OPML, JSON or zip file is needed."),
    )


def _rows(value: object) -> list[Row]:
    """Return the articles of a file: the list that it is, or the one in it."""
    if isinstance(value, list):
        return objects(value)
    return objects(fields(value).get("stories")) or objects(fields(value).get("articles"))


def _stream(name: str, value: Row, sites: Mapping[str, str], folders: Collection[str]) -> Iterator[MovedItem]:
    """Yield the items of a stream in Google Reader's format; those of the starred ones are starred."""
    stream = text(value.get("id"))
    is_starred = stream.endswith(_STARRED) or _file_name(name).startswith("starred")
    urls = {**sites, "": web_url(stream.removeprefix("feed/"))}
    for item in objects(value.get("items")):
        # Folders may be among the labels: only a list of feeds in the same archive tells one from the other.
        yield item_of(item, urls, folders, starred=is_starred)


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].lower()


def _feedbin(row: Row, _: Mapping[str, str]) -> MovedItem:
    """Read an entry of Feedbin's starred.json."""
    feed = fields(row.get("feed"))
    return moved_item(
        feed_url=text(feed.get("feed_url")) or text(row.get("feed_url")),
        url=row.get("url"),
        title=row.get("title"),
        identity=row.get("entry_id"),
        author=row.get("author"),
        content=row.get("content") or row.get("summary"),
        published=time_of(row.get("published")),
        read=True,
        starred=UNKNOWN_TIME,
    )


def _nextcloud(row: Row, sites: Mapping[str, str]) -> MovedItem:
    """Read an article of Nextcloud News, which names its feed by the address of the site."""
    return moved_item(
        feed_url=sites.get(site_key(row.get("feedLink")), ""),
        url=row.get("url"),
        title=row.get("title"),
        identity=row.get("guid"),
        author=row.get("author"),
        content=row.get("body"),
        published=time_of(row.get("pubDate")),
        read=row.get("unread") is False,
        starred=UNKNOWN_TIME if row.get("starred") is True else None,
    )


def _newsblur(row: Row, urls: Mapping[str, str]) -> MovedItem:
    """Read a story of NewsBlur. Its texts are written with HTML's references."""
    key = text(row.get("story_feed_id"))
    starred = time_of(row.get("starred_timestamp")) or time_of(row.get("starred_date"))
    is_starred = starred is not None or row.get("starred") is True or bool(row.get("user_tags"))
    tags = row.get("user_tags")
    return moved_item(
        feed_url=urls.get(key, "") or text(row.get("feed_address")),
        url=row.get("story_permalink"),
        title=html.unescape(text(row.get("story_title"))),
        identity=row.get("story_guid") or row.get("id"),
        author=row.get("story_authors"),
        content=row.get("story_content"),
        published=time_of(row.get("story_timestamp")) or time_of(row.get("story_date")),
        read=number(row.get("read_status")) == 1 or row.get("read_status") is True,
        starred=(starred or UNKNOWN_TIME) if is_starred else None,
        labels=tags if isinstance(tags, list) else (),
    )


_READERS: Mapping[str, Callable[[Row, Mapping[str, str]], MovedItem]] = {
    "story_permalink": _newsblur,
    "feedLink": _nextcloud,
    "pubDate": _nextcloud,
    "created_at": _feedbin,
    "feed": _feedbin,
    "feed_url": _feedbin,
}
"""Readers of articles by a field that only their program has."""


def _newsblur_feeds(value: object) -> dict[str, str]:
    """Return the addresses of NewsBlur's feeds by their ids."""
    feeds = fields(value).get("feeds")
    rows = feeds.items() if isinstance(feeds, dict) else [(text(r.get("id")), r) for r in objects(feeds)]
    return {text(key): text(fields(row).get("feed_address")) for key, row in rows}


def _is_of_tt_rss(value: Row) -> bool:
    """Return whether it is a feed that tt-rss makes of articles as JSON, be it of none."""
    if value.get("articles") == []:
        return "self_url" in value or "feed_url" in value
    return any("excerpt" in row and "link" in row for row in objects(value.get("articles"))[:1])


def _tt_rss_feed(name: str, value: Row, sites: Mapping[str, str]) -> Iterator[MovedItem]:
    """Yield the articles in a feed that tt-rss makes, which names feeds by the addresses of their sites."""
    addresses = [text(value.get("feed_url")), text(value.get("self_url"))]
    is_starred = any(map(_STARRED_FEED.search, addresses)) or _file_name(name).startswith("starred")
    for row in objects(value.get("articles")):
        yield moved_item(
            feed_url=sites.get(site_key(fields(row.get("source")).get("link")), ""),
            url=row.get("link"),
            title=row.get("title"),
            author=row.get("author"),
            content=row.get("content") or row.get("excerpt"),
            published=time_of(row.get("updated")),
            starred=UNKNOWN_TIME if is_starred else None,
        )


def _tt_rss(root: etree._Element) -> Iterator[MovedItem]:
    """Yield the articles in tt-rss's file of starred and archived ones."""
    for element in root:
        if local_name(element.tag) != "article":
            continue
        row = {local_name(child.tag): child.text or "" for child in element}
        labels = [tag.strip() for tag in row.get("tag_cache", "").split(",")]
        yield moved_item(
            feed_url=row.get("feed_url", ""),
            url=row.get("link"),
            title=row.get("title"),
            identity=row.get("guid"),
            content=row.get("content"),
            published=time_of(row.get("updated")),
            read=True,
            starred=UNKNOWN_TIME if row.get("marked") in ("1", "t", "true") else None,
            labels=[*labels, *_tt_rss_labels(row.get("label_cache", ""))],
        )


def _tt_rss_labels(cache: str) -> list[str]:
    """Return the captions in tt-rss's stored labels: lists of id, caption and colours as JSON."""
    try:
        rows = json.loads(cache)
    except (ValueError, RecursionError):
        return []
    lists = rows if isinstance(rows, list) else []
    return [text(row[1]) for row in lists if isinstance(row, list) and len(row) > 1]
