"""The mapping of a site: its first crawl, through the frontier, which finds the pages to watch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from crawler.database.bulk import insert_rows
from crawler.engine.logins import take_login
from crawler.engine.models import Host
from crawler.engine.wake import wake_controller
from crawler.failures import Failure
from crawler.fetching.http.domains import host_of
from crawler.fetching.http.logins import LoginError, without_login
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.frontier.check_in import named_sitemaps
from crawler.frontier.crawls import begin, cancel
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage
from crawler.reading.lines import template_of, unpacked
from crawler.text.keys import digest
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from crawler.web.limits import check_limit, limit_of
from recrawl.models import Site, Visit, Wanted, WatchedPage, key_of
from recrawl.structure import MAX_LINKS
from recrawl.visiting.discovery import describe, name_feeds, name_sitemaps, to_fetch

CANCELLED = gettext_noop("Its mapping crawl was cancelled.")
# A mapping has no time control: a page that waits for days is still a page of the site.
MAX_WAIT_MINUTES = 1e6
# Two sites that lead to each other would be mapped in turn for ever.
MAX_TURNS = 5
MAX_CHOSEN = 5000
"""Pages of one list."""
MAX_REMAPPED = 50
"""Sites that could not be mapped and are tried again at a time."""
SAMPLE = 300
"""Number of pages from which a site's template is learned."""


class SiteError(ValueError):
    """A site that cannot be added, with the reason."""


def check_sites(user: User) -> None:
    """Raise LimitReached when a user has added as many sites as one person may."""
    if limit_of(user, "LIMIT_SITES"):
        message = _("That would be %(number)d sites, and one person may have %(limit)d here.")
        check_limit(user, "LIMIT_SITES", Site.objects.filter(added_by=user).count() + 1, message)


def add_pages(urls: Sequence[str], **options: object) -> Site:
    """Watch chosen pages as one list: store them and plan their first fetches. Raises SiteError.

    `options` are model fields that users can set.
    """
    addresses = checked_addresses(urls)
    keep_logins(urls)
    name = host_of(addresses[0])
    with transaction.atomic():
        site = Site(
            kind=Site.Kind.PAGES, url=addresses[0], host_id=Host.objects.named({name})[name], **options
        )
        site.max_pages = max(site.max_pages, len(addresses))
        site.save()
        set_pages(site, addresses)
    return site


def checked_addresses(urls: Sequence[str]) -> list[str]:
    """Return the canonical addresses of a list's pages, each once. Raises SiteError."""
    addresses: dict[str, None] = {}
    for url, _login in map(without_login, urls):
        try:
            addresses[canonical_url(url)] = None
        except BadUrl as error:
            raise SiteError(f"{url[:200]}: {error}") from error
    if not addresses:
        raise SiteError(_("A list needs at least one page."))
    if len(addresses) > MAX_CHOSEN:
        message = _("A list has %(limit)d pages at most, and these are %(number)d.")
        raise SiteError(message % {"limit": MAX_CHOSEN, "number": len(addresses)})
    return list(addresses)


def keep_logins(urls: Iterable[str]) -> None:
    """Keep the logins that addresses hold. Raises SiteError."""
    for url in urls:
        try:
            take_login(url)
        except (BadUrl, LoginError) as error:
            raise SiteError(str(error)) from error


def set_pages(site: Site, addresses: Sequence[str]) -> None:
    """Make these canonical addresses the pages of a list: add new ones, delete those that are left out.

    A list that is watched already fetches new ones in its next visit, another one at once.
    """
    keys = {key_of(address): address for address in addresses}
    site.pages.exclude(key__in=keys).delete()
    rows = [WatchedPage(site=site, url=address, key=key) for key, address in keys.items()]
    WatchedPage.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1000)
    is_unread = bool(site.trouble) and not site.visits.filter(finished__isnull=True).exists()
    if is_unread or site.state in {Site.State.MAPPING, Site.State.FAILED}:
        read_list(site)


