"""What came of leased work: settled with its answer, given back, or lost; inside the caller's transaction."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from django.conf import settings

from articles import pages
from articles.changes import touch
from articles.intake import Arrival, lock_articles, store_arrivals
from crawler.controller.outage import outage
from crawler.frontier.check_in import check_in_crawls
from crawler.frontier.queue import lose_urls, release_urls
from crawler.messages import Harvest
from crawler.models import Host
from crawler.pipeline.documents import take_crawled, take_feeds, take_pages
from feeds import visits
from feeds.websub import pushes, subscriptions
from recrawl.check_in import check_in_watched
from recrawl.mapping import take_mapped
from recrawl.queue import lose_wanted, release_wanted

# Every kind of work whose lease is its host's: how it is given back, and how it is lost.
RELEASE = (
    visits.release_feeds,
    release_urls,
    pages.release_pages,
    subscriptions.release_hubs,
    release_wanted,
)
LOSE = (visits.lose_feeds, lose_urls, pages.lose_pages, subscriptions.lose_hubs, lose_wanted)


def settle(harvests: Sequence[Harvest], held: Sequence[uuid.UUID]) -> None:
    """Store what terminals brought under these leases, which the caller has locked.

    Lock the feeds, store their articles and make their pages; settle the feeds; store the pages and hand
    their text to the articles; then hubs, crawls and watched pages.
    """
    opened = visits.open_visits([h for h in harvests if h.kind in {"feed", "push"}], held)
    arrivals = [_arrival(visit) for visit in opened]
    lock_articles(arrivals, [h.id for h in harvests if h.kind == "page" and not h.failure])
    stored = store_arrivals(arrivals, pages=settings.CRAWL_ARTICLE_PAGES)
    for visit in opened:
        brought = stored[visit.feed.id]
        visit.new, visit.edited, visit.published = brought.new, brought.edited, brought.published
    visits.settle(opened, ours=outage([h for h in harvests if h.kind in {"feed", "page"}]))

    gap = float(settings.CRAWL_MIN_GAP_SECONDS)
    fetched = pages.check_in_pages([h for h in harvests if h.kind == "page"], held, gap)
    if settings.PIPELINE_STORED:
        take_pages(fetched)
        take_feeds([(visit.feed.host_id, visit.harvest) for visit in opened])

    subscriptions.check_in_hubs([h for h in harvests if h.kind == "hub"], held)

    crawled = [h for h in harvests if h.kind == "crawl"]
    settled = check_in_crawls(crawled, held, datetime.now(UTC))
    take_crawled(settled.graphed)
    take_mapped(settled.mapped, {h.id: h for h in crawled})
    check_in_watched([h for h in harvests if h.kind in {"watch", "source"}], held)
    changed = [visit.feed.id for visit in opened if visit.new or visit.edited]
    touch([*changed, *pages.feeds_of(fetched)])


def release(held: Sequence[uuid.UUID]) -> None:
    """Give back what was not done, and set the hosts of these leases free."""
    for give_back in RELEASE:
        give_back(held)
    Host.objects.filter(lease__in=held).update(lease=None, leased_until=None)


def lose(held: Sequence[uuid.UUID], pushed: Sequence[uuid.UUID], now: datetime) -> None:
    """Count a loss for all that is out under these leases of hosts, and of pushes.

    It goes out again, but for what has lost too many in a row (`crawler.losses`): that fails as lost.
    """
    failures = pushes.lose_pushes(pushed, now)
    for lose_kind in LOSE:
        failures += lose_kind(held, now)
    if failures:
        settle(failures, [*held, *pushed])
        pushes.close(pushed, {failure.id for failure in failures if failure.kind == "push"})
    release(held)


def _arrival(visit: visits.Visit) -> Arrival:
    document = visit.harvest.feed
    return Arrival(
        feed_id=visit.feed.id,
        at=visit.harvest.at,
        previous=visit.previous,
        language=document.language if document else "",
        entries=document.entries if document else (),
        edited=document.edited if document else (),
    )
