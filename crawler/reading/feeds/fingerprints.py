"""Detection of new and edited entries by 12 bytes for each known entry.

This is the paper's local file of last titles, small enough to travel with the assignment.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from crawler.reading.documents import Entry, FeedDocument

_RECORD = struct.Struct("8s4s")
# 60 KB at 12 bytes each, which travel with every assignment.
MAX_RECORDS = 5_000  # records that merged ones may grow to
_MIN_MOVED = 3
"""Entries of known titles and new addresses from which a site has moved its articles."""


def fingerprints(entries: Iterable[Entry]) -> bytes:
    """Return one 12-byte record per entry: 8 bytes of BLAKE2b of its identity, 4 of its content."""
    return b"".join(_RECORD.pack(_key(e), _content(e)) for e in entries)


def compare(document: FeedDocument, known_records: bytes) -> FeedDocument:
    """Return the document with only its unknown entries, and known ones with changed content as `edited`.

    `known_records` is what `fingerprints` gave before (a damaged tail is ignored). `fingerprints` and `size`
    of the result stay those of the whole document.
    """
    contents = dict(_unpacked(known_records))
    new, edited = [], []
    for entry in document.entries:
        before = contents.get(_key(entry))
        if before is None:
            new.append(entry)
        elif before != _content(entry):
            edited.append(entry)
    return replace(document, entries=tuple(new), edited=tuple(edited))


def compare_titles(document: FeedDocument, known_records: bytes) -> FeedDocument:
    """Return a list with only its unknown entries, and known ones with another title as `edited`.

    Lists of pages show numbers of comments and "2 hours ago" beside their titles, so nothing else counts as
    an edit; what has left a list stays known, since it may come back. Where most of what is new has titles
    that are known, the site has given its articles new addresses, and they are not new.
    """
    contents = dict(_unpacked(known_records))
    titles = set(contents.values())
    listed_records = [
        (entry, *record)
        for entry, record in zip(
            document.entries, _RECORD.iter_unpack(_titled(document.entries)), strict=True
        )
    ]
    unknown = [(entry, title) for entry, key, title in listed_records if key not in contents]
    renamed = [entry for entry, title in unknown if title in titles]
    # At least three: one or two known titles are columns such as "Weekly links".
    are_moved = len(renamed) >= _MIN_MOVED and 2 * len(renamed) > len(unknown)
    new = tuple(entry for entry, title in unknown if not (are_moved and title in titles))
    edited = tuple(
        entry for entry, key, title in listed_records if key in contents and contents[key] != title
    )
    return replace(
        document, entries=new, edited=edited, fingerprints=merged(_titled(document.entries), known_records)
    )


def records(identities: Iterable[tuple[str, str]]) -> bytes:
    """Return one record per identity and title, as `compare_titles` keeps them."""
    return b"".join(_RECORD.pack(_digest(identity, 8), _digest(title, 4)) for identity, title in identities)


def known_identities(known_records: bytes) -> set[bytes]:
    """Return the digests of identities in records."""
    return {key for key, _ in _unpacked(known_records)}


def known_titles(known_records: bytes) -> set[bytes]:
    """Return the digests of titles in records of `compare_titles`."""
    return {title for _, title in _unpacked(known_records)}


def _unpacked(encoded: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Return the pairs of records, without a damaged tail."""
    return _RECORD.iter_unpack(encoded[: len(encoded) - len(encoded) % _RECORD.size])


def _titled(entries: Iterable[Entry]) -> bytes:
    return records((entry.identity, entry.title) for entry in entries)


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()


def merged(new: bytes, known_records: bytes, limit: int = MAX_RECORDS) -> bytes:
    """Merge the records of both, at most `limit`; `new` comes first and replaces what is known of it."""
    records = dict(_unpacked(known_records))
    replaced = dict(_RECORD.iter_unpack(new))
    # Known ones last, so that the limit drops what left the document longest ago.
    remaining = [(key, content) for key, content in records.items() if key not in replaced]
    return b"".join(_RECORD.pack(*record) for record in [*replaced.items(), *remaining][:limit])


def _key(entry: Entry) -> bytes:
    """Return 8 bytes of an identity's digest."""
    return _digest(entry.identity, 8)


def _content(entry: Entry) -> bytes:
    """Return 4 bytes of the digest of an entry's content."""
    # Without `updated`: programs that stamp it at each visit would make an edit of every entry.
    fields = (entry.title, entry.url, repr(entry.published), entry.summary, entry.content)
    return _digest("\0".join(fields), 4)
