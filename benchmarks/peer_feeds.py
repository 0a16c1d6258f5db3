"""Suites of other programs' tests of feeds that `benchmarks/peers.py` knows.

Markup is compared by its visible text, addresses in their canonical form, times as moments.
"""

from __future__ import annotations

import ast
import calendar
import html
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django

from benchmarks.peer_sources import arguments, assignment, constant, functions, statements
from benchmarks.peer_suites import Case
from crawler.fetching.http.urls import BadUrl, join
from crawler.reading.dates import epoch
from crawler.reading.documents import Entry, FeedDocument
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.feeds.markup import plain_text

SITE = "http://127.0.0.1:8097/"
"""Where the server of feedparser's own tests is."""


def said(markup: str) -> str:
    """Return the visible text of markup, with single spaces."""
    return " ".join(html.unescape(plain_text(markup)).split())


def alike(ours: str, theirs: str) -> tuple[str, str]:
    """Return both texts as they are seen: either may be markup, or text that happens to look like markup."""
    spellings = {said(theirs), " ".join(theirs.split()), " ".join(html.unescape(theirs).split())}
    for text in (" ".join(ours.split()), said(ours)):
        if text in spellings:
            return text, text
    return said(ours), said(theirs)


def placed(url: str, base: str) -> str:
    """Return an address in its canonical form, or as it is if it has none."""
    try:
        return join(base, url) if url else ""
    except BadUrl:
        return url


def moment(seconds: float | None) -> str:
    """Return a moment as ISO 8601, to the second."""
    return "" if seconds is None else datetime.fromtimestamp(int(seconds), UTC).isoformat()


def _read(body: bytes, url: str, content_type: str = "application/xml") -> FeedDocument | None:
    try:
        return parse_feed(body, url=url, content_type=content_type)
    except ReadingError:
        return None


class _Text(str):
    """A text that is compared by what is seen of it."""

    __slots__ = ()


class _Address(str):
    """An address that is compared in its canonical form."""

    __slots__ = ()


# feedparser


def feedparser(root: Path) -> Iterator[Case]:
    """The well-formed feeds of kurtmckee/feedparser: comparisons of a value that we have with a constant."""
    for file in sorted((root / "tests/wellformed").rglob("*.xml")):
        body = file.read_bytes()
        head = re.search(rb"Expect:\s*(.*?)\s*-->", body, re.DOTALL)
        if head is None:
            continue
        url = SITE + str(file.relative_to(root))
        typed = re.search(rb"Content-type:\s*(\S.*)", body, re.IGNORECASE)
        document_type = typed[1].decode().strip() if typed else "application/xml"
        document = _read(body, url, document_type)
        if document is None or not document.entries:  # one that tells nothing else is no entry of ours
            named = re.sub(
                rb"<((?:\w+:)?(?:item|entry))(?=[\s>])([^>]*[^/>])?>",
                rb"\g<0><title>x</title>",
                body,
            )
            document = _read(named, url, document_type) or document
        if document is None:
            yield Case(f"{file.parent.name}/{file.stem}", "refused", head[1].decode("utf-8", "replace"))
            continue
        told = _as_feedparser(document)
        for left, right in _comparisons(head[1].decode("utf-8", "replace")):
            ours = _looked_up(left, told)
            if ours is not None:
                name = f"{file.parent.name}/{file.stem} {ast.unparse(left)}"
                yield Case(name, *_comparable(ours, right, url))


def _comparisons(expectation: str) -> Iterator[tuple[ast.expr, Any]]:
    """Yield what stands left and right of each `==` whose right side is a constant."""
    try:
        tree = ast.parse(expectation, mode="eval").body
    except SyntaxError:
        return
    for part in tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]:
        if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], ast.Eq):
            try:
                yield part.left, ast.literal_eval(part.comparators[0])
            except ValueError:
                continue


def _looked_up(node: ast.expr, told: Any) -> Any:
    """Return the value of a chain of names, keys and numbers, None if our reading has no such thing."""
    if isinstance(node, ast.Name):
        return told.get(node.id)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len":
        value = _looked_up(node.args[0], told)
        return None if value is None else len(value)
    key: Any
    if isinstance(node, ast.Attribute):
        value, key = _looked_up(node.value, told), node.attr
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        value, key = _looked_up(node.value, told), node.slice.value
    else:
        return None
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, int):
        return value[key] if key < len(value) else "nothing"
    return "nothing" if value == "nothing" else None


def _comparable(ours: Any, theirs: Any, base: str) -> tuple[Any, Any]:
    if isinstance(ours, _Address) and isinstance(theirs, str):
        return placed(ours, base), placed(theirs, base)
    if isinstance(ours, _Text) and isinstance(theirs, str):
        return alike(ours, theirs)
    if isinstance(theirs, tuple) and len(theirs) >= 6:
        return ours, moment(float(calendar.timegm((*theirs[:6], 0, 0, 0))))
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return {key: str(value) for key, value in ours.items() if key in theirs}, {
            k: str(v) for k, v in theirs.items()
        }
    return str(ours).lower(), str(theirs).lower()


