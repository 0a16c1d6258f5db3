"""Detection of new and edited entries by 12 bytes for each known entry.

This is the paper's local file of last titles, small enough to travel with the assignment.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable

from msgspec.structs import replace

from crawler.reading.documents import Entry, FeedDocument

_RECORD = struct.Struct("8s4s")
MOST = 5_000  # records that merged ones may grow to


def fingerprints(entries: Iterable[Entry]) -> bytes:
    """Return one 12-byte record per entry: 8 bytes of BLAKE2b of its identity, 4 of its content."""
    return b"".join(_RECORD.pack(_key(e), _content(e)) for e in entries)


def compare(document: FeedDocument, known: bytes) -> FeedDocument:
    """Return the document with only its unknown entries, and known ones with changed content as `edited`.

    `known` is what `fingerprints` gave before (a damaged tail is ignored). `fingerprints` and `size` of the
    result stay those of the whole document.
    """
    whole = len(known) - len(known) % _RECORD.size
    contents = dict(_RECORD.iter_unpack(known[:whole]))
    new, edited = [], []
    for entry in document.entries:
        before = contents.get(_key(entry))
        if before is None:
            new.append(entry)
        elif before != _content(entry):
            edited.append(entry)
    return replace(document, entries=tuple(new), edited=tuple(edited))


def merged(new: bytes, known: bytes) -> bytes:
    """Merge the records of both, at most MOST; `new` comes first and replaces equal identities of `known`."""
    records = dict(_RECORD.iter_unpack(known[: len(known) - len(known) % _RECORD.size]))
    replaced = dict(_RECORD.iter_unpack(new))
    remaining = [(key, content) for key, content in records.items() if key not in replaced]
    return b"".join(_RECORD.pack(*record) for record in [*replaced.items(), *remaining][:MOST])


def _key(entry: Entry) -> bytes:
    """Return 8 bytes of an identity's digest."""
    return hashlib.blake2b(entry.identity.encode("utf-8", "replace"), digest_size=8).digest()


def _content(entry: Entry) -> bytes:
    """Return 4 bytes of the digest of an entry's content."""
    fields = (entry.title, entry.url, repr(entry.published), entry.summary, entry.content)
    return hashlib.blake2b("\0".join(fields).encode("utf-8", "replace"), digest_size=4).digest()
