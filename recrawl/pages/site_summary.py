"""Summaries of a site and its last visit, as figures and as text."""

from __future__ import annotations

from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.timezone import localtime

from crawler.failures import Failure
from crawler.frontier.decision import MAX_ATTEMPTS
from crawler.frontier.models import CrawlUrl
from recrawl.models import Site, Visit, Wanted
from recrawl.visiting import check_in


def figures(site: Site) -> dict[str, Any]:
    """Return figures for JSON. `visit` is the last visit, or None before the first. Counts are pages, sizes
    bytes.

    `whole` is the size of fetching all known pages; that would take `pages` requests.
    """
    visit = _last(site)
    names = (
        "number", "method", "pages", "budget", "fetched", "changed", "found", "vanished", "failed",
        "requests", "conditional", "not_modified", "bytes", "whole", "missed", "stale", "rate", "coverage",
    )  # fmt: skip
    return {
        "site": site.pk,
        "url": site.url,
        "state": site.state,
        "trouble": site.trouble,
        "pages": site.pages.live().count(),
        "visit": None if visit is None else {name: getattr(visit, name) for name in names},
    }


def _last(site: Site) -> Visit | None:
    return site.visits.order_by("-number").first()


def in_words(site: Site) -> str:
    """Return a line about the site, one about its last visit, and a line for each change."""
    pages = site.pages.live().count()
    lines = [f"site {site.pk}, {site.url}: {site.get_state_display()}, {pages} pages"]
    if site.trouble:
        lines.append(f"  {site.trouble}")
    visit = _last(site)
    if visit is not None and visit.number:
        size, whole = filesizeformat(visit.bytes), filesizeformat(visit.whole)
        lines += [
            f"  visit {visit.number}: {visit.fetched} of {visit.pages} pages asked for, "
            f"{visit.changed} changed, {visit.found} new, {visit.vanished} gone, {visit.failed} failed",
            f"  {visit.requests} requests ({visit.conditional} conditional, {visit.not_modified} "
            f"not modified), {size}; fetching all: {visit.pages} requests, {whole}",
        ]
        changes = visit.changes.counting().with_pages().order_by("id")
        lines += [
            f"  {change.get_kind_display()}: {change.page.url}  +{change.added} -{change.removed} lines"
            for change in changes
        ]
    elif visit is not None:
        lines.append(f"  mapped with {visit.requests} requests, {filesizeformat(visit.bytes)}")
    return "\n".join(lines)


def waits(site: Site) -> str:
    """Return a line about a failed fetch that will be retried before the mapping or visit ends. Returns ""
    without one.
    """
    if site.state == Site.State.MAPPING:
        retried_urls = CrawlUrl.objects.filter(crawl=site.crawl_id, state=CrawlUrl.State.QUEUED).exclude(
            failure=""
        )
        row = retried_urls.order_by("queued").first()
        if row is None:
            return ""
        target, attempts, max_attempts, retry_at = row.url, row.attempts, MAX_ATTEMPTS, row.queued
        reason = f" ({(row.detail or Failure.of(row.failure).explanation).rstrip('.')})"
    else:
        retries = Wanted.objects.filter(visit__site=site, visit__finished__isnull=True, attempts__gt=0)
        retry = (
            retries.filter(lease__isnull=True).select_related("page", "source").order_by("not_before").first()
        )
        if retry is None:
            return ""
        target, reason = str(retry.page or retry.source), ""
        attempts, max_attempts, retry_at = retry.attempts, check_in.MAX_ATTEMPTS, retry.not_before
    return (
        f"site {site.pk} waits for {target}{reason}. Tried {attempts} of {max_attempts} times, again at "
        f"{localtime(retry_at):%H:%M:%S}. If you stop here the workers go on."
    )
