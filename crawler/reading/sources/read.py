"""The reading of a source by its kind, compared with what is known of it. Pure."""

from __future__ import annotations

from lxml import html
from msgspec.structs import replace

from crawler.reading.documents import FeedDocument, ReadSource, SourceRules
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.fingerprints import (
    compare,
    compare_titles,
    known_identities,
    known_titles,
    records,
)
from crawler.reading.feeds.parse import parse_feed
from crawler.reading.sources.data import data_feed
from crawler.reading.sources.entries import next_page
from crawler.reading.sources.find import FoundList, find_lists
from crawler.reading.sources.kinds import DATA, FEED, PAGE, SITEMAP
from crawler.reading.sources.page import page_feed, tree_of
from crawler.reading.sources.sitemap import sitemap_feed
from crawler.text.records import Record

MIN_KNOWN = 2
"""Entries that must be known of a list to be proposed in place of one that has gone."""


class Received(Record, frozen=True):
    """A document as it came: its bytes, its address after redirects, and the type that its server names."""

    body: bytes
    url: str
    content_type: str = ""


def read_source(received: Received, kind: str, rules: SourceRules, known_records: bytes) -> ReadSource:
    """Return a document as a feed with only what is new in it, compared with the known fingerprints.

    Raises ReadingError. A page whose list has gone is no error here: it comes back without a document.
    """
    body, url, content_type = received.body, received.url, received.content_type
    if kind == FEED:
        return ReadSource(compare(parse_feed(body, url=url, content_type=content_type), known_records))
    if kind == SITEMAP:
        return ReadSource(sitemap_feed(body, url, known_records, is_first=not known_records))
    if kind == DATA:
        document = data_feed(body, url, content_type, rules)
        return ReadSource(compare_titles(document, known_records) if document.entries else None)
    if kind == PAGE:
        return _read_page(tree_of(body, content_type), url, rules, known_records)
    raise ReadingError("unsupported-type", f"no kind of source: {kind}")


def _read_page(root: html.HtmlElement, url: str, rules: SourceRules, known_records: bytes) -> ReadSource:
    """Return the list of a page, or rules for the one that has taken its place."""
    if not rules.entry:
        return _first_list(root, url, rules)
    document = page_feed(root, url, rules)
    if document.entries and not _is_another(document, known_records):
        return ReadSource(compare_titles(document, known_records), next=next_page(root, url, rules))
    lists = find_lists(root, url)
    best = max(lists, key=lambda candidate: _number_known(candidate, url, known_records), default=None)
    is_moved = best is not None and _number_known(best, url, known_records) >= MIN_KNOWN
    if document.entries and not is_moved:
        # All of it is new, and nothing older is left.
        return ReadSource(compare_titles(document, known_records), next=next_page(root, url, rules))
    moved = replace(best.rules, browser=rules.browser) if best is not None and is_moved else None
    return ReadSource(proposal=moved)


def _first_list(root: html.HtmlElement, url: str, rules: SourceRules) -> ReadSource:
    """Return the best list of a page, with the rules that choose it from now on."""
    lists = find_lists(root, url)
    if not lists:
        return ReadSource()
    chosen = replace(lists[0].rules, browser=rules.browser)
    return ReadSource(compare_titles(page_feed(root, url, chosen), b""), proposal=chosen)


def _is_another(document: FeedDocument, known_records: bytes) -> bool:
    """Return whether a list shows nothing that was there before, though much was."""
    identities, titles = known_identities(known_records), known_titles(known_records)
    if len(identities) <= MIN_KNOWN:
        return False
    shown_records = compare_titles(document, b"").fingerprints
    return identities.isdisjoint(known_identities(shown_records)) and titles.isdisjoint(
        known_titles(shown_records)
    )


def _number_known(candidate: FoundList, url: str, known_records: bytes) -> int:
    """Return how many entries of a list are known by their address or their title."""
    shown_records = records((entry.url or entry.title, entry.title) for entry in candidate.entries)
    return max(
        len(known_identities(shown_records) & known_identities(known_records)),
        len(known_titles(shown_records) & known_titles(known_records)),
    )
