"""A list in JSON read as a feed, such as what a site's own API answers: by jq, JSONPath, or its shape."""

from __future__ import annotations

import re
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
from crawler.reading.sources.entries import MAX_SUMMARY, MAX_TITLE, ChosenEntry, distinct
from crawler.reading.sources.page import listed_feed
from crawler.text.characters import one_line

DATA_FORMAT = "json"
_WRITTEN = {
    "title": ("title", "headline", "name", "subject", "label", "caption", "text"),
    "link": (
        "url", "link", "href", "permalink", "html_url", "web_url", "canonical_url", "uri", "path", "slug",
    ),
    "date": (
        "date_published", "published", "published_at", "pub_date", "date_gmt", "date", "created_at",
        "created", "publication_date", "timestamp", "time", "updated_at", "updated",
    ),
    "image": (
        "image", "image_url", "thumbnail", "thumbnail_url", "thumbnail_image", "featured_image",
        "featured_media_url", "jetpack_featured_media_url", "picture", "cover", "img", "images",
    ),
    "summary": (
        "summary", "description", "excerpt", "abstract", "lead", "teaser", "subtitle", "body", "content",
    ),
}  # fmt: skip
"""Names of members that hold a part of an entry, the surest first; also publishedAt, Published-At."""
_NAMES = {part: tuple(name.replace("_", "") for name in names) for part, names in _WRITTEN.items()}
_ADDRESSES = frozenset({"link", "image"})
_INNER = ("rendered", "value", "text", "plain", "raw", "url", "href", "src")
"""Names within a part that is an object, as WordPress and others write titles."""
_INNER_OF_ADDRESS = ("url", "href", "src", "source_url", "rendered", "value", "text")
_OF_DOTNET = re.compile(r"/Date\((-?\d{1,16})(?:[+-]\d{4})?\)/")
"""A time as .NET writes it, in milliseconds; its zone changes nothing."""
_SAMPLE = 20
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
    """Return the longest list of objects with a title and a link in JSON documents, [] without one.

    A list with dates is preferred to menus, sections and people.
    """
    lists = [entries for objects in _lists(documents) if (entries := _unwrapped(objects))]
    return max(lists, key=lambda entries: (_share(entries, "date") > 0.5, len(entries)), default=[])


def _unwrapped(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return objects that are entries, or those within them, such as GraphQL's `node`; [] for others."""
    # Half of a sample: lists hold adverts and empty objects among their entries.
    if sum(map(_is_entry, objects[:_SAMPLE])) * 2 > len(objects[:_SAMPLE]):
        return objects
    names = [name for name, value in objects[0].items() if isinstance(value, dict)][:_SAMPLE]
    for name in names:
        inner = [value for item in objects if isinstance(value := item.get(name), dict)]
        if len(inner) >= 2 and sum(map(_is_entry, inner[:_SAMPLE])) * 2 > len(objects[:_SAMPLE]):
            return inner
    return []


def _share(objects: Sequence[dict[str, Any]], part: str) -> float:
    """Return how many of the first objects of a list have a part."""
    sample = objects[:_SAMPLE]
    return sum(bool(_named(item, part)) for item in sample) / len(sample)


def _lists(value: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the lists of objects within a value."""
    todo: list[tuple[Any, int]] = [(value, 0)]
    for _ in range(_MAX_VALUES):
        if not todo:
            return
        node, depth = todo.pop()
        inside = node if isinstance(node, list) else list(node.values())
        objects = [item for item in inside if isinstance(item, dict)]
        if len(objects) >= 2:
            yield objects
        members = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        if depth < _MAX_DEPTH:
            todo += [(item, depth + 1) for item in islice(members, 2_000) if isinstance(item, dict | list)]


def _is_entry(item: dict[str, Any]) -> bool:
    return bool(_named(item, "title")) and bool(_named(item, "link"))


def _entries(items: Sequence[Any], url: str, rules: SourceRules) -> list[ChosenEntry]:
    dates = Dates()
    columns = {part: _column(part, getattr(rules, part), items) for part in _NAMES}
    entries: list[ChosenEntry] = []
    for place, _ in enumerate(items):
        value = {part: column[place] for part, column in columns.items()}
        link = absolute(url, _text(value["link"], _INNER_OF_ADDRESS))
        title = one_line(plain_text(_text(value["title"])), MAX_TITLE)
        if not title and not link:
            continue
        entries.append(
            ChosenEntry(
                title,
                link,
                dates.epoch(_OF_DOTNET.sub(r"\1", _text(value["date"]))),
                absolute(url, _text(value["image"], _INNER_OF_ADDRESS)),
                one_line(plain_text(_text(value["summary"])), MAX_SUMMARY),
            )
        )
    return distinct(entries)


def _column(part: str, rule: str, items: Sequence[Any]) -> list[Any]:
    """Return one part of each entry, by its rule or by the usual names."""
    if not rule:
        return [_named(item, part) if isinstance(item, dict) else item for item in items]
    language, expression = rule_of(rule)
    if language == "jsonpath":
        return [next(iter(_guarded(part, rule, [item])), None) for item in items]
    # One run for all entries, instead of one for each.
    program = f"map([try ({expression}) catch null] | .[0])"
    results = list(_guarded(part, f"jq:{program}", [list(items)]))
    return results[0] if len(results) == 1 and isinstance(results[0], list) else [None] * len(items)


def rule_of(rule: str) -> tuple[str, str]:
    """Split a rule into its language and its expression. Without a language it is jq."""
    language, colon, expression = rule.partition(":")
    return (language, expression.strip()) if colon and language in DATA_LANGUAGES else ("jq", rule.strip())


def _guarded(part: str, rule: str, documents: Sequence[Any]) -> list[Any]:
    """Return what a rule finds. Raises ReadingError(malformed) for one that cannot be followed."""
    language, expression = rule_of(rule)
    find = by_jsonpath if language == "jsonpath" else by_jq
    try:
        results: Iterable[Any] = find(expression, documents)
        return list(islice(results, LIMITS.entries))
    except Exception as error:  # each library has errors of its own
        raise ReadingError("malformed", f"{part}: {str(error)[:200]}") from error


def _named(item: dict[str, Any], part: str) -> Any:
    """Return the member that holds a part by its usual names. A number is the id of a picture, no address."""
    # Reversed, so that of two spellings the first one in the object stays.
    members = {_bare(name): value for name, value in reversed(item.items()) if value}
    return next(
        (
            members[name]
            for name in _NAMES[part]
            if name in members and not (part in _ADDRESSES and isinstance(members[name], int | float))
        ),
        None,
    )


def _bare(name: str) -> str:
    """Return a member's name as those in _NAMES are written."""
    return name.casefold().replace("_", "").replace("-", "")


def _text(value: Any, inner: Sequence[str] = _INNER) -> str:
    """Return a value as text: that of WordPress's `{"rendered": ...}`, and the first of several."""
    for _ in range(3):
        if isinstance(value, list):
            value = value[0] if value else ""
        elif isinstance(value, dict):
            value = next((value[name] for name in inner if value.get(name)), "")
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
