"""A site and its last visit, in figures and in words."""

from __future__ import annotations

from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.timezone import localtime

from crawler.frontier.check_in import MOST_ATTEMPTS
from crawler.frontier.models import CrawlUrl
from crawler.http.failures import Failure
from recrawl import check_in
from recrawl.models import Site, Visit, Wanted


def figures(site: Site) -> dict[str, Any]:
    """For JSON; `visit` is the last one, None before the first. Counts are pages, sizes bytes.

    `whole` is what fetching all known pages would have been: requests are `pages`.
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
    """A line on the site, one on its last visit, and a line for each change."""
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
    """A line on what has failed and is tried again before a mapping or a visit ends; "" where nothing has."""
    if site.state == Site.State.MAPPING:
        tried = CrawlUrl.objects.filter(crawl=site.crawl_id, state=CrawlUrl.State.QUEUED).exclude(failure="")
        row = tried.order_by("queued").first()
        if row is None:
            return ""
        what, after, most, when = row.url, row.attempts, MOST_ATTEMPTS, row.queued
        reason = f" ({(row.detail or Failure.of(row.failure).explanation).rstrip('.')})"
    else:
        again = Wanted.objects.filter(visit__site=site, visit__finished__isnull=True, attempts__gt=0)
        wanted = (
            again.filter(lease__isnull=True).select_related("page", "source").order_by("not_before").first()
        )
        if wanted is None:
            return ""
        what, reason = str(wanted.page or wanted.source), ""
        after, most, when = wanted.attempts, check_in.MOST_ATTEMPTS, wanted.not_before
    return (
        f"site {site.pk} waits for {what}{reason}. Tried {after} of {most} times, again at "
        f"{localtime(when):%H:%M:%S}. If you stop here the workers go on."
    )
