"""Changes of a feed's address: to the feed named by a site's page, or after a believed permanent redirect."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from crawler.database.merging import merge
from crawler.engine.models import Host
from crawler.fetching.http.urls import BadUrl, canonical_url, host_key
from crawler.reading.documents import FeedLink
from crawler.reading.lines import SelectorFault
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from feeds.models import Feed, FeedAlias
from feeds.rules import checked_rules, source_key

log = logging.getLogger(__name__)


def known_as(canonical: str) -> Feed | None:
    """Return the feed with this canonical address, now or earlier. Returns None when there is none."""
    feed = Feed.objects.filter(canonical_url=canonical).first()
    return feed or Feed.objects.filter(aliases__canonical_url=canonical).first()


def move_to(feed: Feed, url: str) -> Feed:
    """Give a feed a new address, to be visited at once and unconditionally; keep the old one as an alias.

    When another feed has the address already, a feed that was never read is merged into that feed, with those
    who follow it, and that feed is returned; a feed with articles of its own is returned unchanged. Raises
    BadUrl.
    """
    canonical = source_key(canonical_url(url), feed.kind, feed.rules, feed.owner_id)
    old = feed.canonical_url
    existing = known_as(canonical)
    if existing is not None and existing.id != feed.id:
        # Two feeds with articles are never joined by a machine: marks and followers of both would mix.
        if feed.last_success is not None:
            log.warning("%s moved to %s, which is feed %s already; both are kept", feed.url, url, existing.id)
            return feed
        # With those who follow it (issue 56: the subscriptions were deleted with the feed).
        merge(feed, existing)
        FeedAlias.objects.get_or_create(canonical_url=old, defaults={"feed": existing})
        return existing
    feed.url, feed.canonical_url = url, canonical
    feed.host_id = Host.objects.named({host_key(canonical)})[host_key(canonical)]
    # An ETag of the old address would make the new server answer 304 to a document never seen.
    feed.forget_validators()
    feed.moved_to, feed.moved_count, feed.moved_since = "", 0, None
    feed.failure_streak, feed.failing_since, feed.failure, feed.failure_detail = 0, None, "", ""
    # The floor was the old address's; the new one has not been visited yet.
    feed.selected_at = feed.not_before = datetime.now(UTC)
    feed.selected_because, feed.floor, feed.floor_detail = "its address changed", "", ""
    feed.save()
    # The old address stays known, so that a list that names it adds no second feed.
    if old != canonical:
        FeedAlias.objects.get_or_create(canonical_url=old, defaults={"feed": feed})
    return feed


def choose_list(feed: Feed, rules: Mapping[str, str]) -> None:
    """Give a list of a page other rules, to be visited at once; what is known of it stays known.

    Raises SelectorFault for unusable rules.
    """
    feed.rules = checked_rules(feed.kind, rules)
    feed.proposed = {}
    feed.canonical_url = source_key(canonical_url(feed.url), feed.kind, feed.rules, feed.owner_id)
    existing = known_as(feed.canonical_url)
    if existing is not None and existing.pk != feed.pk:
        raise SelectorFault(Reason("this list is followed already as feed {0}", existing.pk))
    feed.forget_validators()
    feed.failure_streak, feed.failing_since, feed.failure, feed.failure_detail = 0, None, "", ""
    feed.selected_at = feed.not_before = datetime.now(UTC)
    feed.selected_because, feed.floor, feed.floor_detail = gettext_noop("its rules changed"), "", ""
    feed.save()


def follow_discovery(feed: Feed, links: Sequence[FeedLink]) -> Feed:
    """Turn a feed that was added by its site's address into the first usable feed that the page names."""
    for link in links:
        try:
            if canonical_url(link.url) != feed.canonical_url:
                return move_to(feed, link.url)
        except BadUrl:
            continue
    return feed
