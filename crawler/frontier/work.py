"""The engine's work of crawls: choosing hosts and URLs of running crawls to hand out next."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.dispatch import receiver

from crawler.engine.chosen import pause_of
from crawler.engine.leased import BatchSpace
from crawler.engine.models import Host
from crawler.engine.signals import robots_read
from crawler.engine.work import Results, Work, register
from crawler.frontier import queue
from crawler.frontier.check_in import Settled, check_in_crawls, queue_named_sitemaps
from crawler.frontier.crawls import room as room_of
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.messages import TURN_SECONDS, Assignment

MAX_OF_HOST = 100


@register
class UrlWork(Work):
    """The work of crawls' URLs, which fill the room that other kinds leave in a host's batch."""

    kinds = ("crawl",)
    # Late: feeds and watched pages take the first places of a host's batch.
    order = 90
    model = CrawlUrl

    def choose(self, now: datetime, limit: int) -> list[Host]:
        """Return the next hosts of every running crawl. The crawls share the room."""
        crawls = list(Crawl.objects.running().order_by("id"))
        chosen: list[Host] = []
        for place, crawl in enumerate(crawls):
            remaining = room_of(crawl, now)
            # Divided anew at each, so that what one crawl leaves goes to the next.
            share = max(limit, 0) // (len(crawls) - place)
            max_for_crawl = share if remaining is None else min(share, remaining)
            hosts = queue.hosts_in_order(crawl, max_for_crawl, now) if max_for_crawl > 0 else []
            limit -= len(hosts)
            chosen += hosts
        return chosen

    def lease(
        self, leases: Mapping[int, uuid.UUID], space: Mapping[int, BatchSpace], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Lease URLs of these hosts, as many as a terminal can serve in its turn."""
        assignments: dict[int, list[Assignment]] = {}
        crawls = Crawl.objects.running().filter(hosts__host__in=leases, hosts__best__isnull=False)
        for crawl in crawls.distinct().order_by("id"):
            rooms: dict[int, BatchSpace] = {}
            remaining = room_of(crawl, now)
            for host in queue.hosts_in_order(crawl, len(leases), now, among=list(leases)):
                mine = assignments.get(host.pk, [])
                alone = space[host.pk].alone or any(assignment.suspect for assignment in mine)
                place = BatchSpace(_limit(host), space[host.pk].used + len(mine), alone=alone)
                capacity = place.places if remaining is None else min(place.places, remaining)
                remaining = None if remaining is None else remaining - capacity
                if capacity:
                    rooms[host.pk] = BatchSpace(
                        place.used + capacity, place.used, suspects_only=space[host.pk].suspects_only
                    )
            if rooms:
                leases_of_rooms = {host: leases[host] for host in rooms}
                for key, assigned in queue.lease_urls(leases_of_rooms, rooms, crawl, now).items():
                    assignments.setdefault(key, []).extend(assigned)
        return assignments

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> Settled:
        """Store pages and queue their links."""
        return check_in_crawls(self.mine(results), leases, now)

    def give_back(self, leases: Sequence[uuid.UUID]) -> int:
        """Return unvisited URLs to the queue. Returns their number."""
        return queue.release_urls(leases)


@receiver(robots_read)
def queue_sitemaps(hosts: Sequence[Host], now: datetime, **_: object) -> None:
    """Queue the sitemaps named in robots.txt, for crawls that use sitemaps."""
    queue_named_sitemaps(hosts, now)


def _limit(host: Host) -> int:
    """Return the number of the host's URLs that a terminal can serve in its turn."""
    pause = pause_of(host)
    return min(MAX_OF_HOST, int(TURN_SECONDS / pause) + 1) if pause > 0 else MAX_OF_HOST