def _as_feedparser(document: FeedDocument) -> dict[str, Any]:
    """Return our reading under feedparser's names. Strings that mark no more than equality are plain."""
    title, about = _Text(document.title), _Text(document.description)
    feed = {
        "title": title, "title_detail": {"value": title}, "link": _Address(document.site_url),
        "subtitle": about, "description": about, "tagline": about, "language": document.language.lower(),
        "subtitle_detail": {"value": about}, "icon": _Address(document.icon),
        "image": {"href": _Address(document.image), "url": _Address(document.image)},
    }  # fmt: skip
    return {"feed": feed, "channel": feed, "entries": [_entry_as_feedparser(one) for one in document.entries]}


def _entry_as_feedparser(entry: Entry) -> dict[str, Any]:
    title, details = _Text(entry.title), entry.details
    summary, content = _Text(entry.summary or entry.content), _Text(entry.content or entry.summary)
    return {
        "title": title, "title_detail": {"value": title}, "link": _Address(entry.url), "id": entry.identity,
        "guid": entry.identity, "summary": summary, "description": summary,
        "summary_detail": {"value": summary},
        "content": [{"value": content}], "author": entry.author, "author_detail": {"name": entry.author},
        "published_parsed": moment(entry.published), "updated_parsed": moment(entry.updated),
        "tags": _tags(entry),
        "category": entry.categories[0] if entry.categories else "nothing",
        "enclosures": [
            {"href": _Address(one.url), "url": _Address(one.url), "type": one.type, "length": one.length}
            for one in entry.enclosures
        ],
        "comments": _Address(details.comments), "wfw_commentrss": _Address(details.comments_feed),
        "rights": _Text(details.rights), "image": {"href": _Address(details.image)},
        "source": {"title": _Text(details.source_title), "link": _Address(details.source_url)},
        "contributors": [{"name": one} for one in details.contributors],
    }  # fmt: skip


def _tags(entry: Entry) -> list[dict[str, str | None]]:
    """Return the categories; those that have more than a name are told of as terms as well."""
    more = {one.term: one for one in entry.details.terms} | {one.label: one for one in entry.details.terms}
    return [
        {"term": more[name].term, "scheme": more[name].scheme or None, "label": more[name].label or None}
        if name in more
        else {"term": name, "scheme": None, "label": None}
        for name in entry.categories
    ]


# Feeds beside their reading as JSON


def feedsmith(root: Path) -> Iterator[Case]:
    """The references of feedsmith: a feed of each format beside its reading as JSON."""
    for file in sorted(root.glob("src/feeds/*/references/*.json")):
        theirs = json.loads(file.read_bytes())
        document = _read(file.with_suffix(".xml").read_bytes(), "http://example.org/feed.xml")
        yield from _beside(file.stem, document, theirs, theirs.get("items") or theirs.get("entries") or [])


def rss_parser(root: Path) -> Iterator[Case]:
    """The feeds of rbren/rss-parser beside their reading as JSON."""
    for file in sorted((root / "test/output").glob("*.json")):
        for source in (root / "test/input").glob(f"{file.stem}.*"):
            theirs = json.loads(file.read_text("utf-8", "replace"))["feed"]
            document = _read(source.read_bytes(), theirs.get("feedUrl") or "http://example.org/feed.xml")
            yield from _beside(file.stem, document, theirs, theirs["items"])


def _beside(name: str, document: FeedDocument | None, theirs: Any, items: list[Any]) -> Iterator[Case]:
    """Compare what both readings tell of a feed and of each of its entries."""
    if document is None:
        yield Case(name, "refused", "read")
        return
    yield Case(f"{name} entries", len(document.entries), len(items))
    yield from _fields(f"{name} feed", document, theirs, FEED_FIELDS)
    if len(document.entries) == len(items):
        for number, (entry, item) in enumerate(zip(document.entries, items, strict=True)):
            yield from _fields(f"{name} {number}", entry, item, ENTRY_FIELDS)


def _fields(
    name: str, ours: Any, theirs: Any, fields: Mapping[str, Callable[[Any, Any], Any]]
) -> Iterator[Case]:
    for key, pair in fields.items():
        value = theirs
        for step in key.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if value not in (None, "", [], {}) and "\ufffd" not in str(value):
            yield Case(f"{name} {key}", *pair(ours, value))


def _same_text(value: str, theirs: Any) -> tuple[str, str]:
    return alike(value, str(theirs))


def _same_place(value: str, theirs: str) -> tuple[str, str]:
    return placed(value, "http://example.org/feed.xml"), placed(theirs.strip(), "http://example.org/feed.xml")