def read_list(site: Site) -> None:
    """Plan the first fetch of a list's pages, as its visit 0."""
    visit, _created = Visit.objects.update_or_create(
        site=site,
        number=0,
        defaults={
            "method": "mapping", "weekly": site.max_pages, "budget": site.max_pages,
            "started": datetime.now(UTC), "finished": None,
        },
    )  # fmt: skip
    planned = visit.wanted.values("page")
    missing = site.pages.exclude(state=WatchedPage.State.LIVE).exclude(pk__in=planned)
    unread = list(missing.order_by("id").values_list("id", flat=True))
    visit.checks.filter(page__in=unread).delete()  # of an earlier attempt
    rows = to_fetch(visit, site, [(page, "first time") for page in unread])
    insert_rows(Wanted, rows)
    site.state, site.trouble = Site.State.MAPPING, ""
    site.save(update_fields=["state", "trouble"])
    wake_controller()


def add_site(url: str, **options: object) -> Site:
    """Watch a site from its top page on: store it and begin its mapping crawl. Raises SiteError.

    `options` are model fields that users can set.
    """
    try:
        address = canonical_url(take_login(url))
    except (BadUrl, LoginError) as error:
        raise SiteError(str(error)) from error
    watched = Site.objects.filter(url=address, kind=Site.Kind.SITE).first()
    if watched is not None:
        raise SiteError(
            _("%(address)s is watched already, as site %(pk)s") % {"address": address, "pk": watched.pk}
        )
    name = host_of(address)
    with transaction.atomic():
        site = Site(url=address, host_id=Host.objects.named({name})[name], **options)
        site.save()
        map_site(site)
    return site


