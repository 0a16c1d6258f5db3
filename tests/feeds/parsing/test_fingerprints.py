"""Twelve bytes tell new entries from known and edited ones."""

from __future__ import annotations

from crawler.reading.documents import FeedDocument
from crawler.reading.feeds import compare, fingerprints, parse_feed


def feed(*entries: tuple[str, str]) -> FeedDocument:
    items = "".join(f"<item><guid>{guid}</guid><title>{title}</title></item>" for guid, title in entries)
    return parse_feed(f"<rss><channel>{items}</channel></rss>".encode(), url="https://example.org/feed")


def test_one_record_of_twelve_bytes_for_each_entry_of_the_document() -> None:
    document = feed(("1", "a"), ("2", "b"))
    assert document.fingerprints == fingerprints(document.entries)
    assert len(document.fingerprints) == 24


def test_it_keeps_new_entries_and_tells_edited_ones_apart() -> None:
    known = feed(("1", "a"), ("2", "b"), ("3", "c")).fingerprints
    now = feed(("4", "d"), ("2", "changed"), ("1", "a"))
    found = compare(now, known)
    assert [e.identity for e in found.entries] == ["4"]
    assert [e.identity for e in found.edited] == ["2"]
    assert (found.size, found.fingerprints) == (3, now.fingerprints)


def test_everything_is_new_to_a_feed_without_history() -> None:
    document = feed(("1", "a"))
    assert compare(document, b"") == document


def test_the_same_document_again_has_nothing_new() -> None:
    document = feed(("1", "a"), ("2", "b"))
    found = compare(document, document.fingerprints)
    assert (found.entries, found.edited) == ((), ())


def test_a_damaged_history_is_used_as_far_as_it_goes() -> None:
    document = feed(("1", "a"), ("2", "b"))
    assert [e.identity for e in compare(document, document.fingerprints[:17]).entries] == ["2"]