def _same_time(value: float | None, theirs: str) -> tuple[str, str]:
    return moment(value), moment(epoch(theirs)) or theirs


def _terms(entry: Entry, theirs: list[Any]) -> tuple[list[str], list[str]]:
    names = [
        one
        if isinstance(one, str)
        else one.get("label") or one.get("term") or one.get("name") or one.get("_")
        for one in theirs
    ]
    return sorted(entry.categories), sorted(str(one).strip() for one in names)


def _alternate(value: str, theirs: list[Any]) -> tuple[str, str]:
    links = [one["href"] for one in theirs if one.get("rel", "alternate") == "alternate" and "href" in one]
    return _same_place(value, links[0] if links else "")


def _files(entry: Entry, theirs: Any) -> tuple[list[str], list[str]]:
    files = theirs if isinstance(theirs, list) else [theirs]
    return sorted(placed(one.url, SITE) for one in entry.enclosures), sorted(
        placed(one["url"], SITE) for one in files
    )


FEED_FIELDS: dict[str, Callable[[Any, Any], Any]] = {
    "title": lambda feed, theirs: _same_text(feed.title, theirs),
    "description": lambda feed, theirs: _same_text(feed.description, theirs),
    "subtitle": lambda feed, theirs: _same_text(feed.description, theirs),
    "link": lambda feed, theirs: _same_place(feed.site_url, theirs),
    "links": lambda feed, theirs: _alternate(feed.site_url, theirs),
    "language": lambda feed, theirs: (feed.language.lower(), theirs.lower()),
    "icon": lambda feed, theirs: _same_place(feed.icon, theirs),
    "image.url": lambda feed, theirs: _same_place(feed.image, theirs),
    "ttl": lambda feed, theirs: (feed.ttl, float(theirs) * 60),
    "skipHours": lambda feed, theirs: (list(feed.skip_hours), sorted(hour % 24 for hour in theirs)),
}
ENTRY_FIELDS: dict[str, Callable[[Any, Any], Any]] = {
    "title": lambda entry, theirs: _same_text(entry.title, theirs),
    "link": lambda entry, theirs: _same_place(entry.url, theirs),
    "links": lambda entry, theirs: _alternate(entry.url, theirs),
    "id": lambda entry, theirs: (entry.identity, theirs.strip()),
    "guid.value": lambda entry, theirs: (entry.identity, theirs.strip()),
    "guid": lambda entry, theirs: (
        entry.identity,
        (theirs if isinstance(theirs, str) else theirs["value"]).strip(),
    ),
    "description": lambda entry, theirs: _same_text(entry.summary or entry.content, theirs),
    "content:encoded": lambda entry, theirs: _same_text(entry.content, theirs),
    "content.encoded": lambda entry, theirs: _same_text(entry.content, theirs),
    "categories": _terms,
    "comments": lambda entry, theirs: _same_place(entry.details.comments, theirs),
    "enclosures": _files,
    "enclosure": _files,
    "isoDate": lambda entry, theirs: _same_time(entry.published or entry.updated, theirs),
    "published": lambda entry, theirs: _same_time(entry.published, theirs),
    "updated": lambda entry, theirs: _same_time(entry.updated, theirs),
    "pubDate": lambda entry, theirs: _same_time(entry.published, theirs),
    "rights": lambda entry, theirs: _same_text(entry.details.rights, theirs),
    "source.title": lambda entry, theirs: _same_text(entry.details.source_title, theirs),
}


# miniflux


def go_feeds(root: Path) -> Iterator[Case]:
    """The tests of miniflux of its parsers of RSS, Atom, RDF and JSON."""
    for file in sorted(root.glob("internal/reader/*/*pars*_test.go")):
        if file.parent.name in ("rss", "atom", "rdf", "json", "parser"):
            for test, body in functions(file.read_text(), r"func (Test\w+)\("):
                yield from _go_feed(f"{file.parent.name} {test}", body)


def _go_feed(test: str, body: str) -> Iterator[Case]:
    texts: dict[str, str | None] = {}
    document: FeedDocument | None = None
    url = ""
    for statement in statements(body, "\n;{}"):
        if call := re.match(r"feed, err :?= (?:\w+\.)?Parse\w*\((.*)\)$", statement, re.DOTALL):
            given = arguments(call[1])
            source = next((name for name in re.findall(r"\w+", call[1]) if texts.get(name)), "")
            url = constant(given[0], texts) or "https://example.org/"
            text = (texts.get(source) or "").encode()
            document = _read(text, url, "application/json" if text.strip()[:1] == b"{" else "application/xml")
            if source and document is None:
                yield Case(f"{test} read", "refused", "read")
        elif asked := re.fullmatch(r"if (len\()?feed\.([\w.\[\]]+)\)? != (.*)", statement, re.DOTALL):
            theirs: Any = int(asked[3]) if asked[3].isdigit() else constant(asked[3], texts)
            if document is not None and theirs is not None:
                yield from _go_value(test, document, url, f"{asked[1] or ''}{asked[2]}", theirs)
        elif asked := re.fullmatch(r"if !feed\.(Entries\[\d+\]\.Date)\.Equal\((\w+)\)", statement):
            if document is not None and (wanted := texts.get(asked[2])):
                yield from _go_value(test, document, url, asked[1], wanted)
        elif found := assignment(statement):
            texts[found[0]] = _go_time(found[1]) or constant(found[1], texts)


