"""A second opinion of feeds: feedparser's reading of a document beside ours, and where they disagree.

What we read otherwise on purpose is no disagreement: identities of our own where a feed gives none or one to
several articles, addresses behind a service that counts readers, relative links in a feed that stands on
another host than its site, dates that only we can read.
"""

from __future__ import annotations

import calendar
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

import feedparser

from crawler.reading.addresses import absolute, host
from crawler.reading.documents import Disagreement, Entry, FeedDocument
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.parse import parse_feed
from crawler.reading.inflate import without_gzip
from crawler.reading.limits import LIMITS
from crawler.text.characters import storable

MAX_BYTES = 500_000
"""Of a document of which a second opinion is asked: some 0.3 s at feedparser's usual pace."""
MAX_EXAMPLES = 3
"""Disagreements of one kind that are kept of one document."""
MAX_WORDS = 300
"""Characters that are kept of a reading."""

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)

Kind = Literal["count", "identity", "date", "link"]


@dataclass(frozen=True, slots=True)
class _Theirs:
    """An entry as feedparser reads it. `dates` and `links` are what an entry may be dated by or lead to."""

    identity: str
    title: str
    links: tuple[str, ...]
    dates: tuple[float, ...]

    @property
    def link(self) -> str:
        return self.links[0] if self.links else ""


def opinion_of(body: bytes, *, url: str, content_type: str = "") -> tuple[Disagreement, ...]:
    """Read the feed in a response body by both readers and return where they disagree.

    Empty where our reader finds no feed.
    """
    try:
        document = parse_feed(body, url=url, content_type=content_type)
    except ReadingError:
        return ()
    return second_opinion(body, content_type, url, document)


def second_opinion(
    body: bytes, content_type: str, url: str, document: FeedDocument, *, limit: int = MAX_EXAMPLES
) -> tuple[Disagreement, ...]:
    """Return where feedparser disagrees with `document`, our reading of the feed in `body` from `url`.

    Looks at the number of entries, their identity, dates and links. Empty for JSON, which feedparser does not
    read, and for what it cannot read: only two readings make a disagreement. Never raises. Returns at most
    `limit` of a kind.
    """
    # At the limit ours left entries out, and the numbers differ on purpose.
    if document.format.startswith("json") or document.size >= LIMITS.entries:
        return ()
    try:
        data = without_gzip(body, LIMITS.bytes)
        if len(data) > MAX_BYTES:
            return ()
        theirs = _theirs(data, content_type, url)
        return tuple(_disagreements(document, theirs, url, limit)) if theirs is not None else ()
    except Exception:  # nothing says what feedparser raises on bytes that were made to break it
        return ()


def _theirs(data: bytes, content_type: str, url: str) -> list[_Theirs] | None:
    """Return the entries that feedparser finds, None if it finds no feed. It gets no name to open."""
    # feedparser opens what looks like an address or a file; a stream is only read.
    parsed = feedparser.parse(
        io.BytesIO(data),
        response_headers={"content-location": url, "content-type": content_type or "application/xml"},
        sanitize_html=False,
        resolve_relative_uris=False,
    )
    if not parsed.get("version") and not parsed["entries"]:
        return None
    return [_their(entry) for entry in parsed["entries"]]


def _their(entry: Any) -> _Theirs:
    """Convert feedparser's dictionary of an entry; `dict.get`, for its own answers one key for another."""
    addresses = [
        dict.get(entry, "feedburner_origlink"),
        dict.get(entry, "link"),
        *(x.get("href") for x in entry.get("links", ()) if x.get("rel", "alternate") == "alternate"),
    ]
    times = [
        dict.get(entry, key)
        for key in ("published_parsed", "updated_parsed", "created_parsed")
        if key in entry
    ]
    return _Theirs(
        identity=storable(str(dict.get(entry, "id") or "")).strip(),
        title=str(dict.get(entry, "title") or "").strip(),
        links=tuple(dict.fromkeys(link for x in addresses if x and (link := absolute("", str(x))))),
        # Years before 1900 are placeholders such as Hugo's empty date.
        dates=tuple(float(calendar.timegm(t)) for t in times if t and t[0] >= 1900),
    )


