"""JSON Feed 1.0 and 1.1 (jsonfeed.org), including items with numbers for ids and other small faults."""

from __future__ import annotations

import html
import json
from typing import Any

from crawler.reading.errors import ReadingError
from crawler.reading.feeds.raw import Markup, RawDetails, RawEntry, RawFeed, RawLink
from crawler.reading.limits import Limits


def read_json(data: bytes, limits: Limits) -> RawFeed:
    """Return the fields of a JSON Feed. Raises ReadingError: malformed, too-deep, too-large, not-a-feed."""
    if _more_values(data, limits.feed_elements):
        raise ReadingError("too-large", f"more than {limits.feed_elements} values")
    try:
        # strict=False: feeds hold raw line breaks in their strings.
        document = json.loads(data.decode("utf-8", "replace"), strict=False)
    except RecursionError as error:
        raise ReadingError("too-deep", "JSON nested too deeply") from error
    except ValueError as error:
        raise ReadingError("malformed", f"JSON: {str(error)[:200]}") from error
    if not isinstance(document, dict):
        raise ReadingError("not-a-feed", "JSON, but no object")
    version = document.get("version")
    items = document.get("items")
    # Any JSON of an API has lists; without items only the version tells a feed.
    if not isinstance(items, list) or not (items or "jsonfeed.org" in str(version)):
        raise ReadingError("not-a-feed", "JSON without a feed's list of items")
    return _feed("json1.0" if str(version).rstrip("/").endswith("/1") else "json1.1", document, items, limits)


def _more_values(data: bytes, limit: int) -> bool:
    """Return whether JSON holds more values than `limit`, without making any: each would take 60 bytes."""
    if _separators(data) <= limit:
        return False
    # Escapes first, so that the quotes that remain are those around strings.
    bare = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return bare.count(b'"') > 4 * limit or sum(map(_separators, bare.split(b'"')[::2])) > limit


def _separators(data: bytes) -> int:
    """Count the signs that stand before a value."""
    return data.count(b",") + data.count(b"{") + data.count(b"[")


def _feed(kind: str, document: dict[str, Any], items: list[Any], limits: Limits) -> RawFeed:
    """Read the top level."""
    addresses = (("home_page_url", "alternate"), ("feed_url", "self"))
    links = [RawLink(_text(document, key), rel) for key, rel in addresses if _text(document, key)]
    hubs = (RawLink(_text(hub, "url"), "hub") for hub in _dicts(document, "hubs"))
    return RawFeed(
        format=kind,
        title=_text(document, "title"),
        description=_text(document, "description"),
        author=_people(document),
        language=_text(document, "language"),
        icon=_text(document, "favicon"),
        image=_text(document, "icon"),
        links=[*links, *(hub for hub in hubs if hub.href)],
        entries=[_entry(item) for item in items[: 10 * limits.entries] if isinstance(item, dict)],
    )


def _entry(item: dict[str, Any]) -> RawEntry:
    """Read one item."""
    # A linked list leads to its own page, and names the page that it is about in external_url.
    link = _text(item, "url") or _text(item, "external_url")
    about = _text(item, "external_url")
    content = _text(item, "content_html")
    if not content and (text := _text(item, "content_text")):
        content = html.escape(text, quote=False).replace("\n", "<br>")
    media = (
        RawLink(
            _text(a, "url"),
            "enclosure",
            _text(a, "mime_type"),
            _text(a, "size_in_bytes"),
            title=_text(a, "title"),
            duration=_text(a, "duration_in_seconds"),
        )
        for a in _dicts(item, "attachments")
    )
    return RawEntry(
        identity=_text(item, "id"),
        permalink=True,
        links=[
            *([RawLink(link)] if link else []),
            *([RawLink(about, "related")] if about and about != link else []),
            *(m for m in media if m.href),
        ],
        title=_text(item, "title"),
        author=_people(item),
        published=_text(item, "date_published"),
        updated=_text(item, "date_modified"),
        summary=Markup(_text(item, "summary"), literal=True),
        content=Markup(content),
        language=_text(item, "language"),
        categories=_tags(item),
        details=RawDetails(
            images=[RawLink(url) for key in ("image", "banner_image") if (url := _text(item, key))]
        ),
    )


def _text(values: dict[str, Any], key: str) -> str:
    """Return a string or number as stripped text."""
    value = values.get(key)
    # nextcloud-news 572: ids that are numbers. bool is an int to Python and no text.
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _tags(item: dict[str, Any]) -> list[str]:
    """Return the tags of an item: a list, or as some write them, names with commas between."""
    tags = item.get("tags")
    if isinstance(tags, str):
        return tags[:4000].split(",")
    return [str(tag) for tag in _list(item, "tags") if isinstance(tag, str | int | float)]


def _list(values: dict[str, Any], key: str) -> list[Any]:
    """Return a list, an empty one for anything else."""
    value = values.get(key)
    return value[:200] if isinstance(value, list) else []


def _dicts(values: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in a list."""
    return [v for v in _list(values, key) if isinstance(v, dict)]


def _people(values: dict[str, Any]) -> str:
    """Return names from `authors` (1.1), or without any from `author` (1.0), which it replaced.

    Some write one object where the list of authors belongs.
    """
    people = _dicts(values, "authors") or [
        author for author in [values.get("authors")] if isinstance(author, dict)
    ]
    # JSON Feed 1.1 renamed author to authors; feeds have either, or an empty new one beside the old.
    if not any(_text(person, "name") for person in people) and isinstance(values.get("author"), dict):
        people = [values["author"]]
    return ", ".join(dict.fromkeys(name for p in people if (name := _text(p, "name"))))