def _go_time(source: str) -> str | None:
    made = re.fullmatch(
        r"time\.Date\((\d+), (?:time\.)?(\w+), (\d+), (\d+), (\d+), (\d+), \d+, time\.UTC\)", source
    )
    if made is None:
        return None
    return moment(epoch(f"{made[3]} {made[2]} {made[1]} {made[4]}:{made[5]}:{made[6]} GMT"))


def _go_value(test: str, feed: FeedDocument, url: str, path: str, theirs: Any) -> Iterator[Case]:
    entry_path = re.fullmatch(r"(len\()?Entries\[(\d+)\]\.(.*)", path)
    name = f"{test} {path}"
    if entry_path is None:
        whole: dict[str, tuple[Any, Any]] = {
            "len(Entries": (len(feed.entries), theirs),
            "Title": alike(feed.title, str(theirs)),
            "Description": alike(feed.description, str(theirs)),
            "SiteURL": (placed(feed.site_url, url), placed(str(theirs), url)),
            "IconURL": (placed(feed.icon or feed.image, url), placed(str(theirs), url)),
        }
        if path in whole:
            yield Case(name, *whole[path])
        return
    if int(entry_path[2]) >= len(feed.entries):
        yield Case(name, "no such entry", theirs)
        return
    entry, text = feed.entries[int(entry_path[2])], str(theirs)
    values: dict[str, tuple[Any, Any]] = {
        "URL": (placed(entry.url, url), placed(text, url)),
        "Title": alike(entry.title, text),
        "Content": alike(entry.content or entry.summary, text),
        "Author": (entry.author, text),
        "Date": (moment(entry.published or entry.updated), text),
        "CommentsURL": (placed(entry.details.comments, url), placed(text, url)),
        "Tags": (len(entry.categories), theirs),
        "Enclosures": (len(entry.enclosures), theirs),
    }
    field = entry_path[3]
    if field in values and bool(entry_path[1]) == (field in ("Tags", "Enclosures")):
        yield Case(name, *values[field])
    elif part := re.fullmatch(r"(Tags|Enclosures)\[(\d+)\](?:\.(URL|MimeType|Size))?", field):
        parts: list[dict[str, Any]] = (
            [{"": one} for one in entry.categories]
            if part[1] == "Tags"
            else [{"URL": one.url, "MimeType": one.type, "Size": one.length} for one in entry.enclosures]
        )
        told = parts[int(part[2])].get(part[3] or "") if int(part[2]) < len(parts) else "nothing"
        yield Case(name, told, theirs)


def go_opml(root: Path) -> Iterator[Case]:
    """The tests of miniflux of lists of feeds: each feed that is expected, by title and address."""
    os.environ |= {"DATABASE_URL": "none", "DJANGO_SETTINGS_MODULE": "crawler.settings"}
    django.setup()
    from feeds.adding.opml import OpmlError, read_opml

    source = (root / "internal/reader/opml/parser_test.go").read_text()
    for test, body in functions(source, r"func (Test\w+)\("):
        data = re.search(r"data := (`[^`]*`)", body)
        wanted = re.findall(r"subcription\{([^}]*)\}", body)
        if data is None or not wanted:
            continue
        try:
            ours = [
                (one.title, one.url, one.folder[-1] if one.folder else "")
                for one in read_opml(data[1][1:-1].encode())
            ]
        except OpmlError as error:
            ours = [("refused", str(error), "")]
        for number, fields in enumerate(wanted):
            told = dict(re.findall(r'(\w+):\s+"([^"]*)"', fields))
            theirs = (
                told.get("Title", ""),
                placed(told.get("FeedURL", ""), SITE),
                told.get("CategoryName", ""),
            )
            yield Case(f"{test} {number}", ours[number] if number < len(ours) else "nothing", theirs)


SUITES: dict[str, tuple[str, Callable[[Path], Iterator[Case]]]] = {
    "feedparser": ("tests/wellformed", feedparser),
    "feedsmith": ("src/feeds/rss/references", feedsmith),
    "rss-parser": ("test/output", rss_parser),
    "miniflux feeds": ("internal/reader/rss", go_feeds),
    "miniflux opml": ("internal/reader/opml", go_opml),
}