def _disagreements(
    document: FeedDocument, theirs: list[_Theirs], url: str, limit: int
) -> Iterator[Disagreement]:
    """Yield disagreements, at most `limit` of a kind."""
    distinct = _distinct(theirs)
    if len(distinct) != document.size:
        yield Disagreement("count", str(document.size), str(len(distinct)))
    quota: dict[Kind, int] = {"identity": limit, "date": limit, "link": limit}
    for our_entry, their_entry in _pairs(document.entries, distinct):
        for kind, ours, their in _differences(our_entry, their_entry, document.site_url, url):
            if quota[kind]:
                quota[kind] -= 1
                yield Disagreement(kind, storable(ours, MAX_WORDS), storable(their, MAX_WORDS))


def _distinct(theirs: list[_Theirs]) -> list[_Theirs]:
    """Return entries without those that repeat another, by the rules by which `build` leaves them out."""
    shared = _shared(theirs)
    unique_entries: dict[object, _Theirs] = {}
    for number, entry in enumerate(theirs):
        key: object = (entry.link, entry.title, entry.dates)
        if entry.identity:
            key = (entry.identity, entry.link) if entry.identity in shared else entry.identity
        elif not (entry.title or entry.links):
            key = number
        unique_entries.setdefault(key, entry)
    return list(unique_entries.values())


def _shared(theirs: list[_Theirs]) -> frozenset[str]:
    """Return identities under which there are different articles: their links and their titles differ."""
    first: dict[str, _Theirs] = {}
    return frozenset(
        entry.identity
        for entry in theirs
        if entry.link != first.setdefault(entry.identity, entry).link
        and entry.title != first[entry.identity].title
    )


def _pairs(ours: Sequence[Entry], theirs: list[_Theirs]) -> Iterator[tuple[Entry, _Theirs]]:
    """Yield entries of both readings that are the same: by position, else by identity."""
    if len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)
        return
    by_identity = {entry.identity: entry for entry in ours}
    for entry in theirs:
        if entry.identity in by_identity:
            yield by_identity[entry.identity], entry


def _differences(ours: Entry, theirs: _Theirs, site: str, url: str) -> Iterator[tuple[Kind, str, str]]:
    """Yield in what two readings of one entry differ, with both."""
    if theirs.identity and not _same_identity(ours.identity, theirs.identity):
        yield "identity", ours.identity, theirs.identity
    dates = {date for date in (ours.published, ours.updated) if date is not None}
    if theirs.dates and not _same_date(ours, theirs):
        yield "date", ", ".join(map(_written, sorted(dates))), _written(theirs.dates[0])
    if not _same_link(ours, theirs, site, url):
        yield "link", ours.url, theirs.link


def _same_identity(ours: str, theirs: str) -> bool:
    """Return whether ours is theirs, with a digest that tells entries apart, or before it was made absolute.

    feedparser joins a guid that may serve as link with its base; ours stays as the feed gave it.
    """
    plain = ours.rpartition("#")[0]
    return _is_joined(ours, theirs) or (
        bool(plain) and (theirs.startswith(plain) or _is_joined(plain, theirs))
    )


def _is_joined(reference: str, address: str) -> bool:
    """Return whether an address may come from joining a relative reference with a base."""
    if _ABSOLUTE.match(reference):
        return absolute("", reference) == absolute("", address)
    return address.endswith(reference.lstrip("./"))


def _same_date(ours: Entry, theirs: _Theirs) -> bool:
    """Return whether the entry's first date is one of ours to the second."""
    return any(
        date is not None and int(date) == int(theirs.dates[0]) for date in (ours.published, ours.updated)
    )


def _same_link(ours: Entry, theirs: _Theirs, site: str, url: str) -> bool:
    """Return whether our link is theirs, or differs from it on purpose."""
    if not theirs.links or ours.url == theirs.link:
        return True
    if not ours.url and theirs.link == theirs.identity:  # a guid that is a number or words, taken for a link
        return not _ABSOLUTE.match(ours.identity)
    if host(site) != host(url) and host(theirs.link) == host(url):  # relative, in a feed on another host
        return urlsplit(theirs.link)[2:] == urlsplit(ours.url)[2:]
    return False


def _written(seconds: float) -> str:
    """Write a time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
