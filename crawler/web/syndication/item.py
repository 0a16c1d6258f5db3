"""The model of every output format: a channel and its items, without Django and without illegal text."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from msgspec import ValidationError, convert

from crawler.reading.documents import NO_DETAILS, Details

# Characters that XML 1.0 cannot carry even escaped, and halves of surrogate pairs.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TAG = re.compile(r"<[^>]*>")
_WEB = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+")

_USUAL_TYPES = {"image": "image/jpeg", "audio": "audio/mpeg", "video": "video/mp4"}
"""Media types by Media RSS's medium, where a feed gives no type."""

SUMMARY_LENGTH = 400
# A feed's own content is taken before the page's text when it says as much: it has pictures and markup.
AS_FULL = 0.9


@dataclass(frozen=True, slots=True)
class Attachment:
    """A media file: `length` in bytes, `duration` in seconds, sizes in pixels, 0 when unknown."""

    url: str
    type: str
    length: int = 0
    medium: str = ""
    title: str = ""
    duration: int = 0
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class ItemSource:
    """The feed that an item comes from."""

    title: str
    feed_url: str
    site_url: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """An article. `id` is a URN that never changes, `updated` when the stored article last changed.

    `summary` and `content` are HTML; `content` is empty in feeds of summaries. `image` is the address of a
    picture that stands for it.
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
    image: str = ""
    details: Details = NO_DETAILS


@dataclass(frozen=True, slots=True)
class Channel:
    """A document: its id, title, addresses, and the time of its last change.

    `next_url` is the page with older items, `previous_url` the one with newer ones; empty at the ends.
    Programs subscribe at `hub_url` to be told of changes (WebSub).
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
    hub_url: str = ""

    @property
    def links(self) -> list[tuple[str, str]]:
        """Relations and addresses of the neighbouring pages."""
        urls = (self.self_url, self.first_url, self.previous_url, self.next_url)
        return [link for link in zip(("self", "first", "previous", "next"), urls, strict=True) if link[1]]


def legal(text: str) -> str:
    """Return the text without characters that XML cannot carry."""
    return _ILLEGAL.sub("", text)


def web_url(url: str) -> str:
    """Return the URL when it is http or https without blanks or quotes, else an empty text."""
    return url if _WEB.fullmatch(url) else ""


def point(details: Details) -> str:
    """Return latitude and longitude with a blank between them, "" if there is no place."""
    if details.latitude is None or details.longitude is None:
        return ""
    return f"{details.latitude:g} {details.longitude:g}"


def language_tag(language: str) -> str:
    """Return the language when it looks like a BCP 47 tag, else an empty text."""
    return language if _LANGUAGE.fullmatch(language) else ""


def attachment(enclosure: object) -> Attachment | None:
    """Convert a stored enclosure (url, type, length). Returns None when it has no usable address."""
    if not isinstance(enclosure, dict) or not web_url(str(enclosure.get("url", ""))):
        return None
    kind, medium = str(enclosure.get("type", "")), str(enclosure.get("medium", ""))
    usable = kind if _MEDIA_TYPE.fullmatch(kind) else _USUAL_TYPES.get(medium, "application/octet-stream")
    length, duration, width, height = (
        max(number, 0) if isinstance(number := enclosure.get(name, 0), int) else 0
        for name in ("length", "duration", "width", "height")
    )
    title = str(enclosure.get("title", ""))
    return Attachment(enclosure["url"], usable, length, medium, title, duration, width, height)


def stored_details(stored: object) -> Details:
    """Return the stored details of an entry; empty ones for anything else."""
    try:
        return convert(stored, Details, strict=False)
    except ValidationError:
        return NO_DETAILS


def title_of(title: str, text: str) -> str:
    """Return the title, else the first words of the text."""
    return title.strip() or " ".join(text[:200].split()[:10]) or _("Untitled")


def full_body(content: str, summary: str, text: str, page: str = "") -> str:
    """Return the fullest HTML of an article: the feed's own, unless its page says more.

    `text` is the article's text, `page` its page's content as HTML, "" if there is none.
    """
    body = content or summary
    if body and _words(body) >= AS_FULL * len(text):
        return body
    return page if page and _words(page) >= AS_FULL * len(text) else paragraphs(text)


def short_body(summary: str, text: str) -> str:
    """Return the feed's summary, else the beginning of the text, cut at a word."""
    if summary:
        return summary
    if len(text) <= SUMMARY_LENGTH:
        return paragraphs(text)
    beginning = text[:SUMMARY_LENGTH]
    return paragraphs((beginning.rpartition(" ")[0] or beginning) + " …")


def paragraphs(text: str) -> str:
    """Return plain text as HTML, with a paragraph for every line."""
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"<p>{html.escape(line, quote=False)}</p>" for line in lines if line)


def _words(markup: str) -> int:
    """Count the characters of a text without its tags."""
    return len(html.unescape(_TAG.sub("", markup)))
