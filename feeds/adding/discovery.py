"""Search for the feeds and other sources behind addresses that people give, with a preview of each, before
anything is stored.

All bytes are fetched and read in separate processes (`crawler.fetching.sandboxed`); this module only decides
what is requested next and in which words the result is shown.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

import msgspec
from django.conf import settings
from django.utils import translation
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from msgspec.structs import replace

from crawler.database.threads import ConnectionThreads, give_back_connections
from crawler.engine.models import Deployment
from crawler.failures import Failure
from crawler.fetching.http.client import ACCEPT_FEED
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.fetching.sandboxed import client
from crawler.fetching.sandboxed.client import FetchLimits
from crawler.isolation.calls import ProgramError
from crawler.reading.documents import SourceRules
from crawler.reading.sources.kinds import LISTS, PAGE, SITEMAP
from crawler.web.sentences import translated
from feeds.adding.add import checked_address
from feeds.adding.discovery_programs import NEWEST, READ, AskedDocument, ReadDocument, ReadFeed
from feeds.adding.sources import likely_feeds, other_feeds
from feeds.phrases import failure_words, posts_often
from feeds.rules import source_line, stored_rules

MAX_ADDRESSES = 8
"""Addresses that are looked at; more are added without a preview."""
MAX_FEEDS = 6
"""Feeds shown of one address."""
MAX_OTHERS = 3
"""Further feeds of a known place that are shown."""
MAX_SITEMAPS = 2
"""Sitemaps of an index that are read for a preview."""
LOOK_SECONDS = 14.0
"""Time for all requests of one look together."""
FETCH_SECONDS = 8.0
READ_SECONDS = 8.0
MAX_BYTES = 10_000_000
MAX_LOOKS = 4
"""Looks at the same time; another one gets BusyError."""
# Formats of one feed hold different numbers of entries, and are renewed seconds apart.
SAME_SHARE = 0.7
"""Share of common entries from which two feeds are formats of one."""

client.programs.add_module("feeds.adding.discovery_programs")

_LIMITS = FetchLimits(ACCEPT_FEED, FETCH_SECONDS, MAX_BYTES)
_looks = threading.BoundedSemaphore(MAX_LOOKS)
_COMMENTS = re.compile(r"comment|kommentar|comentari|commentaire|коммент|评论|コメント", re.IGNORECASE)


class BusyError(Exception):
    """Error for a look while too many others are under way."""


@dataclass(slots=True)
class FoundFeed:
    """A source behind an address: its address, its contents, and its twin in another format."""

    url: str
    read: ReadFeed
    same_as: str = ""
    """The title of the feed above it with the same articles, "" without one."""
    is_comments: bool = False
    label: str = ""
    """The name of a further feed of a known place, such as the tags of a repository."""
    posted: list[datetime] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Its title, else its host."""
        return self.read.title or (urlsplit(self.url).hostname or self.url)

    @property
    def is_chosen(self) -> bool:
        """True for a source that is worth following beside those above it."""
        return not self.same_as and not self.is_comments and not self.label

    @property
    def kind(self) -> str:
        """Its kind of source (`crawler.reading.sources`)."""
        return self.read.kind

    @property
    def rules(self) -> dict[str, str]:
        """The rules that choose its entries, without empty ones."""
        return stored_rules(self.read.rules)

    @property
    def key(self) -> str:
        """Its kind, its rules and its address in one line, as the form for adding sends them."""
        return source_line(self.kind, self.rules, self.url)

    @property
    def dated(self) -> bool:
        """True if its entries have dates."""
        return len(self.posted) * 2 > self.read.size

    @property
    def newest(self) -> list[tuple[str, str, datetime | None]]:
        """Title, address and time of its newest articles."""
        return [(entry.title, entry.url, _moment(entry.published)) for entry in self.read.newest]

    def posts(self, now: datetime) -> str:
        """Return how often it posts and when it last did, "" if it does not say."""
        return posts_often(self.posted, now)


@dataclass(slots=True)
class Look:
    """The sources behind an address, or the reason in words why there are none."""

    address: str
    feeds: list[FoundFeed] = field(default_factory=list)
    problem: str = ""
    page: str = ""
    """The title of the page, where the address is one."""
    is_page: bool = False
    asks_login: bool = False

    @property
    def lists(self) -> list[FoundFeed]:
        """The lists of articles in the page itself."""
        return [feed for feed in self.feeds if feed.kind == PAGE]

    @property
    def others(self) -> list[FoundFeed]:
        """The sources that are no lists of the page."""
        return [feed for feed in self.feeds if feed.kind != PAGE]

    @property
    def in_browser(self) -> str:
        """The page as a source that a browser opens, as the form for adding sends it."""
        return source_line(PAGE, {"browser": "yes"}, self.address)

    @property
    def site(self) -> str:
        """The host of the address."""
        return urlsplit(self.address).hostname or self.address


