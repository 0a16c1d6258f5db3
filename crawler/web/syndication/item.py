"""What every output format is written from: a channel and its items, free of Django and of illegal text."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import datetime

# Characters that XML 1.0 cannot carry even escaped, and halves of surrogate pairs.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TAG = re.compile(r"<[^>]*>")
_WEB = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+")

SUMMARY_LENGTH = 400
# A feed's own content is taken before the page's text when it says as much: it has pictures and markup.
AS_FULL = 0.9


@dataclass(frozen=True, slots=True)
class Attachment:
    """A media file: `length` in bytes, 0 when not known."""

    url: str
    type: str
    length: int = 0


@dataclass(frozen=True, slots=True)
class ItemSource:
    """The feed that an item comes from."""

    title: str
    feed_url: str
    site_url: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One article. `id` is a URN that never changes, `updated` when the stored article last changed.

    `summary` and `content` are HTML; `content` is empty in feeds of summaries.
    """

    id: str
    url: str
    title: str
    author: str
    published: datetime
    updated: datetime
    summary: str
    content: str
    source: ItemSource
    language: str = ""
    categories: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """The document itself: its id, title, addresses, and when anything in it last changed.

    `next_url` is the page with older items, `previous_url` the one with newer ones; empty at the ends.
    """

    id: str
    title: str
    description: str
    home_url: str
    self_url: str
    first_url: str
    next_url: str
    previous_url: str
    updated: datetime

    @property
    def links(self) -> list[tuple[str, str]]:
        """Relation and address of the pages there are."""
        urls = (self.self_url, self.first_url, self.previous_url, self.next_url)
        return [link for link in zip(("self", "first", "previous", "next"), urls, strict=True) if link[1]]


def legal(text: str) -> str:
    """The text without characters that XML cannot carry."""
    return _ILLEGAL.sub("", text)


def web_url(url: str) -> str:
    """The URL when it is one of the web and has no blanks or quotes, else nothing."""
    return url if _WEB.fullmatch(url) else ""


def language_tag(language: str) -> str:
    """The language when it looks like a BCP 47 tag, else nothing."""
    return language if _LANGUAGE.fullmatch(language) else ""


def attachment(given: object) -> Attachment | None:
    """An attachment from a stored enclosure (url, type, length); None when it has no usable address."""
    if not isinstance(given, dict) or not web_url(str(given.get("url", ""))):
        return None
    kind, length = str(given.get("type", "")), given.get("length", 0)
    usable = kind if _MEDIA_TYPE.fullmatch(kind) else "application/octet-stream"
    return Attachment(given["url"], usable, max(length, 0) if isinstance(length, int) else 0)


def title_of(title: str, text: str) -> str:
    """The title, else the first words of the text."""
    return title.strip() or " ".join(text[:200].split()[:10]) or "Untitled"


def full_body(content: str, summary: str, text: str) -> str:
    """The fullest HTML there is: the feed's own content, unless the page's text says more."""
    own = content or summary
    return own if own and _words(own) >= AS_FULL * len(text) else paragraphs(text)


def short_body(summary: str, text: str) -> str:
    """The feed's summary, else the beginning of the text, cut at a word."""
    if summary:
        return summary
    if len(text) <= SUMMARY_LENGTH:
        return paragraphs(text)
    beginning = text[:SUMMARY_LENGTH]
    return paragraphs((beginning.rpartition(" ")[0] or beginning) + " …")


def paragraphs(text: str) -> str:
    """Plain text as HTML, a paragraph for every line."""
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"<p>{html.escape(line, quote=False)}</p>" for line in lines if line)


def _words(markup: str) -> int:
    """Characters of a text without its tags."""
    return len(html.unescape(_TAG.sub("", markup)))
