"""Names of feeds for the graph: their titles, pages and hosts."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from crawler.fetching.http.domains import host_of
from crawler.pipeline.names import Title
from feeds.models import Feed

MAX_HOSTS = 10


def feed_names(addresses: Collection[str]) -> dict[str, Title]:
    """Return the titles and pages of the feeds with these addresses. Personal feeds have no names here."""
    feeds = Feed.objects.filter(owner__isnull=True, url__in=list(addresses)).only("url", "title")
    return {feed.url: Title(feed.title or feed.url, feed.get_absolute_url()) for feed in feeds}


def hosts_of_feeds(name: str) -> list[str]:
    """Return the hosts of the sites of feeds with a name; of those that contain it when none has it whole."""
    feeds = Feed.objects.filter(owner__isnull=True).order_by("pk").values_list("site_url", "url")
    for test in (Q(title__iexact=name), Q(title__icontains=name)):
        hosts = [host_of(site or url).removeprefix("www.") for site, url in feeds.filter(test)[:MAX_HOSTS]]
        if hosts:
            return [host for host in dict.fromkeys(hosts) if host]
    return []