@dataclass(frozen=True, slots=True)
class WantedSources:
    """The sources that a look is for: with `kind` "page" the lists of a page, even where it names feeds; the
    list that `rules` choose; with `all` every entry of each source; with `near` the list around a part of the
    page.
    """

    kind: str = ""
    rules: SourceRules = field(default_factory=SourceRules)
    all: bool = False
    near: str = ""


def look_at(texts: Sequence[str], sources: WantedSources | None = None) -> list[Look]:
    """Look at addresses as people typed them, at most MAX_ADDRESSES, in the order given.

    Raises BusyError while too many other looks are under way.
    """
    # Each look takes a fetcher and a reader; a crowd that tries addresses must not take the server's memory.
    if not _looks.acquire(timeout=2.0):
        raise BusyError
    try:
        until = time.monotonic() + LOOK_SECONDS
        scope = _Scope(until, Deployment.networks(), sources or WantedSources())
        # The request's own connection to PostgreSQL would be idle while others wait for one.
        give_back_connections()
        with ConnectionThreads(min(len(texts), 4) or 1) as threads:
            language = translation.get_language() or settings.LANGUAGE_CODE
            return list(threads.map(lambda text: _look(text, scope, language), texts[:MAX_ADDRESSES]))
    finally:
        _looks.release()


@dataclass(frozen=True, slots=True)
class _Scope:
    """The bounds of a look: what it is for, its end (monotonic seconds), its private networks."""

    until: float
    networks: Sequence[str]
    wanted: WantedSources


def _look(text: str, scope: _Scope, language: str) -> Look:
    """Look at one address, in a separate thread that describes problems in a language."""
    with translation.override(language):
        return _look_in_words(text, scope)


def _look_in_words(text: str, scope: _Scope) -> Look:
    is_itself = scope.wanted.kind in LISTS
    try:
        address = checked_address(text, scope.networks, is_itself=is_itself)
    except BadUrl as error:
        return Look(text, problem=f"{capfirst(translated(error.reason))}.")
    look = Look(address.url)
    try:
        final, document = _read_at(address.url, scope)
    except ProgramError as error:
        look.problem = f"{failure_words(error.kind, None, datetime.now(UTC))}."
        look.asks_login = error.kind == "http-401"
        return look
    if document.feed is not None:
        look.feeds = [_feed_of(final, document.feed), *_others_at(text, final, scope)]
    elif document.sitemaps:
        look.feeds = _read_index(final, document.sitemaps, scope)
    elif document.page is not None:
        look.page, look.is_page, look.address = document.page.title, True, final
        lists = [_feed_of(final, read) for read in document.page.lists]
        if is_itself:
            look.feeds = lists
        else:
            links = [url for url, _ in document.page.links][:MAX_FEEDS]
            # Themes name feeds that were moved or switched off, while one stands at a usual address.
            look.feeds = _read_feeds(links, scope) or _guess_feed(final, document.page.program_feeds, scope)
            if look.feeds:
                look.feeds += _others_at(final, look.feeds[0].url, scope)
            look.feeds = look.feeds or [*lists, *_sitemap_of(final, scope)]
        if not look.feeds:
            look.problem = _("This is a page, and no feed of it was found.")
    else:
        look.problem = f"{failure_words(document.failure, None, datetime.now(UTC))}."
    if look.is_page and not look.feeds and scope.wanted.rules.entry:
        look.problem = _("Nothing on the page is chosen by this rule.")
    _compare(look.feeds)
    return look


def _others_at(text: str, feed: str, scope: _Scope) -> list[FoundFeed]:
    """Return further feeds of a known place, such as a channel without its short films."""
    names_by_url: dict[str, str] = {}
    for url in (text, feed):
        with suppress(BadUrl):
            names_by_url |= {
                other_url: name for name, other_url in other_feeds(canonical_url(url), settings.FEED_BRIDGES)
            }
    candidates = _read_feeds([url for url in names_by_url if url != feed][:MAX_OTHERS], scope)
    for candidate in candidates:
        candidate.label = names_by_url.get(candidate.url, "")
    return [candidate for candidate in candidates if candidate.label and candidate.url != feed]


