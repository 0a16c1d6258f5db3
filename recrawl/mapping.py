"""The mapping of a site: its first crawl, through the frontier, which finds the pages to watch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from crawler.engine.models import Host
from crawler.engine.wake import wake_controller
from crawler.frontier.check_in import named_sitemaps
from crawler.frontier.crawls import begin, cancel
from crawler.frontier.domains import host_of
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.http.urls import BadUrl, canonical_url
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage
from crawler.reading.lines import template_of, unpacked
from crawler.web.limits import check_limit, limit_of
from recrawl.discovery import describe, name_feeds, name_sitemaps
from recrawl.models import Site, Visit, WatchedPage, key_of
from recrawl.structure import MAX_LINKS

MAX_WAIT_MINUTES = 1e6
MAX_TURNS = 5
SAMPLE = 300
"""Number of pages from which a site's template is learned."""


class SiteError(ValueError):
    """A site that cannot be added, with the reason."""


def check_sites(user: User) -> None:
    """Raise LimitReached when a user has added as many sites as one person may."""
    if limit_of(user, "LIMIT_SITES"):
        check_limit(user, "LIMIT_SITES", Site.objects.filter(added_by=user).count() + 1, "sites")


def add_site(url: str, **options: object) -> Site:
    """Watch a site from its top page on: store it and begin its mapping crawl. Raises SiteError.

    `options` are model fields that users can set.
    """
    try:
        address = canonical_url(url)
    except BadUrl as error:
        raise SiteError(str(error)) from error
    watched = Site.objects.filter(url=address).first()
    if watched is not None:
        raise SiteError(f"{address} is watched already, as site {watched.pk}")
    name = host_of(address)
    with transaction.atomic():
        site = Site(url=address, host_id=Host.objects.named({name})[name], **options)
        site.save()
        map_site(site)
    return site


def map_site(site: Site) -> None:
    """Begin the crawl that maps the site and its sitemaps. Fetched pages are kept."""
    site.pages.filter(fetched__isnull=True).delete()
    seeds = [site.url, *_likely_sitemaps(site)]
    crawl = begin(
        Crawl(
            seeds=seeds,
            strategy="breadth-first",
            scope=[f"^{re.escape(site.prefix)}", *(f"^{re.escape(url)}$" for url in seeds)],
            sitemaps=True,
            max_pages=site.max_pages,
            max_depth=MAX_LINKS,
            max_wait=MAX_WAIT_MINUTES,
            keep_bodies=False,
            selectors=list(site.ignore_selectors),
        )
    )
    Visit.objects.update_or_create(
        site=site,
        number=0,
        defaults={
            "method": "mapping", "weekly": site.max_pages, "budget": site.max_pages,
            "started": datetime.now(UTC), "finished": None,
        },
    )  # fmt: skip
    site.crawl, site.state, site.trouble = crawl, Site.State.MAPPING, ""
    site.save(update_fields=["crawl", "state", "trouble"])
    wake_controller()


def take_mapped(fetched: Sequence[tuple[CrawlUrl, Harvest]]) -> None:
    """Store the pages that a mapping crawl has fetched, inside the transaction of the check-in."""
    crawls = {row.crawl_id for row, _ in fetched}
    sites = {site.crawl_id: site for site in Site.objects.filter(crawl__in=crawls).defer("memory")}
    for crawl, site in sites.items():
        site_results = [(row, result) for row, result in fetched if row.crawl_id == crawl]
        likely_sitemaps = _likely_sitemaps(site)
        sitemaps = [
            row.url for row, result in site_results if (result.brought(CrawledPage) or CrawledPage()).sitemap
        ]
        name_sitemaps(site, sitemaps)
        pages = [
            _page(site, row, result)
            for row, result in site_results
            if row.url not in sitemaps and row.url not in likely_sitemaps
        ]
        WatchedPage.objects.bulk_create(pages, ignore_conflicts=True, batch_size=200)
        Visit.objects.filter(site=site, number=0).update(
            requests=F("requests") + len(site_results),
            bytes=F("bytes") + sum(result.bytes for _, result in site_results),
            found=F("found") + sum(page.state == WatchedPage.State.LIVE for page in pages),
            failed=F("failed") + sum(page.state == WatchedPage.State.FAILED for page in pages),
        )
        top = next((result for row, result in site_results if row.url == site.url), None)
        if top is not None:
            name_feeds(site, (top.brought(CrawledPage) or CrawledPage()).feeds)


