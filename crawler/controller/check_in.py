"""Checking reports in: articles, retrievals, validators, histories and next states in one transaction."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, transaction

from articles import pages
from articles.changes import touch
from articles.intake import Arrival, store_arrivals
from crawler.controller import leases
from crawler.controller.outage import outage
from crawler.frontier.check_in import check_in_crawls, name_sitemaps
from crawler.frontier.queue import release_urls
from crawler.http.failures import Failure
from crawler.messages import Harvest, Report
from crawler.models import Host
from crawler.pipeline.documents import note, take_crawled, take_feeds, take_pages
from crawler.pipeline.messages import Outcome
from feeds import visits
from feeds.websub import pushes, subscriptions
from recrawl.check_in import check_in_watched
from recrawl.mapping import take_mapped
from recrawl.queue import postpone_wanted, release_wanted

log = logging.getLogger(__name__)

# A whole host pauses after a refusal for at most this long; the feed or page itself waits in full.
LONGEST_HOST_PAUSE = 600.0


def check_in(reports: Sequence[Report]) -> None:
    """Store what terminals brought. Running it twice, or after the lease expired, changes nothing.

    Reports are stored together; if the database refuses one of them, each is tried alone, so that a
    document PostgreSQL cannot take does not keep the others out.
    """
    try:
        harvests = _store(reports)
    except (DatabaseError, ValueError) as error:
        if len(reports) == 1:
            log.exception("the report of %s cannot be stored", reports[0].host)
            _give_up(reports[0], error)
            return
        for report in reports:
            check_in([report])
    else:  # after the transaction, for all of them write into one row a minute
        note(
            "fetch", "terminals", [Outcome(h.id, h.failure, seconds=h.elapsed) for h in harvests if h.elapsed]
        )


@transaction.atomic
def _store(reports: Sequence[Report]) -> list[Harvest]:
    """The numbered way of every harvest; those that counted.

    1. Lock the hosts whose lease is still the report's; drop other reports.
    2. Lock the feeds, store their articles and make their pages.
    3. Settle the feeds: log, validators, posting history, next state, lease released.
    4. Store the pages and hand their text to the articles.
    5. Release what was not done, and the hosts.
    """
    reported = {uuid.UUID(report.lease): report for report in reports}
    hosts = list(Host.objects.select_for_update().filter(lease__in=reported).order_by("id"))
    pushed = pushes.held(list(reported))
    held = [*(host.lease for host in hosts if host.lease), *pushed]
    harvests = [harvest for lease in held for harvest in reported[lease].harvests]

    opened = visits.open_visits([h for h in harvests if h.kind in {"feed", "push"}], held)
    stored = store_arrivals([_arrival(visit) for visit in opened], pages=settings.CRAWL_ARTICLE_PAGES)
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

    now = datetime.now(UTC)
    settled = check_in_crawls([h for h in harvests if h.kind == "crawl"], held, now)
    take_crawled(settled.graphed)
    take_mapped(settled.mapped, {h.id: h for h in harvests if h.kind == "crawl"})
    check_in_watched([h for h in harvests if h.kind in {"watch", "source"}], held)

    visits.release_feeds(held)
    release_urls(held)
    pages.release_pages(held)
    subscriptions.release_hubs(held)
    release_wanted(held)
    pushes.close(pushed, {h.id for h in harvests if h.kind == "push"})
    for host in hosts:
        if host.lease:
            _remember(host, reported[host.lease])
    name_sitemaps(hosts, now)
    leases.close(held)
    changed = [visit.feed.id for visit in opened if visit.new or visit.edited]
    touch([*changed, *pages.feeds_of(fetched)])
    return harvests


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


def _remember(host: Host, report: Report) -> None:
    """Write down robots.txt, and a wish for a pause."""
    if report.robots is not None:
        host.robots_status, host.robots_text = report.robots.status, report.robots.text
        host.robots_origin = report.robots.origin[:300]
        host.robots_at = datetime.fromtimestamp(report.robots.at, UTC)
    pauses = [
        harvest.at + min(harvest.retry_after or 0.0, LONGEST_HOST_PAUSE)
        for harvest in report.harvests
        if harvest.failure == Failure.THROTTLED
    ]
    if pauses:
        host.not_before = datetime.fromtimestamp(max(pauses), UTC)
    if report.robots is not None or pauses:
        host.save(update_fields=["not_before", "robots_origin", "robots_status", "robots_text", "robots_at"])


def _give_up(report: Report, error: Exception) -> None:
    """A report that cannot be stored counts as lost, so that its feeds back off instead of coming at once."""
    now = datetime.now(UTC)
    with transaction.atomic():
        lease = uuid.UUID(report.lease)
        if visits.release_feeds(pushes.held([lease])):
            pushes.close([lease], {harvest.id for harvest in report.harvests})
            return
        held = Host.objects.select_for_update().filter(lease=lease).first()
        if held is None or held.lease is None:
            return
        visits.lose([held.lease], now)
        release_urls([held.lease])
        pages.postpone([held.lease], now + timedelta(seconds=leases.lease_seconds()), str(error))
        postpone_wanted([held.lease], now + timedelta(seconds=leases.lease_seconds()))
        leases.close([held.lease])
