"""The program that reads a file of saved pages, in a process of its own without network or database."""

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
from crawler.reading.pages.kept import clean_copy

READ_SAVED_FILE = "read-saved-file"
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


class ReadPage(msgspec.Struct, frozen=True, array_like=True):
    """A page of a file with sanitised HTML, and the text of it."""

    page: FiledPage
    text: str


class FilePart(msgspec.Struct, frozen=True, array_like=True):
    """Where some pages of a file stand in what is packed: the number of pages before, bytes before, bytes."""

    first: int
    start: int
    size: int


class ReadFile(msgspec.Struct, frozen=True):
    """What was read of a file. `content` has its pages, packed in parts (`packed`)."""

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
    content = packed(_cleaned(file.pages)) if total else b""
    return msgspec.msgpack.encode(ReadFile(file.program, total, problems, count, content))


def packed(pages: Iterator[ReadPage]) -> bytes:
    """Pack pages in parts, each zlib of MessagePack, behind the list of the parts and its length.

    A part is read without the others, so that no more than one is in memory. Raises ProgramError.
    """
    parts: list[FilePart] = []
    content, number = bytearray(), 0
    for part in _parts(pages):
        data = zlib.compress(msgspec.msgpack.encode(part), 6)
        parts.append(FilePart(number, len(content), len(data)))
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


def unpacked(part: bytes) -> list[ReadPage]:
    """Return the pages of a part."""
    return msgspec.msgpack.decode(zlib.decompress(part), type=list[ReadPage])


def _cleaned(pages: list[FiledPage]) -> Iterator[ReadPage]:
    """Yield the pages with sanitised HTML, and forget each one."""
    pages.reverse()
    while pages:
        page = pages.pop()
        content, text = clean_copy(page.html, page.url)
        yield ReadPage(replace(page, html=content), text)


def _parts(pages: Iterator[ReadPage]) -> Iterator[Sequence[ReadPage]]:
    part: list[ReadPage] = []
    characters = 0
    for page in pages:
        part.append(page)
        characters += len(page.page.html) + len(page.text)
        if len(part) == PART_PAGES or characters > PART_CHARACTERS:
            yield part
            part, characters = [], 0
    if part:
        yield part


register(READ_SAVED_FILE, read, LIMITS)
