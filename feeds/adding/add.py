"""Addition of feeds: check addresses, recognise known ones, store new ones and visit them at once.

An address may belong to a feed or to a site; the first visit, made by a terminal, shows which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
from django.conf import settings
from django.db import transaction

from crawler.engine.logins import take_login
from crawler.engine.models import Deployment, Host
from crawler.engine.ticking import tick_seconds
from crawler.engine.wake import wake_controller
from crawler.fetching.http.addresses import AddressGuard, permits_port
from crawler.fetching.http.logins import LoginError, without_login
from crawler.fetching.http.urls import BadUrl, canonical_url, host_key
from crawler.reading.sources.kinds import FEED, LISTS
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from feeds.adding.sources import feed_address
from feeds.models import Category, Feed, FeedAlias
from feeds.rules import source_key
from feeds.scheduling.training import due_at, start
from feeds.visiting.rules import rules

MAX_LENGTH = 2000
"""Maximum characters of an address."""

_ROWS = 2000  # of one INSERT or one IN (...)
# Printable ASCII: anything else is shown in its canonical form, where look-alikes can be told apart.
_PLAIN_ADDRESS = re.compile(r"https?://[\x21-\x7e]+", re.IGNORECASE)

Outcome = Literal["added", "duplicate", "refused"]


@dataclass(frozen=True, slots=True)
class WantedFeed:
    """An address to add, with the title it had elsewhere and the primary key of its category.

    A list in a page or in JSON has its `kind` and the `rules` for its entries. With an `owner` it belongs to
    this person alone.
    """

    text: str
    title: str = ""
    category: int | None = None
    kind: str = FEED
    rules: Mapping[str, str] = field(default_factory=dict)
    owner: int | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """The result of adding an address; the message names the address and the reason of a refusal."""

    feed: Feed | None
    outcome: Outcome
    message: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """A usable address: its URL as fetched, its canonical form, its host, and other canonical forms."""

    url: str
    canonical: str
    host: str
    variants: tuple[str, ...]


def add_feed(text: str, *, category: Category | None = None, **source: Any) -> Added:
    """Add the source at this address, or recognise or refuse it; `source` are fields of WantedFeed."""
    return add_feeds([WantedFeed(text, category=category.pk if category else None, **source)])[0]


@transaction.atomic
def add_feeds(requests: Sequence[WantedFeed]) -> list[Added]:
    """Add many feeds in a few statements. Returns the outcomes in the order of `requests`."""
    addresses = [_checked_with_login(request) for request in requests]
    usable = [address for address in addresses if isinstance(address, Address)]
    removed = Feed.with_removed.filter(removed__isnull=False)
    if removed.exists():  # who adds a feed that was just removed wants it back
        removed.filter(canonical_url__in=[key for each in usable for key in each.variants]).update(
            removed=None
        )
    existing = known_feeds(key for address in usable for key in address.variants)
    # A list that spells one feed in two ways made two feeds of it.
    chosen = {spelling(each.canonical): each for each in reversed(usable)}
    chosen |= {spelling(each.canonical): each for each in usable if _known_as(each, existing)}
    unknown: dict[str, tuple[Address, WantedFeed]] = {}
    for address, request in zip(addresses, requests, strict=True):
        if (
            isinstance(address, Address)
            and chosen[spelling(address.canonical)].canonical == address.canonical
            and not _known_as(address, existing)
        ):
            unknown.setdefault(address.canonical, (address, request))
    stored = _store(list(unknown.values()))
    outcomes: list[Added] = []
    for address in addresses:
        if isinstance(address, BadUrl):
            outcomes.append(Added(None, "refused", str(address), address.reason))
            continue
        same = chosen[spelling(address.canonical)]
        if same.canonical in stored and same.canonical not in existing:
            feed = existing[same.canonical] = stored[same.canonical]
            outcomes.append(Added(feed, "added", f"{same.url}: added"))
        else:
            feed = next(existing[key] for key in (*address.variants, *same.variants) if key in existing)
            name = f"{feed.title} ({feed.url})" if feed.title else feed.url
            words = Reason("{0}: already known as {1}", address.url, name)
            if feed.status != Feed.Status.ACTIVE:
                words = Reason("{0}: already known as {1}, which is {2}", address.url, name, feed.status)
            outcomes.append(Added(feed, "duplicate", words))
    if stored:
        wake_controller()
    return outcomes


def spelling(canonical: str) -> str:
    """Return a key that is the same for the usual spellings of one feed in a list: http or https, and with
    or without a slash at the end.
    """
    place = canonical.partition("://")[2]
    return place if "?" in place else place.rstrip("/")


def checked_address(text: str, networks: Sequence[str] | None = None, *, is_itself: bool = False) -> Address:
    """Return the address in `text` if a feed may be fetched from there. Raises BadUrl.

    `networks` are the private networks of `Deployment.networks()`, which is asked when they are not given.

    The address of a page of a known site, such as a channel of YouTube, becomes that of its feed, unless the
    page `is_itself` what is wanted.
    Host names are looked up at every visit; numeric addresses are judged here.
    """
    text = text.strip()
    if not text:
        raise BadUrl(text, gettext_noop("no address given"))
    if len(text) > MAX_LENGTH:
        raise BadUrl(text, Reason("longer than {0} characters", MAX_LENGTH))
    canonical = canonical_url(text)
    if not is_itself and (feed := feed_address(canonical, settings.FEED_BRIDGES)):
        text, canonical = feed, canonical_url(feed)
    host = host_key(canonical)
    _check_host(text, host, networks)
    port = urlsplit(canonical).port
    if port is not None and not permits_port(port):
        raise BadUrl(text, Reason("port {0} belongs to another service than the web", port))
    # A plain URL keeps its given spelling, so that people find it by that.
    if _PLAIN_ADDRESS.fullmatch(text):
        return Address(text, canonical, host, (canonical,))
    # Without a scheme people mean either; a feed that is known by https is that feed.
    secure = canonical.replace("http://", "https://", 1)
    return Address(canonical, canonical, host, (canonical, secure) if "://" not in text else (canonical,))


def known_feeds(canonical_urls: Iterable[str]) -> dict[str, Feed]:
    """Return known feeds by canonical address, for each given address that is a feed's now or was earlier."""
    feeds_by_url: dict[str, Feed] = {}
    urls = list(dict.fromkeys(canonical_urls))
    for first in range(0, len(urls), _ROWS):
        keys = urls[first : first + _ROWS]
        aliases = FeedAlias.objects.filter(canonical_url__in=keys).select_related("feed")
        feeds_by_url.update(
            {alias.canonical_url: alias.feed for alias in aliases.defer("feed__fingerprints")}
        )
        feeds = Feed.objects.filter(canonical_url__in=keys).defer("fingerprints")
        feeds_by_url.update({feed.canonical_url: feed for feed in feeds})
    return feeds_by_url


