"""A page read as a feed: its list of articles, chosen by rules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from lxml import html

from crawler.reading.documents import FeedDocument, SourceRules
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.build import document
from crawler.reading.feeds.raw import Markup, RawDetails, RawEntry, RawFeed, RawLink
from crawler.reading.limits import LIMITS
from crawler.reading.pages.tree import media_type, page_tree, text_of
from crawler.reading.sources.entries import ChosenEntry, chosen_entries, has_one_address
from crawler.text.characters import one_line

PAGE_FORMAT = "page"


def tree_of(body: bytes, content_type: str) -> html.HtmlElement:
    """Return the tree of a page. Raises ReadingError for what is none, is empty or too large."""
    media_type(body, content_type)
    root = page_tree(text_of(body, content_type))
    if root is None:
        raise ReadingError("malformed", "the page is empty")
    return root


def page_feed(root: html.HtmlElement, url: str, rules: SourceRules) -> FeedDocument:
    """Return the list of a page at `url` as a feed. Raises ReadingError(malformed) for an unusable rule."""
    entries = chosen_entries(root, url, rules)
    return listed_feed(
        RawFeed(
            PAGE_FORMAT,
            title=one_line(root.findtext(".//title") or "", LIMITS.title),
            language=root.get("lang") or "",
            links=[RawLink(url)],
        ),
        url,
        entries,
    )


def listed_feed(raw: RawFeed, url: str, entries: Sequence[ChosenEntry]) -> FeedDocument:
    """Return chosen entries as a feed's document, with the fields of `raw`."""
    is_shared = has_one_address(entries)
    raw.entries = [_raw(entry, entry.title if is_shared else entry.url) for entry in entries]
    return document(raw, url, LIMITS, well_formed=True)


def _raw(entry: ChosenEntry, identity: str) -> RawEntry:
    return RawEntry(
        identity=identity,
        links=[RawLink(entry.url)] if entry.url else [],
        title=entry.title,
        title_kind="text",
        published=_stamp(entry.published),
        summary=Markup(entry.summary, literal=True),
        details=RawDetails(images=[RawLink(entry.image)]) if entry.image else None,
    )


def _stamp(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).isoformat()
