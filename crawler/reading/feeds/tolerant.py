"""Feeds that are no XML, read by feedparser: the slow path, for documents that could not be mended.

feedparser neither resolves nor sanitises here, gets its bytes as UTF-8, and never sees a URL or a name
that it might open.
"""

from __future__ import annotations

import io
import re
from typing import Any

import feedparser

from crawler.reading.errors import ReadingError
from crawler.reading.feeds.raw import Markup, RawEntry, RawFeed, RawLink
from crawler.reading.feeds.repair import sections
from crawler.reading.limits import Limits

_FORMATS = {
    "rss090": "rss0.90", "rss091n": "rss0.91", "rss091u": "rss0.91", "rss092": "rss0.92", "rss093": "rss0.93",
    "rss094": "rss0.94", "rss10": "rss1.0", "rss20": "rss2.0", "rss": "rss2.0",
    "atom01": "atom0.3", "atom02": "atom0.3", "atom03": "atom0.3", "atom10": "atom1.0", "atom": "atom1.0",
}  # fmt: skip
# A tag that is never closed ends where the next one starts, as in feedparser.
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)(?:\"[^\"<]*\"|'[^'<]*'|[^<>\"'])*?(/?)(?:>|(?=<))")
_VOID = {"br", "hr", "img", "input", "col", "wbr", "area", "base", "embed", "param", "source", "p", "li"}
# What every entry within inherits; thousands of entries would each get its own copy of a long one.
_INHERITED = re.compile(
    r"\b(?:xml:)?(?:base|lang)\s*=\s*(?:\"[^\"<>]{2000,}\"?|'[^'<>]{2000,}'?|[^\s<>\"']{2000,})",
    re.IGNORECASE,
)
_HOUR = re.compile(r"<hour>\s*(\d{1,2})\s*</hour", re.IGNORECASE)
_DAY = re.compile(r"<day>\s*([A-Za-z]{3,9})\s*</day", re.IGNORECASE)


def read_tolerantly(text: str, limits: Limits) -> RawFeed | None:
    """An ill-formed feed's fields, None when it has none. Raises ReadingError: too-deep, malformed."""
    text = _INHERITED.sub(" ", text[: limits.tolerant_bytes])
    if _drift(text) > limits.unclosed_depth:
        raise ReadingError("too-deep", f"more than {limits.unclosed_depth} levels of unclosed elements")
    try:
        answer = feedparser.parse(
            io.BytesIO(text.encode("utf-8", "replace")),
            response_headers={"content-type": "application/xml; charset=utf-8"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except Exception as error:  # nothing says what it raises on bytes that were made to break it
        raise ReadingError("malformed", f"feedparser: {type(error).__name__}: {str(error)[:150]}") from error
    version = _FORMATS.get(answer.get("version", ""), "rss2.0" if answer["entries"] else "")
    return _feed(version, answer["feed"], answer["entries"], text) if version else None


def _drift(text: str) -> int:
    """The greatest number of elements open at once."""
    depth = deepest = 0
    for end, name, empty in _TAG.findall("".join(sections(text)[::2])):
        if empty or name.lower() in _VOID:
            continue
        depth = max(depth - 1, 0) if end else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _feed(version: str, channel: Any, entries: list[Any], text: str) -> RawFeed:
    """feedparser's dictionary of a feed in our fields."""
    return RawFeed(
        format=version,
        title=_plain(channel, "title"),
        description=_plain(channel, "subtitle"),
        author=_people(channel) if version.startswith("atom") else "",
        language=_plain(channel, "language") or (channel.get("title_detail") or {}).get("language") or "",
        base=(channel.get("title_detail") or {}).get("base") or "",
        ttl=_plain(channel, "ttl"),
        update_period=_plain(channel, "sy_updateperiod"),
        update_frequency=_plain(channel, "sy_updatefrequency"),
        links=_links(channel),
        skip_hours=_HOUR.findall(text)[:24],
        skip_days=_DAY.findall(text)[:7],
        entries=[_entry(e) for e in entries],
    )


def _entry(entry: Any) -> RawEntry:
    """feedparser's dictionary of an entry in our fields."""
    content = next((c for c in entry.get("content", ()) if c.get("value")), None)
    detail = entry.get("summary_detail") or {}
    return RawEntry(
        identity=_plain(entry, "id"),
        permalink=bool(entry.get("guidislink", "id" in entry and not entry.get("links"))),
        links=_links(entry),
        title=_plain(entry, "title"),
        author=_people(entry),
        published=_plain(entry, "published"),
        updated=_plain(entry, "updated"),
        summary=_markup(_plain(entry, "summary"), detail),
        content=_markup(content["value"], content) if content else Markup(),
        language=(content or detail or entry.get("title_detail") or {}).get("language") or "",
        categories=[t.get("label") or t.get("term") or "" for t in entry.get("tags", ())],
        base=(entry.get("title_detail") or {}).get("base") or "",
    )


def _plain(values: Any, key: str) -> str:
    """A text by its exact key (feedparser's own lookup answers `updated` for `published`)."""
    value = dict.get(values, key)
    return value if isinstance(value, str) else ""


def _markup(value: str, detail: Any) -> Markup:
    """HTML or text with the base that feedparser found for it."""
    return Markup(value, detail.get("type") == "text/plain", detail.get("base") or "")


def _links(values: Any) -> list[RawLink]:
    """Links, enclosures and media:content."""
    found = [(e, e.get("href"), e.get("rel") or "alternate", "length") for e in values.get("links", ())]
    if not any(rel == "alternate" for _, _, rel, _ in found) and _plain(values, "link"):
        found.append(({}, _plain(values, "link"), "alternate", "length"))
    found += [(e, e.get("url"), "enclosure", "filesize") for e in values.get("media_content", ())]
    return [
        RawLink(href, rel.lower(), e.get("type") or "", str(e.get(length) or ""))
        for e, href, rel, length in found
        if isinstance(href, str) and href
    ]


def _people(values: Any) -> str:
    """Names of the authors, else the author as written."""
    names = [p.get("name") or p.get("email") or "" for p in values.get("authors", ())]
    return ", ".join(dict.fromkeys(n for n in names if n)) or _plain(values, "author")
