"""Saved pages as plain values, and the collection that a file's entries go into. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import urlsplit

MAX_PROBLEM_TEXT = 200
"""Characters of a refused entry that its problem shows."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_IMPOSSIBLE = re.compile(r'["<>\\^`{|}\s]')
"""Characters that no host has."""


class NotSavedPages(ValueError):
    """An error about a file that no reader takes, as a sentence for the person who sent it."""


@dataclass(frozen=True, slots=True)
class SavedHighlight:
    """A marked passage of a saved page."""

    quote: str
    note: str = ""
    color: str = ""
    tags: tuple[str, ...] = ()
    made: datetime | None = None


@dataclass(frozen=True, slots=True)
class FiledPage:
    """A page that a person saved in another program. Times are in UTC, `html` is the content stored there."""

    url: str
    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    saved: datetime | None = None
    is_read: bool = False
    is_starred: bool = False
    language: str = ""
    html: str = ""
    highlights: tuple[SavedHighlight, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedProblem:
    """An entry that could not be taken: its line, or in JSON its number, its beginning and the reason."""

    line: int
    text: str
    why: str


@dataclass(slots=True)
class SavedFile:
    """The pages of a file in its order, each address once, and the entries that could not be taken."""

    program: str
    pages: list[FiledPage]
    problems: list[SavedProblem]


@dataclass(slots=True)
class EntryCollection:
    """The entries of a file so far, by address."""

    program: str
    problems: list[SavedProblem] = field(default_factory=list)
    _pages: dict[str, list[FiledPage]] = field(default_factory=dict)

    def add(self, page: FiledPage, line: int) -> None:
        """Add an entry, which becomes one page with others of its address. A useless address is a problem."""
        url = _CONTROL.sub("", page.url).strip().replace(" ", "%20")
        reason = refusal(url)
        if reason:
            self.refuse(line, page.url or page.title or page.note, reason)
            return
        title = " ".join(page.title.split())
        entry = replace(
            page, url=url, title="" if title in (url, page.url) else title, tags=_unique(page.tags),
            note=page.note.replace("\r\n", "\n").replace("\r", "\n").strip(),
        )  # fmt: skip
        self._pages.setdefault(address_key(url), []).append(entry)

    def refuse(self, line: int, text: str, why: str) -> None:
        """Note an entry that cannot be taken."""
        self.problems.append(
            SavedProblem(line, " ".join(text[: 2 * MAX_PROBLEM_TEXT].split())[:MAX_PROBLEM_TEXT], why)
        )

    def file(self) -> SavedFile:
        """Return what was collected."""
        pages = [entries[0] if len(entries) == 1 else joined(entries) for entries in self._pages.values()]
        return SavedFile(self.program, pages, self.problems)


def refusal(url: str) -> str:
    """Return why an address cannot be taken, "" for one that can."""
    if not url:
        return "The entry has no address."
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return "The address is not valid."
    if parts.scheme.lower() not in ("http", "https"):
        return (
            f"{parts.scheme}: is not an address of a web page."
            if parts.scheme
            else "The address is not complete."
        )
    if not host or _IMPOSSIBLE.search(host) or "%20" in host:
        return "The address is not valid."
    return ""


def address_key(url: str) -> str:
    """Return an address with scheme and host in lower case, and without a bare final slash, to compare by."""
    parts = urlsplit(url)
    path = "" if parts.path == "/" else parts.path
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower(), path=path).geturl()


def joined(entries: Sequence[FiledPage]) -> FiledPage:
    """Join the entries of one address: nothing of them is lost, and the earliest time is kept."""
    return FiledPage(
        url=entries[0].url,
        title=next((entry.title for entry in entries if entry.title), ""),
        tags=_unique(tag for entry in entries for tag in entry.tags),
        note="\n\n".join(dict.fromkeys(entry.note for entry in entries if entry.note)),
        saved=min((entry.saved for entry in entries if entry.saved is not None), default=None),
        is_read=any(entry.is_read for entry in entries),
        is_starred=any(entry.is_starred for entry in entries),
        language=next((entry.language for entry in entries if entry.language), ""),
        html=next((entry.html for entry in entries if entry.html), ""),
        highlights=tuple(dict.fromkeys(mark for entry in entries for mark in entry.highlights)),
    )


def _unique(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in tags))))
