"""The row that every format of export writes, and how its texts become safe."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ExportedQuote:
    """Words that the person highlighted, with the note on them."""

    quote: str
    note: str = ""
    color: str = ""
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ExportRow:
    """An article or a change as formats write it; times are UTC, `kind` is news, saved or change.

    `key` is its number here, `uid` its name everywhere. `body` is the stored page as it was received.
    """

    key: str
    url: str = ""
    title: str = ""
    kind: str = "news"
    uid: str = ""
    authors: list[str] = field(default_factory=list)
    published: datetime | None = None
    updated: datetime | None = None
    seen: datetime | None = None
    saved: datetime | None = None
    site: str = ""
    feed: str = ""
    language: str = ""
    tags: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    starred: bool = False
    read: bool = False
    note: str = ""
    highlights: list[ExportedQuote] = field(default_factory=list)
    story: str = ""
    doi: str = ""
    image: str = ""
    summary: str = ""
    text: str = ""
    html: str = ""
    body: bytes = b""
    content_type: str = ""
    fetched: datetime | None = None


@dataclass(frozen=True, slots=True)
class ExportedList:
    """A list that is written: its title, and whether its file is `for_people` who open it by a click."""

    title: str = ""
    for_people: bool = False


_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_BREAKS = re.compile("\r\n?|[\x85\u2028\u2029]")
_WEB = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>?#&{}]+)")
_DOI_PLACE = re.compile(r"(?:^doi:|//(?:dx\.)?doi\.org/|/doi/(?:\w+/)?)(?=10\.)", re.IGNORECASE)


def clean_text(text: str) -> str:
    """Return the text without control characters, its lines separated by line feeds."""
    return _CONTROLS.sub("", _BREAKS.sub("\n", text))


def one_line(text: str) -> str:
    """Return the text as one line, without control characters and with single blanks."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def web_address(url: str) -> str:
    """Return the URL if it is http or https and one word, else ""."""
    return url if _WEB.fullmatch(url) and not _CONTROLS.search(url) else ""


def day_of(at: datetime | None) -> str:
    """Return the day as ISO 8601 has it, "" for no time."""
    return at.date().isoformat() if at else ""  # %Y would write the year 33 in two figures


def doi_in(*addresses: str) -> str:
    """Return the DOI that one of the addresses or identifiers names, "" if none does."""
    for address in addresses:
        place = _DOI_PLACE.search(address)
        if place and (name := _DOI.match(address, place.end())):
            return name[1].rstrip(".,;)")
    return ""