def _likely_sitemaps(site: Site) -> list[str]:
    """Return the usual addresses of sitemaps, to be tried even if nothing names them."""
    return list(dict.fromkeys([f"{site.origin}/sitemap.xml", f"{site.prefix}sitemap.xml"]))


def _page(site: Site, row: CrawlUrl, harvest: Harvest) -> WatchedPage:
    page = WatchedPage(site=site, url=row.url, key=key_of(row.url), status=row.status, failure=row.failure)
    crawled = harvest.brought(CrawledPage)
    if row.state == CrawlUrl.State.MOVED:
        target = crawled.links[0] if crawled and crawled.links else ""
        page.state, page.leads_to = WatchedPage.State.MOVED, target
    elif row.state == CrawlUrl.State.CRAWLED and crawled is not None:
        describe(page, crawled, site)
        page.fetched = datetime.fromtimestamp(harvest.at, UTC)
        page.lines, page.selectors = crawled.lines, site.selectors_digest
        page.etag, page.last_modified = harvest.etag, harvest.last_modified
    else:
        page.state = WatchedPage.State.GONE if row.status in {404, 410} else WatchedPage.State.FAILED
    return page


def settle_mapping(now: datetime) -> int:
    """Start watching the sites whose mapping crawl has ended. Returns their number. May run twice."""
    settled = 0
    for pk in Site.objects.mapped().values_list("pk", flat=True):
        with transaction.atomic():
            site = Site.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=pk).first()
            if site is not None and site.state == Site.State.MAPPING and not _goes_on(site):
                _settle(site, now)
                settled += 1
    return settled


def _goes_on(site: Site) -> bool:
    """Return whether the site's crawl runs or is paused: it may have been resumed after it ended."""
    if site.crawl_id is None:
        return False
    state = Crawl.objects.select_for_update().values_list("state", flat=True).get(pk=site.crawl_id)
    return state in {Crawl.State.RUNNING, Crawl.State.PAUSED}


def learn_template(site: Site) -> frozenset[int]:
    """Return the shapes of the lines that most pages of a fixed sample share."""
    texts = site.pages.live().order_by("key").values_list("lines", flat=True)[:SAMPLE]
    return template_of(unpacked(bytes(lines)) for lines in texts.iterator(chunk_size=50))


def _settle(site: Site, now: datetime) -> None:
    top = WatchedPage.objects.filter(site=site, key=key_of(site.url)).first()
    if site.crawl is None or site.crawl.state == Crawl.State.CANCELLED:
        _fail(site, "Its mapping crawl was cancelled.", now)
    elif top is None:
        _fail(site, f"Its mapping crawl ended before the top page was fetched: {site.crawl.reason}.", now)
    elif top.state == WatchedPage.State.MOVED:
        _follow(site, top, now)
    elif top.state != WatchedPage.State.LIVE:
        _fail(site, f"Its top page cannot be read: {top.failure or top.status}.", now)
    else:
        name_sitemaps(site, named_sitemaps(site.host))
        site.template = sorted(learn_template(site))
        site.title = site.title or top.title
        site.state, site.next_visit = Site.State.WATCHED, now + timedelta(days=site.every)
        site.save(update_fields=["template", "title", "state", "next_visit"])
        Visit.objects.filter(site=site, number=0).update(finished=now, pages=site.pages.live().count())


def _follow(site: Site, top: WatchedPage, now: datetime) -> None:
    """Make the redirect target of the top page the site's address and map it, or fail."""
    target = top.leads_to
    circle = target in site.former or len(site.former) >= MAX_TURNS
    if not target or circle or Site.objects.filter(url=target).exists():
        _fail(site, f"Its top page leads to {target or 'nowhere'}, which cannot be watched instead.", now)
        return
    site.former = [*site.former, site.url]
    site.url = target
    name = host_of(target)
    site.host_id = Host.objects.named({name})[name]
    site.save(update_fields=["url", "host", "former"])
    map_site(site)


def _fail(site: Site, why: str, now: datetime) -> None:
    site.state, site.trouble = Site.State.FAILED, why
    site.save(update_fields=["state", "trouble"])
    Visit.objects.filter(site=site, number=0).update(finished=now)


def map_again(site: Site) -> bool:
    """Map a site again. Returns False if it is being mapped or visited."""
    if site.state == Site.State.MAPPING or site.visits.filter(finished__isnull=True).exists():
        return False
    with transaction.atomic():
        map_site(site)
    return True


def forget(site: Site) -> None:
    """Delete a site with all its data and cancel its crawl."""
    if site.crawl_id:
        cancel(Crawl.objects.filter(pk=site.crawl_id))
    site.delete()
