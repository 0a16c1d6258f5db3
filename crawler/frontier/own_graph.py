"""The link graph that a crawl has recorded."""

from __future__ import annotations

import uuid

from crawler.frontier.graph import GraphError, LinkGraph, graph_of
from crawler.frontier.models import Crawl, CrawlUrl

MAX_PAGES = 100_000


def crawled_graph(crawl: Crawl) -> LinkGraph:
    """Return the graph of the URLs that the crawl knows and the links of its crawled pages.

    Raises GraphError when the crawl has no links yet, or more than MAX_PAGES URLs.
    """
    urls: dict[uuid.UUID, str] = {}
    out: dict[str, list[uuid.UUID]] = {}
    counts: dict[str, tuple[int, int]] = {}
    rows = crawl.urls.order_by("id").values_list("key", "url", "out", "inter", "intra")
    for key, url, targets, inter, intra in rows.iterator(chunk_size=5000):
        urls[key] = url
        out[url] = targets
        if inter is not None and intra is not None:
            counts[url] = (inter, intra)
        if len(urls) > MAX_PAGES:
            raise GraphError(f"crawl {crawl.pk} knows more than {MAX_PAGES} URLs: too many to compare here")
    if not any(out.values()):
        raise GraphError(f"crawl {crawl.pk} has recorded no links yet")
    links = {url: [urls[key] for key in targets if key in urls] for url, targets in out.items()}
    seeds = list(crawl.urls.filter(link=CrawlUrl.Link.SEED).order_by("id").values_list("url", flat=True))
    domains = dict(crawl.hosts.values_list("host__name", "domain"))
    return graph_of(f"crawl {crawl.pk}", links, seeds, domains, counts)
