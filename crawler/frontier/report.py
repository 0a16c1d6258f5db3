"""The report of a crawl in numbers, for the command, the page and the API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, QuerySet, Sum

from crawler.fetching.http.domains import top_level_domain
from crawler.frontier.causes import HTTP_CAUSES, PAPER_CRAWLED, cause
from crawler.frontier.models import Crawl, CrawlUrl

State = CrawlUrl.State


@dataclass(frozen=True, slots=True)
class Share:
    """A row of a table: so many pages, and their share of the table's."""

    count: int
    share: float


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """The counts of a crawl's URLs; shares are fractions.

    `uncrawled` is by the paper's causes, `failures` by ours, `refused` by budget. `queue` counts waiting
    URLs, `out` leased ones. `inter_share` and `intra_share` are of the links of crawled pages,
    `top_level_domains` of crawled pages. `tables` are the paper's tables I to V, by number.
    """

    crawl: int
    state: str
    reason: str
    strategy: str
    crawled: int
    uncrawled: dict[str, int]
    failures: dict[str, int]
    crawled_share: float
    paper_crawled_share: float
    dropped: int
    dropped_now: int
    duplicates: int
    refused: dict[str, int]
    moved: int
    queue: int
    out: int
    urls: int
    bytes: int
    seconds: float
    pages_per_second: float
    hosts: int
    domains: int
    top_level_domains: dict[str, float]
    inter_share: float
    intra_share: float
    tables: dict[str, dict[str, Share]]

    @property
    def failed(self) -> int:
        """The number of URLs that were tried and failed."""
        return sum(self.failures.values())

    def as_json(self) -> dict[str, Any]:
        """Return the report as a dictionary for json.dumps."""
        return asdict(self)


def report(crawl: Crawl) -> CrawlReport:
    """Compute the crawl's report, in seven queries."""
    urls = crawl.urls.order_by()
    states = dict(urls.values_list("state").annotate(count=Count("id")))
    failed = urls.filter(state=State.FAILED).values_list("failure").annotate(count=Count("id"))
    failures = dict(failed.order_by("-count", "failure"))
    causes: Counter[str] = Counter()
    for label, count in failures.items():
        causes[cause(label)] += count
    links = urls.filter(state=State.CRAWLED).aggregate(
        inter=Sum("inter", default=0), intra=Sum("intra", default=0)
    )
    crawled = states.get(State.CRAWLED, 0)
    out = crawl.leased.count()
    seconds = crawl.seconds(datetime.now(UTC))
    all_links = links["inter"] + links["intra"]
    top_level = _top_level(crawl)
    return CrawlReport(
        crawl=crawl.pk,
        state=crawl.state,
        reason=crawl.reason,
        strategy=crawl.strategy,
        crawled=crawled,
        uncrawled=dict(causes.most_common()),
        failures=failures,
        crawled_share=crawled / (crawled + sum(causes.values())) if crawled else 0.0,
        paper_crawled_share=PAPER_CRAWLED / 100,
        dropped=crawl.dropped,
        dropped_now=states.get(State.DROPPED, 0),
        duplicates=crawl.duplicates,
        refused=crawl.refused,
        moved=states.get(State.MOVED, 0),
        queue=states.get(State.QUEUED, 0) - out,
        out=out,
        urls=sum(states.values()),
        bytes=crawl.bytes,
        seconds=seconds,
        pages_per_second=crawled / seconds if seconds else 0.0,
        hosts=crawl.hosts.count(),
        domains=crawl.hosts.values("domain").distinct().count(),
        top_level_domains={name: count / crawled for name, count in top_level.most_common()},
        inter_share=links["inter"] / all_links if all_links else 0.0,
        intra_share=links["intra"] / all_links if all_links else 0.0,
        tables=_tables(causes, top_level),
    )


def _tables(causes: Counter[str], top_level: Counter[str]) -> dict[str, dict[str, Share]]:
    """Return the paper's tables, each as rows by name, the largest first.

    I: causes of pages not crawled. II: of these, errors of HTTP and others. III: errors of HTTP by status. IV
    and V: pages by country's domain, and by generic domain.
    """
    http = Counter({name: count for name, count in causes.items() if name in HTTP_CAUSES})
    others = sum(causes.values()) - sum(http.values())
    countries = Counter({name: count for name, count in top_level.items() if len(name) == 2})
    tables = {
        "I": causes,
        "II": Counter({"HTTP": sum(http.values()), "other": others}),
        "III": http,
        "IV": countries,
        "V": top_level - countries,
    }
    return {
        number: {name: Share(count, count / rows.total()) for name, count in rows.most_common() if count}
        for number, rows in tables.items()
    }


def urls_of(crawl: Crawl, parameters: Mapping[str, str]) -> QuerySet[CrawlUrl]:
    """Return the crawl's URLs in order of discovery.

    Filters them by the parameters `state`, `failure` and `host` where these are given.
    """
    urls = crawl.urls.select_related("host").order_by("id")
    for name, column in (("state", "state"), ("failure", "failure"), ("host", "host__name")):
        if parameters.get(name):
            urls = urls.filter(**{column: parameters[name]})
    return urls


def _top_level(crawl: Crawl) -> Counter[str]:
    pages: Counter[str] = Counter()
    hosts = (
        crawl.urls.order_by()
        .filter(state=State.CRAWLED)
        .values_list("host__name")
        .annotate(count=Count("id"))
    )
    for host, count in hosts:
        pages[top_level_domain(host)] += count
    return pages