def map_site(site: Site) -> None:
    """Begin the crawl that maps the site and its sitemaps. Fetched pages are kept."""
    # Of a mapping that failed: what was never fetched may not be there at all.
    site.pages.filter(fetched__isnull=True).delete()
    seeds = [site.url, *_likely_sitemaps(site)]
    # Breadth-first: pages near the top are those that people watch, and max_pages may cut the rest.
    crawl = begin(
        Crawl(
            seeds=seeds,
            strategy="breadth-first",
            scope=[f"^{re.escape(site.prefix)}", *(f"^{re.escape(url)}$" for url in seeds)],
            sitemaps=True,
            max_pages=site.max_pages,
            max_depth=MAX_LINKS,
            max_wait=MAX_WAIT_MINUTES,
            # Their lines are kept with the pages, and nothing else is needed of the bodies.
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
            # A guessed sitemap that is missing is no page of the site that has gone.
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
    # Many sites have a sitemap there that no robots.txt names.
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
        page.lines, page.selectors = crawled.lines, digest("\n".join(site.ignore_selectors))
        page.etag, page.last_modified = harvest.etag, harvest.last_modified
    else:
        page.state = WatchedPage.State.GONE if row.status in {404, 410} else WatchedPage.State.FAILED
    return page


def settle_mapping(now: datetime) -> int:
    """Start watching the sites whose mapping crawl has ended. Returns their number. May run twice."""
    settled = 0
    for pk in Site.objects.mapped().values_list("pk", flat=True):
        with transaction.atomic():
            # Another controller may settle it at this moment.
            site = Site.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=pk).first()
            if site is not None and site.state == Site.State.MAPPING and not _goes_on(site):
                _settle(site, now)
                settled += 1
    return settled


def _goes_on(site: Site) -> bool:
    """Return whether the site's crawl runs or is paused: it may have been resumed after it ended."""
    if site.crawl_id is None:
        return False
    # Locked, so that nobody resumes the crawl between this look and the settling.
    state = Crawl.objects.select_for_update().values_list("state", flat=True).get(pk=site.crawl_id)
    return state in {Crawl.State.RUNNING, Crawl.State.PAUSED}


def learn_template(site: Site) -> frozenset[int]:
    """Return the shapes of the lines that most pages of a fixed sample share."""
    # By a hash: a fixed sample, and not the oldest pages of one section.
    texts = site.pages.live().order_by("key").values_list("lines", flat=True)[:SAMPLE]
    return template_of(unpacked(bytes(lines)) for lines in texts.iterator(chunk_size=50))


def _settle_list(site: Site, now: datetime) -> None:
    name_list(site)
    site.state, site.next_visit = Site.State.WATCHED, now + timedelta(days=site.every)
    site.save(update_fields=["state", "next_visit"])
    Visit.objects.filter(site=site, number=0).update(finished=now, pages=site.pages.live().count())


def name_list(site: Site) -> None:
    """Store the title of a list's first page that can be read, or why none can."""
    first = site.pages.live().order_by("id").first()
    if first is not None:
        site.title, site.trouble = site.title or first.title, ""
    else:
        failed = site.pages.order_by("id").first()
        site.trouble = _unreadable(failed)
    site.save(update_fields=["title", "trouble"])


def _settle(site: Site, now: datetime) -> None:
    if site.is_list:
        _settle_list(site, now)
        return
    top = WatchedPage.objects.filter(site=site, key=key_of(site.url)).first()
    if site.crawl is None or site.crawl.state == Crawl.State.CANCELLED:
        # A person cancelled it; it must not begin by itself a week later.
        _fail(site, CANCELLED, now, again=False)
    elif top is None:
        _fail(
            site,
            Reason("Its mapping crawl ended before the top page was fetched: {0}.", site.crawl.reason),
            now,
        )
    elif top.state == WatchedPage.State.MOVED:
        _follow(site, top, now)
    elif top.state != WatchedPage.State.LIVE:
        _fail(site, _unreadable(top), now)
    else:
        name_sitemaps(site, named_sitemaps(site.host))
        site.template = sorted(learn_template(site))
        site.title = site.title or top.title
        site.state, site.next_visit = Site.State.WATCHED, now + timedelta(days=site.every)
        site.save(update_fields=["template", "title", "state", "next_visit"])
        Visit.objects.filter(site=site, number=0).update(finished=now, pages=site.pages.live().count())


def _unreadable(page: WatchedPage | None) -> Reason:
    """Return why the page that a site begins with was not read."""
    label = "lost" if page is None else page.failure or f"http-{page.status}"
    try:
        explanation = Failure.of(label).explanation
    except ValueError:
        explanation = label
    if page is not None and page.status >= 300:
        return Reason("Its top page cannot be read ({0}): {1}", page.status, explanation)
    return Reason("Its top page cannot be read: {0}", explanation)


def _follow(site: Site, top: WatchedPage, now: datetime) -> None:
    """Make the redirect target of the top page the site's address and map it, or fail."""
    target = top.leads_to
    circle = target in site.former or len(site.former) >= MAX_TURNS
    if not target or circle or Site.objects.filter(url=target, kind=Site.Kind.SITE).exists():
        _fail(
            site,
            Reason("Its top page leads to {0}, which cannot be watched instead.", target or "nowhere"),
            now,
        )
        return
    site.former = [*site.former, site.url]
    site.url = target
    name = host_of(target)
    site.host_id = Host.objects.named({name})[name]
    site.save(update_fields=["url", "host", "former"])
    map_site(site)


def _fail(site: Site, why: str, now: datetime, *, again: bool = True) -> None:
    """Tell why a site could not be mapped. It is tried again when its next visit would be."""
    site.state, site.trouble = Site.State.FAILED, why
    site.next_visit = now + timedelta(days=site.every) if again else None
    site.save(update_fields=["state", "trouble", "next_visit"])
    Visit.objects.filter(site=site, number=0).update(finished=now)


def map_failed(now: datetime) -> None:
    """Map the sites again that could not be mapped and are due."""
    for site in Site.objects.failed(now).defer("memory")[:MAX_REMAPPED]:
        map_again(site)


def map_again(site: Site) -> bool:
    """Map a site again. Returns False if it is being mapped or visited."""
    if site.state == Site.State.MAPPING or site.visits.filter(finished__isnull=True).exists():
        return False
    with transaction.atomic():
        if site.is_list:
            read_list(site)
        else:
            map_site(site)
    return True


def forget(site: Site) -> None:
    """Delete a site with all its data and cancel its crawl."""
    if site.crawl_id:
        cancel(Crawl.objects.filter(pk=site.crawl_id))
    site.delete()
