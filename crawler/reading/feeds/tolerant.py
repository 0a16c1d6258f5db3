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
from crawler.reading.feeds.raw import Markup, RawDetails, RawEntry, RawFeed, RawLink
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
    """Return an ill-formed feed's fields, None when it has none. Raises ReadingError: too-deep, malformed."""
    text = _INHERITED.sub(" ", text[: limits.tolerant_bytes])
    # Each unclosed element stays on feedparser's stack.
    if _drift(text) > limits.unclosed_depth:
        raise ReadingError("too-deep", f"more than {limits.unclosed_depth} levels of unclosed elements")
    try:
        parsed = feedparser.parse(
            io.BytesIO(text.encode("utf-8", "replace")),
            response_headers={"content-type": "application/xml; charset=utf-8"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except Exception as error:  # nothing says what it raises on bytes that were made to break it
        raise ReadingError("malformed", f"feedparser: {type(error).__name__}: {str(error)[:150]}") from error
    version = _FORMATS.get(parsed.get("version", ""), "rss2.0" if parsed["entries"] else "")
    return _feed(version, parsed["feed"], parsed["entries"], text) if version else None


def _drift(text: str) -> int:
    """Return the greatest number of elements open at once."""
    depth = deepest = 0
    for end, name, empty in _TAG.findall("".join(sections(text)[::2])):
        if empty or name.lower() in _VOID:
            continue
        depth = max(depth - 1, 0) if end else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _feed(version: str, channel: Any, entries: list[Any], text: str) -> RawFeed:
    """Convert feedparser's dictionary of a feed to our fields."""
    return RawFeed(
        format=version,
        title=_plain(channel, "title"),
        description=_plain(channel, "subtitle"),
        author=_people(channel),
        language=_plain(channel, "language") or (channel.get("title_detail") or {}).get("language") or "",
        base=(channel.get("title_detail") or {}).get("base") or "",
        icon=_plain(channel, "icon"),
        image=_plain(channel, "logo") or _plain(channel.get("image") or {}, "href"),
        ttl=_plain(channel, "ttl"),
        update_period=_plain(channel, "sy_updateperiod"),
        update_frequency=_plain(channel, "sy_updatefrequency"),
        links=_links(channel),
        # From the text, for feedparser keeps no list of them.
        skip_hours=_HOUR.findall(text)[:24],
        skip_days=_DAY.findall(text)[:7],
        entries=[_entry(e) for e in entries],
    )


def _entry(entry: Any) -> RawEntry:
    """Convert feedparser's dictionary of an entry to our fields."""
    content = next((c for c in entry.get("content", ()) if c.get("value")), None)
    detail = entry.get("summary_detail") or {}
    return RawEntry(
        identity=_plain(entry, "id"),
        # feedparser makes a link of a guid; only without another link it is the article's.
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
        original_link=_plain(entry, "feedburner_origlink"),
        details=_details(entry),
    )


def _details(entry: Any) -> RawDetails:
    """Convert what feedparser knows of an entry beside its text."""
    thumbnails = [
        RawLink(str(e["url"]), width=str(e.get("width") or ""), height=str(e.get("height") or ""))
        for e in entry.get("media_thumbnail", ())[:20]
        if e.get("url")
    ]
    cover = _plain(entry.get("image") or {}, "href")
    source = entry.get("source") or {}
    explicit = dict.get(entry, "itunes_explicit")
    place = entry.get("where") or {}
    longitude, latitude = [*list(place.get("coordinates") or ()), "", ""][:2]
    return RawDetails(
        images=[*thumbnails, *([RawLink(cover)] if cover else [])],
        duration=_plain(entry, "itunes_duration"),
        episode=_plain(entry, "itunes_episode"),
        season=_plain(entry, "itunes_season"),
        episode_type=_plain(entry, "itunes_episodetype"),
        explicit="" if explicit is None else str(bool(explicit)),
        comments=_plain(entry, "comments"),
        comment_count=_plain(entry, "slash_comments") or _plain(entry, "thr_total"),
        comments_feed=_plain(entry, "wfw_commentrss"),
        source_title=_plain(source, "title"),
        source_url=_plain(source, "href"),
        contributors=[p.get("name") or p.get("email") or "" for p in entry.get("contributors", ())[:20]],
        terms=[
            (t.get("term") or "", t.get("scheme") or "", t.get("label") or "")
            for t in entry.get("tags", ())[:50]
        ],
        rights=_plain(entry, "rights"),
        point=(str(latitude), str(longitude)) if place.get("type") == "Point" else ("", ""),
    )


def _plain(values: Any, key: str) -> str:
    """Return a text by its exact key (feedparser's own lookup answers `updated` for `published`)."""
    value = dict.get(values, key)
    return value if isinstance(value, str) else ""


def _markup(value: str, detail: Any) -> Markup:
    """Return HTML or text with the base that feedparser found for it."""
    return Markup(value, detail.get("type") == "text/plain", detail.get("base") or "")


def _links(values: Any) -> list[RawLink]:
    """Return links, enclosures and media:content."""
    candidates = [(e, e.get("href"), e.get("rel") or "alternate", "length") for e in values.get("links", ())]
    if not any(rel == "alternate" for _, _, rel, _ in candidates) and _plain(values, "link"):
        candidates.append(({}, _plain(values, "link"), "alternate", "length"))
    candidates += [(e, e.get("url"), "enclosure", "filesize") for e in values.get("media_content", ())]
    return [
        RawLink(href, rel.lower(), e.get("type") or "", str(e.get(length) or ""))
        for e, href, rel, length in candidates
        if isinstance(href, str) and href
    ]


def _people(values: Any) -> str:
    """Return the names of the authors, else the author as written."""
    names = [p.get("name") or p.get("email") or "" for p in values.get("authors", ())]
    return ", ".join(dict.fromkeys(n for n in names if n)) or _plain(values, "author")
