"""URLs of crawls as work of the engine: which hosts and URLs of running crawls go out next."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.conf import settings
from django.dispatch import receiver

from crawler.engine.leased import Room
from crawler.engine.models import Host
from crawler.engine.signals import robots_read
from crawler.engine.work import Results, Work, register
from crawler.frontier import queue
from crawler.frontier.check_in import Settled, check_in_crawls, name_sitemaps
from crawler.frontier.crawls import room as room_of
from crawler.frontier.models import Crawl, Leased
from crawler.messages import TURN_SECONDS, Assignment

MOST_OF_HOST = 100


@register
class UrlWork(Work):
    """URLs of crawls; they fill what others leave of a host's batch."""

    kinds = ("crawl",)
    order = 90
    model = Leased

    def choose(self, now: datetime, most: int) -> list[Host]:
        """The next hosts of every running crawl; they share what room there is."""
        crawls = list(Crawl.objects.running().order_by("id"))
        chosen: list[Host] = []
        for place, crawl in enumerate(crawls):
            left = room_of(crawl, now)
            share = max(most, 0) // (len(crawls) - place)
            wanted = share if left is None else min(share, left)
            hosts = queue.hosts_in_order(crawl, wanted, now) if wanted > 0 else []
            most -= len(hosts)
            chosen += hosts
        return chosen

    def lease(
        self, leases: Mapping[int, uuid.UUID], room: Mapping[int, Room], now: datetime
    ) -> dict[int, list[Assignment]]:
        """Fill the leases of these hosts with URLs, as many as a terminal manages in its turn."""
        taken: dict[int, list[Assignment]] = {}
        crawls = Crawl.objects.running().filter(hosts__host__in=leases, hosts__best__isnull=False)
        for crawl in crawls.distinct().order_by("id"):
            rooms: dict[int, Room] = {}
            left = room_of(crawl, now)
            for host in queue.hosts_in_order(crawl, len(leases), now, among=list(leases)):
                mine = taken.get(host.pk, [])
                alone = room[host.pk].alone or any(one.suspect for one in mine)
                place = Room(_most(host), room[host.pk].taken + len(mine), alone=alone)
                much = place.places if left is None else min(place.places, left)
                left = None if left is None else left - much
                if much:
                    rooms[host.pk] = Room(place.taken + much, place.taken, fresh=room[host.pk].fresh)
            if rooms:
                asked = {host: leases[host] for host in rooms}
                for key, assigned in queue.lease_urls(asked, rooms, crawl, now).items():
                    taken.setdefault(key, []).extend(assigned)
        return taken

    def settle(self, results: Results, leases: Sequence[uuid.UUID], now: datetime) -> Settled:
        """Store pages and queue their links."""
        return check_in_crawls(self.mine(results), leases, now)

    def give_back(self, leases: Sequence[uuid.UUID]) -> int:
        """They wait as long as before."""
        return queue.release_urls(leases)


@receiver(robots_read)
def queue_sitemaps(hosts: Sequence[Host], now: datetime, **_: object) -> None:
    """Crawls that want them get the sitemaps that robots.txt names."""
    name_sitemaps(hosts, now)


def _most(host: Host) -> int:
    """URLs that a terminal manages in its turn."""
    spacing = settings.FETCH_HOST_SPACING_SECONDS if host.spacing is None else host.spacing
    return min(MOST_OF_HOST, int(TURN_SECONDS / spacing) + 1) if spacing > 0 else MOST_OF_HOST
