"""Programs that read a file of saved pages and clean its pages, in processes without network or database.

The file is read once. Its pages are cleaned a part at a time, when they are stored: that takes some
milliseconds a page, and one that was made to cost much costs its part alone.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from articles.saved.files import NotSavedPages, SavedProblem, read_saved
from articles.saved.formats.pages import FiledPage
from crawler.isolation import memory
from crawler.isolation.calls import ProgramError, register
from crawler.isolation.limits import ProcessLimits
from crawler.reading.limits import LIMITS as READING_LIMITS
from crawler.reading.pages.kept import clean_copy

READ_SAVED_FILE, CLEAN_SAVED_PAGES = "read-saved-file", "clean-saved-pages"
REFUSED = "no-saved-pages"
"""The kind of the failure whose detail is a sentence for the person who sent the file."""
CPU_SECONDS = 60
MAX_PAGES = 100_000
MAX_PROBLEMS = 1000
"""Problems that are kept; the others are counted."""
MAX_PACKED = 128 * 1024 * 1024
"""Bytes of the pages of one file, packed."""
PART_PAGES, PART_CHARACTERS = 200, 8_000_000
LIMITS = ProcessLimits(cpu_seconds=CPU_SECONDS, memory_bytes=memory.share(1 / 2, 400, 2000))
_LENGTH = struct.Struct(">I")


class CleanPage(msgspec.Struct, frozen=True, array_like=True):
    """A page of a file with sanitised HTML, and the text of it."""

    page: FiledPage
    text: str = ""


class FilePart(msgspec.Struct, frozen=True, array_like=True):
    """Where some pages of a file stand in what is packed: the number of pages before, bytes before, bytes."""

    first: int
    start: int
    size: int
    has_html: bool


class ReadFile(msgspec.Struct, frozen=True):
    """The result of reading a file. `content` has its pages, packed in parts (`packed`)."""

    program: str
    total: int
    problems: list[SavedProblem]
    problem_count: int
    content: bytes


def read(request: dict[str, Any], body: bytes) -> bytes:
    """Return the pages of the file in the body as MessagePack. Raises ProgramError with a sentence."""
    try:
        file = read_saved(body, request["name"])
    except NotSavedPages as error:
        raise ProgramError(REFUSED, str(error)) from None
    total = len(file.pages)
    if total > MAX_PAGES:
        raise ProgramError(REFUSED, f"This file has more than {MAX_PAGES:,} pages.")
    problems, count = file.problems[:MAX_PROBLEMS], len(file.problems)
    content = packed(file.pages) if total else b""
    return msgspec.msgpack.encode(ReadFile(file.program, total, problems, count, content))


def clean(_: dict[str, Any], body: bytes) -> bytes:
    """Return the pages of the packed part in the body with sanitised HTML as MessagePack."""
    pages = unpacked(body)
    cleaned = []
    for page in pages:
        content, text = clean_copy(page.html, page.url)
        cleaned.append(CleanPage(replace(page, html=content), text))
    return msgspec.msgpack.encode(cleaned)


def packed(pages: list[FiledPage]) -> bytes:
    """Pack pages in parts, each zlib of MessagePack, behind the list of the parts and its length.

    A part is read without the others, so that no more than one is in memory. Copies that are too long to
    be cleaned are left out. Empties the list, for each page may be large. Raises ProgramError.
    """
    parts: list[FilePart] = []
    content, number = bytearray(), 0
    for part in _parts(pages):
        data = zlib.compress(msgspec.msgpack.encode(part), 6)
        parts.append(FilePart(number, len(content), len(data), any(page.html for page in part)))
        content += data
        number += len(part)
        if len(content) > MAX_PACKED:
            raise ProgramError(REFUSED, f"The pages in this file are more than {MAX_PACKED >> 20} MB.")
    index = msgspec.msgpack.encode(parts)
    return _LENGTH.pack(len(index)) + index + content


def index_length(head: bytes) -> int:
    """Return the bytes of the list of parts, which follows the first INDEX_START bytes."""
    length: int = _LENGTH.unpack(head)[0]
    return length


INDEX_START = _LENGTH.size


def unpacked(part: bytes) -> list[FiledPage]:
    """Return the pages of a part."""
    return msgspec.msgpack.decode(zlib.decompress(part), type=list[FiledPage])


def _parts(pages: list[FiledPage]) -> Iterator[Sequence[FiledPage]]:
    pages.reverse()
    part: list[FiledPage] = []
    characters = 0
    while pages:
        page = pages.pop()
        part.append(page if len(page.html) <= READING_LIMITS.bytes else replace(page, html=""))
        characters += len(part[-1].html)
        if len(part) == PART_PAGES or characters > PART_CHARACTERS:
            yield part
            part, characters = [], 0
    if part:
        yield part


register(READ_SAVED_FILE, read, LIMITS)
register(CLEAN_SAVED_PAGES, clean, LIMITS)
