"""A list in JSON read as a feed, such as what a site's own API answers: by jq, JSONPath, or its shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from crawler.reading.addresses import absolute
from crawler.reading.charset import decode
from crawler.reading.dates import Dates
from crawler.reading.documents import FeedDocument, SourceRules
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.markup import plain_text
from crawler.reading.feeds.raw import RawFeed, RawLink
from crawler.reading.json_documents import by_jq, by_jsonpath, json_documents
from crawler.reading.limits import LIMITS
from crawler.reading.parts import DATA_LANGUAGES
from crawler.reading.sources.entries import MAX_SUMMARY, MAX_TITLE, ChosenEntry
from crawler.reading.sources.page import listed_feed
from crawler.text.characters import one_line

DATA_FORMAT = "json"
_NAMES = {
    "title": ("title", "headline", "name", "subject", "label", "caption", "text"),
    "link": (
        "url", "link", "href", "permalink", "html_url", "web_url", "webUrl", "canonical_url", "canonicalUrl",
        "uri", "path", "slug",
    ),
    "date": (
        "date_published", "published", "published_at", "publishedAt", "pubDate", "date", "datePublished",
        "created_at", "createdAt", "created", "publication_date", "timestamp", "time", "updated_at",
        "updated",
    ),
    "image": ("image", "image_url", "imageUrl", "thumbnail", "picture", "cover", "img"),
    "summary": (
        "summary", "description", "excerpt", "abstract", "lead", "teaser", "subtitle", "body", "content",
    ),
}  # fmt: skip
"""Names of members that hold a part of an entry, the surest first."""
_INNER = ("rendered", "url", "href", "src", "value", "text")
"""Names within a part that is an object, as WordPress and others write titles and pictures."""
_MAX_VALUES = 50_000
_MAX_DEPTH = 8


def data_feed(body: bytes, url: str, content_type: str, rules: SourceRules) -> FeedDocument:
    """Return the list in a JSON document at `url` as a feed. Raises ReadingError."""
    documents = documents_of(body, content_type)
    entries = _guarded("entry", rules.entry, documents) if rules.entry else likely_list(documents)
    if len(entries) == 1 and isinstance(entries[0], list):
        entries = entries[0]  # a path to the list itself
    chosen = _entries(entries[: LIMITS.entries], url, rules)
    return listed_feed(RawFeed(DATA_FORMAT, links=[RawLink(url)]), url, chosen)


def documents_of(body: bytes, content_type: str) -> list[Any]:
    """Return the JSON documents of a body. Raises ReadingError(malformed, too-large)."""
    if len(body) > LIMITS.bytes:
        raise ReadingError("too-large", f"more than {LIMITS.bytes} bytes")
    try:
        return json_documents(decode(body, content_type))
    except ValueError as error:
        raise ReadingError("malformed", f"no JSON: {error}") from error


def likely_list(documents: Sequence[Any]) -> list[Any]:
    """Return the longest list of objects with a title and a link in JSON documents, [] without one."""
    lists = [found for found in _lists(documents) if sum(map(_is_entry, found[:20])) * 2 > len(found[:20])]
    return max(lists, key=len, default=[])


def _lists(value: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the lists of objects within a value."""
    todo: list[tuple[Any, int]] = [(value, 0)]
    for _ in range(_MAX_VALUES):
        if not todo:
            return
        one, depth = todo.pop()
        if isinstance(one, list):
            objects = [item for item in one if isinstance(item, dict)]
            if len(objects) >= 2 and depth:
                yield objects
        members = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        if depth < _MAX_DEPTH:
            todo += [(item, depth + 1) for item in islice(members, 2_000) if isinstance(item, dict | list)]


def _is_entry(item: dict[str, Any]) -> bool:
    return bool(_named(item, "title")) and bool(_named(item, "link"))


def _entries(items: Sequence[Any], url: str, rules: SourceRules) -> list[ChosenEntry]:
    dates = Dates()
    columns = {part: _column(part, getattr(rules, part), items) for part in _NAMES}
    entries: dict[tuple[str, str], ChosenEntry] = {}
    for place, _ in enumerate(items):
        value = {part: column[place] for part, column in columns.items()}
        link = absolute(url, _text(value["link"]))
        title = one_line(plain_text(_text(value["title"])), MAX_TITLE)
        if not title and not link:
            continue
        entry = ChosenEntry(
            title,
            link,
            dates.epoch(_text(value["date"])),
            absolute(url, _text(value["image"])),
            one_line(plain_text(_text(value["summary"])), MAX_SUMMARY),
        )
        entries.setdefault((link, "" if link else title), entry)
    return list(entries.values())


def _column(part: str, rule: str, items: Sequence[Any]) -> list[Any]:
    """Return one part of each entry, by its rule or by the usual names."""
    if not rule:
        return [_named(item, part) if isinstance(item, dict) else item for item in items]
    language, expression = rule_of(rule)
    if language == "jsonpath":
        return [next(iter(_guarded(part, rule, [item])), None) for item in items]
    program = f"map([try ({expression}) catch null] | .[0])"
    found = list(_guarded(part, f"jq:{program}", [list(items)]))
    return found[0] if len(found) == 1 and isinstance(found[0], list) else [None] * len(items)


def rule_of(rule: str) -> tuple[str, str]:
    """Split a rule into its language and its expression. Without a language it is jq."""
    language, colon, expression = rule.partition(":")
    return (language, expression.strip()) if colon and language in DATA_LANGUAGES else ("jq", rule.strip())


def _guarded(part: str, rule: str, documents: Sequence[Any]) -> list[Any]:
    """Return what a rule finds. Raises ReadingError(malformed) for one that cannot be followed."""
    language, expression = rule_of(rule)
    find = by_jsonpath if language == "jsonpath" else by_jq
    try:
        found: Iterable[Any] = find(expression, documents)
        return list(islice(found, LIMITS.entries))
    except Exception as error:  # each library has errors of its own
        raise ReadingError("malformed", f"{part}: {str(error)[:200]}") from error


def _named(item: dict[str, Any], part: str) -> Any:
    return next((item[name] for name in _NAMES[part] if item.get(name)), None)


def _text(value: Any) -> str:
    """Return a value as text: that of WordPress's `{"rendered": ...}`, and the first of several."""
    for _ in range(3):
        if isinstance(value, list):
            value = value[0] if value else ""
        elif isinstance(value, dict):
            value = next(
                (
                    value[name]
                    for name in ("rendered", "url", "href", "src", "value", "text")
                    if name in value
                ),
                "",
            )
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
