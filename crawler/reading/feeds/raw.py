"""A feed's fields as a reader found them, before anything is resolved, cleaned or dated.

Every reader (XML, tolerant, JSON) fills these, and one builder makes a FeedDocument of them, so that
the same document gives the same entries whichever way it was read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.reading.feeds.titles import Kind


@dataclass(slots=True)
class Markup:
    """HTML, or text in which a `<` may be a character (`literal`: Atom type=text, JSON content_text)."""

    value: str = ""
    literal: bool = False
    base: str = ""


@dataclass(slots=True)
class RawLink:
    """A link of any kind: Atom link, RSS link or enclosure, media:content, JSON attachment."""

    href: str
    rel: str = "alternate"
    type: str = ""
    length: str = ""
    medium: str = ""
    title: str = ""
    duration: str = ""
    width: str = ""
    height: str = ""


@dataclass(slots=True)
class RawDetails:
    """Details of an item beside its text, as written. `point` is latitude and longitude.

    `terms` are term, scheme and label of each category; `transcripts` and `chapters` address, type, language.
    """

    images: list[RawLink] = field(default_factory=list)
    duration: str = ""
    episode: str = ""
    season: str = ""
    episode_type: str = ""
    explicit: str = ""
    transcripts: list[tuple[str, str, str]] = field(default_factory=list)
    chapters: list[tuple[str, str, str]] = field(default_factory=list)
    comments: str = ""
    comment_count: str = ""
    comments_feed: str = ""
    source_title: str = ""
    source_url: str = ""
    contributors: list[str] = field(default_factory=list)
    terms: list[tuple[str, str, str]] = field(default_factory=list)
    rights: str = ""
    point: tuple[str, str] = ("", "")


@dataclass(slots=True)
class RawEntry:
    """An item; `base` comes from xml:base.

    `permalink` says that the identity may serve as link, `path` that it may be relative. `title_kind` is
    "text" or "html" if the feed says which of them its title is. `original_link` is the article's own
    address where `links` lead over a service that counts readers.
    """

    identity: str = ""
    permalink: bool = False
    path: bool = False
    links: list[RawLink] = field(default_factory=list)
    title: str = ""
    title_kind: Kind = ""
    author: str = ""
    published: str = ""
    updated: str = ""
    summary: Markup = field(default_factory=Markup)
    content: Markup = field(default_factory=Markup)
    language: str = ""
    categories: list[str] = field(default_factory=list)
    base: str = ""
    original_link: str = ""
    details: RawDetails | None = None


@dataclass(slots=True)
class RawFeed:
    """A feed's own fields, with its items in document order."""

    format: str
    title: str = ""
    title_kind: Kind = ""
    description: str = ""
    author: str = ""
    language: str = ""
    base: str = ""
    icon: str = ""
    image: str = ""
    ttl: str = ""
    update_period: str = ""
    update_frequency: str = ""
    links: list[RawLink] = field(default_factory=list)
    skip_hours: list[str] = field(default_factory=list)
    skip_days: list[str] = field(default_factory=list)
    entries: list[RawEntry] = field(default_factory=list)
