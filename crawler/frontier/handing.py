"""Which hosts and URLs of running crawls go out next."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from crawler.frontier.crawls import room
from crawler.frontier.models import Crawl
from crawler.frontier.queue import hosts_in_order, lease_urls
from crawler.losses import Room
from crawler.messages import TURN_SECONDS, Assignment
from crawler.models import Host

MOST_OF_HOST = 100


@dataclass(frozen=True, slots=True)
class Order:
    """A crawl and the hosts it would like to ask now, best first."""

    crawl: Crawl
    hosts: list[Host]
    room: int | None


def order(now: datetime, most: int) -> list[Order]:
    """The next hosts of every running crawl; they share what room there is."""
    crawls = list(Crawl.objects.running().order_by("id"))
    orders = []
    for place, crawl in enumerate(crawls):
        left = room(crawl, now)
        share = max(most, 0) // (len(crawls) - place)
        wanted = share if left is None else min(share, left)
        hosts = hosts_in_order(crawl, wanted, now) if wanted > 0 else []
        most -= len(hosts)
        orders.append(Order(crawl, hosts, left))
    return orders


def lease(
    orders: Sequence[Order],
    leases: Mapping[int, uuid.UUID],
    work: Mapping[int, Sequence[Assignment]],
    now: datetime,
) -> dict[int, list[Assignment]]:
    """Fill the leases of these hosts with URLs, as many as a terminal manages in its turn."""
    taken: dict[int, list[Assignment]] = {}
    for one in orders:
        rooms: dict[int, Room] = {}
        left = one.room
        for host in one.hosts:
            assigned = [*work[host.pk], *taken.get(host.pk, ())]
            if any(other.suspect for other in assigned):
                continue
            much = _much(host) - len(assigned)
            much = max(much if left is None else min(much, left), 0)
            left = None if left is None else left - much
            if much:
                rooms[host.pk] = Room(much, empty=not assigned)
        if rooms:
            asked = {host: leases[host] for host in rooms}
            for key, assigned in lease_urls(asked, rooms, one.crawl, now).items():
                taken.setdefault(key, []).extend(assigned)
    return taken


def _much(host: Host) -> int:
    spacing = settings.FETCH_HOST_SPACING_SECONDS if host.spacing is None else host.spacing
    return min(MOST_OF_HOST, int(TURN_SECONDS / spacing) + 1) if spacing > 0 else MOST_OF_HOST
