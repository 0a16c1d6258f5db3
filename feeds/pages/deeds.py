"""The deeds that mend a feed which is late, the likeliest first: each cause has its own."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from crawler.reading.sources.kinds import FEED, LISTS, MAIL, PAGE
from feeds.models import Feed

LOST = {"dns", "redirect", "blocked-port", "blocked-address", "bad-url", "bad-scheme", "gone"}
"""Failures after which a feed is likely to stand elsewhere."""
NO_FEED = {"not-a-feed", "unsupported-type"}
WAITING = {"throttled", "robots"}
"""Failures that only the other side can end: to ask again would be impolite."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a person can do about a feed: a link, or a button that posts to its address.

    `is_lasting` says that it is a removal, which stands last and looks so.
    """

    words: str
    address: str
    is_post: bool = False
    is_lasting: bool = False


def deeds_for(feed: Feed) -> list[Deed]:
    """Return what an editor can do about a feed that is late, the likeliest first.

    Returns an empty list where nothing is to be done: the feed is well, is being visited, or has to wait.
    """
    if feed.status == Feed.Status.PAUSED:
        return [_resume(feed)]
    if feed.status == Feed.Status.GONE:
        return [
            *_proposed(feed),
            _find(feed),
            Deed(_("Try again now"), _change(feed, "resume"), is_post=True),
        ]
    if not feed.failure_streak or feed.kind == MAIL:
        return _proposed(feed)
    if feed.selected_at is not None or feed.lease is not None:
        return []
    return [*_proposed(feed), *_by_failure(feed)]


def address_of_rules(feed: Feed) -> str:
    """Return the address of the page on which a person says which parts of a page are its articles."""
    query: dict[str, str] = {"url": feed.url, "feed": str(feed.pk), **feed.rules}
    return f"{reverse('add-rules')}?{urlencode(query)}"


def _by_failure(feed: Feed) -> list[Deed]:
    again = Deed(_("Try again now"), _change(feed, "retrieve"), is_post=True)
    if feed.failure == "list-missing":
        query = urlencode({"url": feed.url, "kind": PAGE, "feed": str(feed.pk)})
        lists = Deed(_("See the lists of the page"), f"{reverse('add')}?{query}")
        return [lists, Deed(_("Say which parts are its articles"), address_of_rules(feed))]
    if feed.failure == "http-401":
        return [Deed(_("Give a login"), f"{reverse('logins')}?{urlencode({'url': feed.url})}"), again]
    if feed.failure in NO_FEED:
        query = urlencode({"url": feed.url, "kind": PAGE})
        list_deed = Deed(_("Make a feed of a list on the page"), f"{reverse('add')}?{query}")
        watch = Deed(_("Watch the page"), f"{reverse('site-add')}?{urlencode({'url': feed.url})}")
        return [_find(feed), list_deed, watch]
    if feed.failure in LOST or _is_refusal(feed.failure):
        return [_find(feed), again]
    return [] if feed.failure in WAITING else [again]


def _is_refusal(failure: str) -> bool:
    """Return whether the server says that the document is not there, or not for us."""
    return failure.startswith("http-4") and failure != "http-403"


def _proposed(feed: Feed) -> list[Deed]:
    if feed.proposed.get("url"):
        return [Deed(_("Use the new address"), reverse("feed-address", args=[feed.pk]), is_post=True)]
    if feed.proposed and feed.kind in LISTS and feed.failure == "list-missing":
        return [Deed(_("Use the list that was found"), reverse("feed-rules", args=[feed.pk]), is_post=True)]
    return []


def _find(feed: Feed) -> Deed:
    """Return the search for feeds on the feed's site; at its own address where it is no feed at all."""
    parts = urlsplit(feed.url)
    home = feed.site_url or (f"{parts.scheme}://{parts.netloc}/" if parts.netloc else feed.url)
    address = feed.url if feed.failure in NO_FEED or feed.kind != FEED else home
    return Deed(_("Find its feeds"), f"{reverse('add')}?{urlencode({'url': address})}")


def _resume(feed: Feed) -> Deed:
    return Deed(_("Resume"), _change(feed, "resume"), is_post=True)


def _change(feed: Feed, action: str) -> str:
    return f"{reverse('feeds-change')}?{urlencode([('only', feed.pk), ('action', action)])}"
