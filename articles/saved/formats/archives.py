"""Exports as zip files: Pocket, Omnivore, Readeck, and any file of saved pages in a zip. Pure.

Members are read into memory one after another. What is read is bounded in bytes and members, so that a bomb
ends with a sentence.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from articles.saved.formats import documents
from articles.saved.formats.pages import (
    EntryCollection,
    FiledPage,
    NotSavedPages,
    SavedFile,
    SavedHighlight,
    SavedProblem,
)
from articles.saved.formats.values import Times, text_of

MAX_UNPACKED = 256 * 1024 * 1024
MAX_MEMBERS = 200_000
# Exports have empty files for what a person never used.
_EMPTY = (b"", b"[]", b"{}")
_PIECE = 1024 * 1024
_READABLE = (".html", ".htm", ".csv", ".json", ".txt")
_METADATA = re.compile(r"metadata[^/]*\.json")


def is_archive(data: bytes) -> bool:
    """Return whether a file is a zip file."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def read_archive(data: bytes, read: Callable[[bytes, str], SavedFile]) -> SavedFile:
    """Read a zip file, with `read` for single files inside.

    Raises NotSavedPages when it is damaged, locked, larger than 256 MB unpacked, or holds no saved pages.
    """
    with _sentences():
        archive = zipfile.ZipFile(io.BytesIO(data))
    members = _Members(archive)
    if members.matching(_METADATA):
        return _omnivore(members)
    if members.named("info.json"):
        return _readeck(members)
    return _files(members, read)


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn what zipfile raises for damaged and locked files into NotSavedPages."""
    try:
        yield
    except RuntimeError as error:
        # zipfile raises RuntimeError for a password, and its subclass NotImplementedError for unknown
        # packing.
        locked = not isinstance(error, NotImplementedError)
        why = "is locked with a password" if locked else "is packed in a way that cannot be read"
        raise NotSavedPages(f"This zip file {why}.") from error
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        struct.error,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        raise NotSavedPages("This zip file is damaged. It may not have arrived whole.") from error


class _Members:
    """The members of a zip file by path, read up to a common bound."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        infos = archive.infolist()
        if len(infos) > MAX_MEMBERS:
            raise NotSavedPages(f"This zip file holds more than {MAX_MEMBERS:,} files.")
        self._archive = archive
        self._left = MAX_UNPACKED
        self.by_path = {
            info.filename: info
            for info in infos
            if info.filename
            # macOS adds its own files to every archive; names that begin with a dot are hidden.
            and not info.is_dir()
            and not info.filename.startswith("__MACOSX/")
            and "/." not in info.filename
        }

    def matching(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the paths whose last part matches."""
        return [path for path in self.by_path if pattern.fullmatch(posixpath.basename(path))]

    def named(self, name: str) -> list[str]:
        """Return the paths whose last part is a name."""
        return [path for path in self.by_path if posixpath.basename(path) == name]

    def read(self, path: str) -> bytes:
        """Unpack a member. Raises NotSavedPages when all that is read grows over the bound."""
        with _sentences(), self._archive.open(self.by_path[path]) as stream:
            data = bytearray()
            # Read to the bound and not by the stated size, which a bomb understates.
            while len(data) <= self._left and (piece := stream.read(_PIECE)):
                data += piece
        self._left -= len(data)
        if self._left < 0:
            raise NotSavedPages(f"This zip file unpacks to more than {MAX_UNPACKED >> 20} MB.")
        return bytes(data)


def _omnivore(members: _Members) -> SavedFile:
    """Read Omnivore's export: metadata, and by slug a page's content and its highlights in Markdown."""
    collection, times = EntryCollection("Omnivore"), Times()
    number = 0
    for path in sorted(members.matching(_METADATA), key=_natural):
        folder = posixpath.dirname(path)
        entries = documents.loaded(text_of(members.read(path)))
        for entry in entries if isinstance(entries, list) else [entries]:
            number += 1
            extras = _Extras() if not isinstance(entry, dict) else _extras(members, folder, entry.get("slug"))
            documents.add_entry(collection, extras.joined, entry, number, times)
    return collection.file()


@dataclass(frozen=True, slots=True)
class _Extras:
    """Content, highlights and note in the files beside an entry of Omnivore's metadata."""

    html: str = ""
    highlights: tuple[SavedHighlight, ...] = ()
    note: str = ""

    def joined(self, entry: documents.Entry, times: Times) -> FiledPage:
        """Read an entry, with what lies beside it."""
        page = documents.omnivore(entry, times)
        return replace(page, html=self.html, highlights=self.highlights, note=self.note)


def _extras(members: _Members, folder: str, slug: object) -> _Extras:
    content = posixpath.join(folder, f"content/{slug}.html")
    highlights = posixpath.join(folder, f"highlights/{slug}.md")
    html = text_of(members.read(content)) if content in members.by_path else ""
    if highlights not in members.by_path:
        return _Extras(html)
    marked, note = markdown_highlights(text_of(members.read(highlights)))
    return _Extras(html, marked, note)


def markdown_highlights(text: str) -> tuple[tuple[SavedHighlight, ...], str]:
    """Read Omnivore's highlights: each "> " quotation, then its #labels and its note.

    Also returns the page's own note, which stands before the first quotation. Source: omnivore's
    parser.ts, highlightToMarkdown.
    """
    blocks: list[tuple[list[str], list[str]]] = [([], [])]
    for line in text.splitlines():
        if line.startswith(">"):
            if blocks[-1][1] or not blocks[-1][0]:
                blocks.append(([], []))
            blocks[-1][0].append(line[1:].strip())
        elif line.strip() or blocks[-1][1]:
            blocks[-1][1].append(line.rstrip())
        elif blocks[-1][0]:
            blocks[-1][1].append("")
    highlights = []
    for quotes, note_lines in blocks[1:]:
        labels = next((line for line in note_lines if line), "")
        tags = tuple(tag.strip() for tag in labels[1:].split(" #")) if re.match(r"#\w", labels) else ()
        note = "\n".join(note_lines).strip()
        highlights.append(
            SavedHighlight(
                "\n".join(quotes).strip(), note[len(labels) :].strip() if tags else note, tags=tags
            )
        )
    return tuple(highlights), "\n".join(blocks[0][1]).strip()


def _readeck(members: _Members) -> SavedFile:
    """Read Readeck's backup, with a folder and an info.json for each bookmark."""
    collection, times = EntryCollection("Readeck"), Times()
    for number, path in enumerate(members.named("info.json"), 1):
        documents.add_entry(
            collection, documents.readeck, documents.loaded(text_of(members.read(path))), number, times
        )
    return collection.file()


def _files(members: _Members, read: Callable[[bytes, str], SavedFile]) -> SavedFile:
    """Read each file of saved pages inside, and join them. Others are passed over, if one can be read."""
    files: list[SavedFile] = []
    for path in sorted(members.by_path, key=_tables_first):
        if not path.lower().endswith(_READABLE):
            continue
        data = members.read(path)
        try:
            files.append(read(data, path))
        except NotSavedPages as error:
            if data.strip() not in _EMPTY:
                files.append(SavedFile("", [], [SavedProblem(0, path, str(error))]))
    programs = [file.program for file in files if file.program]
    if not programs:
        raise NotSavedPages("This zip file holds no saved pages of a known program.")
    collection = EntryCollection(programs[0])
    for file in files:
        for page in file.pages:
            collection.add(page, 0)
        collection.problems.extend(file.problems)
    return collection.file()


def _natural(path: str) -> list[tuple[int, str]]:
    """Return a key by which metadata_20 comes before metadata_100."""
    # \d{1,18}: longer runs of digits are names and no numbers.
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", path)]


def _tables_first(path: str) -> tuple[bool, list[tuple[int, str]]]:
    """Return a key by which Pocket's pages come before their annotations."""
    # Highlights are joined to pages that are there already.
    return path.lower().endswith(".json"), _natural(path)