def _known_as(address: Address, existing: Mapping[str, Feed]) -> Feed | None:
    return next((existing[key] for key in address.variants if key in existing), None)


def checked(text: str) -> Address | BadUrl:
    """Return the address in `text`, or why none may be fetched from there."""
    try:
        return checked_address(text)
    except BadUrl as error:
        return error


def _checked_with_login(request: WantedFeed) -> Address | BadUrl:
    """Return a wanted address, or why none may be fetched from there; keep the login that it holds."""
    bare, pair = without_login(request.text)
    try:
        address = checked_address(bare, is_itself=request.kind in LISTS)
    except BadUrl as error:
        return error
    if pair is not None:
        try:
            take_login(request.text, request.owner)
        except LoginError as error:
            return BadUrl(bare, str(error))
    if request.kind not in LISTS and request.owner is None:
        return address
    source_parts = (request.kind, request.rules, request.owner)
    keys = tuple(source_key(key, *source_parts) for key in address.variants)
    return replace(address, canonical=source_key(address.canonical, *source_parts), variants=keys)


def _check_host(text: str, host: str, networks: Sequence[str] | None) -> None:
    """Raise BadUrl for a host that names this machine or a private network, unless the server may fetch from
    there.

    The running server's networks decide, because this process may be a command with other settings.
    """
    if host == "localhost" or host.endswith(".localhost"):
        literal = "127.0.0.1"
    else:
        try:
            literal = str(ip_address(host))
        except ValueError:
            return
    if AddressGuard(()).permits(literal):
        return
    if AddressGuard(Deployment.networks() if networks is None else networks).permits(literal):
        return
    reason = Reason("{0} is a private or special address, which this deployment does not visit", host)
    if AddressGuard(str(network) for network in settings.FETCH_ALLOWED_NETWORKS).permits(literal):
        reason = Reason(
            "{0} is a private or special address, which this deployment does not visit: "
            "FETCH_ALLOWED_NETWORKS of the running server is another than the one set here",
            host,
        )
    raise BadUrl(text, reason)


def _store(new_addresses: Sequence[tuple[Address, WantedFeed]]) -> dict[str, Feed]:
    """Insert new feeds in training, selected for a visit at once. Returns them by canonical address."""
    if not new_addresses:
        return {}
    now = datetime.now(UTC)
    hosts = Host.objects.named({address.host for address, _ in new_addresses})
    # Spread at random, or a list of a thousand feeds would be visited in the same tick for days.
    _, _, toe = start(len(new_addresses), np.random.default_rng())
    due = due_at(now.timestamp(), toe, tick_seconds(), rules().training_max_ticks)
    feeds = [
        Feed(
            url=address.url,
            canonical_url=address.canonical,
            host_id=hosts[address.host],
            category_id=request.category,
            kind=request.kind,
            rules=dict(request.rules),
            owner_id=request.owner,
            title=request.title,
            # A title from a list is the person's, and the document's does not replace it.
            renamed=bool(request.title),
            added=now,
            training_since=now,
            training_due=datetime.fromtimestamp(at, UTC),
            not_before=now,
            selected_at=now,
            selected_because=gettext_noop("just added"),
        )
        for (address, request), at in zip(new_addresses, due.tolist(), strict=True)
    ]
    # Somebody may add the same address at this moment: theirs stays, and is found below.
    Feed.objects.bulk_create(feeds, ignore_conflicts=True, batch_size=_ROWS)
    return known_feeds(feed.canonical_url for feed in feeds)
