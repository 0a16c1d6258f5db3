"""The files of an export, out of a zip file or alone, read up to a common bound. Knows no Django."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator

from articles.moving.values import MovingError
from crawler.text.marking import gettext_noop

MAX_FILES = 20_000
MAX_UNPACKED = 256 * 1024 * 1024
"""Bytes of all files together that are read."""
_PIECE = 1024 * 1024
_ENDS = (".opml", ".xml", ".json")
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError)


def is_archive(data: bytes) -> bool:
    """Return whether a file is a zip file."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def is_packed(data: bytes) -> bool:
    """Return whether a file is packed by gzip."""
    return data.startswith(b"\x1f\x8b")


def unpacked(data: bytes) -> bytes:
    """Return what a file packed by gzip holds. Raises MovingError as `files_in` does."""
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            content = stream.read(MAX_UNPACKED + 1)
    except _BROKEN:
        raise MovingError("damaged", gettext_noop("This .gz file is damaged.")) from None
    if len(content) > MAX_UNPACKED:
        raise MovingError("too-large", gettext_noop("This .gz file unpacks to more than 256 MB."))
    return content


def files_in(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of the OPML, XML and JSON files in a zip file, those with subscriptions first.

    Raises MovingError for one that is damaged, locked, or unpacks to more than 256 MB.
    """
    remaining_bytes = MAX_UNPACKED
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        if len(archive.infolist()) > MAX_FILES:
            raise MovingError("too-large", gettext_noop("This zip file holds too many files."))
        for info in sorted(archive.infolist(), key=lambda info: info.filename.lower().endswith(".json")):
            if not _is_read(info):
                continue
            content = _unpacked(archive, info, remaining_bytes)
            remaining_bytes -= len(content)
            yield info.filename, content
    except RuntimeError:  # as zipfile says that it needs a password, or does not know a packing
        raise MovingError("locked", gettext_noop("This zip file is locked, or cannot be unpacked.")) from None
    except _BROKEN:
        raise MovingError("damaged", gettext_noop("This zip file is damaged.")) from None


def _is_read(info: zipfile.ZipInfo) -> bool:
    path = info.filename
    is_hidden = path.startswith("__MACOSX/") or "/." in path
    return path.lower().endswith(_ENDS) and not info.is_dir() and not is_hidden


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, max_bytes: int) -> bytes:
    content = bytearray()
    with archive.open(info) as stream:
        while piece := stream.read(_PIECE):
            content += piece
            if len(content) > max_bytes:
                raise MovingError("too-large", gettext_noop("This zip file unpacks to more than 256 MB."))
    return bytes(content)