def _read_at(url: str, scope: _Scope) -> tuple[str, ReadDocument]:
    """Return the address after redirects, and what stands there. Raises ProgramError."""
    remaining = scope.until - time.monotonic()
    # A fetch in less than a second fails on most sites, and says the wrong reason.
    if remaining < 1.0:
        raise ProgramError(Failure.TOO_SLOW, "no time was left for it")
    limits = FetchLimits(ACCEPT_FEED, min(FETCH_SECONDS, remaining), MAX_BYTES)
    fetched = client.fetch(url, limits)
    sources = scope.wanted
    asked_document = AskedDocument(
        fetched.url,
        fetched.content_type,
        fetched.link,
        sources.rules,
        sources.kind in LISTS,
        sources.all,
        sources.near,
    )
    request = {"asked": msgspec.to_builtins(asked_document)}
    encoded = client.programs.call(READ, request, fetched.body, seconds=READ_SECONDS, max_bytes=MAX_BYTES)
    try:
        return fetched.url, msgspec.msgpack.decode(encoded, type=ReadDocument)
    except msgspec.MsgspecError as error:
        raise ProgramError(Failure.MALFORMED, "the process returned invalid output") from error


def _read_index(url: str, sitemaps: Sequence[str], scope: _Scope) -> list[FoundFeed]:
    """Return an index of sitemaps as one source, with what the first of its sitemaps hold."""
    below = _read_feeds(sitemaps[:MAX_SITEMAPS], scope)
    if not below:
        return []
    newest = sorted(
        (entry for feed in below for entry in feed.read.newest), key=lambda entry: -(entry.published or 0.0)
    )
    read = replace(
        below[0].read,
        newest=tuple(newest if scope.wanted.all else newest[:NEWEST]),
        posted=tuple(at for feed in below for at in feed.read.posted),
        size=sum(feed.read.size for feed in below),
    )
    return [_feed_of(url, read)]


def _sitemap_of(page: str, scope: _Scope) -> list[FoundFeed]:
    """Return the sitemap of a page's site: one that robots.txt names, else that at the usual address."""
    parts = urlsplit(page)
    root = f"{parts.scheme}://{parts.netloc}"
    sitemap_urls: Sequence[str] = ()
    with suppress(ProgramError, BadUrl):
        sitemap_urls = _read_at(checked_address(f"{root}/robots.txt", scope.networks).url, scope)[1].sitemaps
    # A news sitemap has the last two days (Google's rule), the others have everything since the beginning.
    by_news = sorted(sitemap_urls, key=lambda url: "news" not in url.lower())
    for url in [*by_news[:2], *([] if sitemap_urls else [f"{root}/sitemap.xml"])]:
        try:
            final, document = _read_at(checked_address(url, scope.networks).url, scope)
        except (ProgramError, BadUrl):
            continue
        if document.sitemaps and (feeds := _read_index(final, document.sitemaps, scope)):
            return feeds
        if document.feed is not None and document.feed.kind == SITEMAP:
            return [_feed_of(final, document.feed)]
    return []


def _read_feeds(urls: Iterable[str], scope: _Scope) -> list[FoundFeed]:
    """Return the feeds among these addresses, in their order, each once."""
    with ConnectionThreads(3) as threads:
        feeds = list(threads.map(lambda url: _feed_at(url, scope), urls))
    return list({feed.url: feed for feed in feeds if feed is not None}.values())


def _guess_feed(page: str, first: Sequence[str], scope: _Scope) -> list[FoundFeed]:
    """Return the first feed at one of these addresses, or at one of the usual ones of a page's site."""
    guesses = likely_feeds(page, first)
    # Three at a time: of a dozen guesses most are missing pages on a stranger's server.
    for start in range(0, len(guesses), 3):
        if feeds := _read_feeds(guesses[start : start + 3], scope):
            return feeds[:1]
    return []


def _feed_at(url: str, scope: _Scope) -> FoundFeed | None:
    try:
        final, document = _read_at(checked_address(url, scope.networks).url, scope)
    except (ProgramError, BadUrl):
        return None
    return _feed_of(final, document.feed) if document.feed is not None else None


def _feed_of(url: str, feed: ReadFeed) -> FoundFeed:
    posted = [at for published in feed.posted if (at := _moment(published)) is not None]
    is_comments = bool(_COMMENTS.search(f"{feed.title} {urlsplit(url).path}"))
    return FoundFeed(url, feed, posted=posted, is_comments=is_comments)


def _compare(feeds: Sequence[FoundFeed]) -> None:
    """Record in each feed the title of the first one above it that has the same articles."""
    for place, feed in enumerate(feeds):
        entries = set(feed.read.identities)
        for earlier in feeds[:place]:
            earlier_entries = set(earlier.read.identities)
            # Of the shorter one: a feed of ten entries and one of fifty are formats all the same.
            enough = max(SAME_SHARE * min(len(entries), len(earlier_entries)), 1)
            if not earlier.same_as and len(entries & earlier_entries) >= enough:
                feed.same_as = earlier.title
                break


def _moment(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
