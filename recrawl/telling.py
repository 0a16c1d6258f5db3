"""A site and its last visit, in figures and in words."""

from __future__ import annotations

from typing import Any

from django.template.defaultfilters import filesizeformat

from recrawl.models import Site, Visit


def figures(site: Site) -> dict[str, Any]:
    """For JSON; `visit` is the last one, None before the first. Counts are pages, sizes bytes.

    `whole` is what fetching all known pages would have been: requests are `pages`.
    """
    visit = _last(site)
    return {
        "site": site.pk,
        "url": site.url,
        "state": site.state,
        "trouble": site.trouble,
        "pages": site.pages.live().count(),
        "visit": None if visit is None else visit_figures(visit),
    }


def _last(site: Site) -> Visit | None:
    return site.visits.order_by("-number").first()


def visit_figures(visit: Visit) -> dict[str, Any]:
    """The same of one visit."""
    names = (
        "number", "method", "pages", "budget", "fetched", "changed", "found", "vanished", "failed",
        "requests", "conditional", "not_modified", "bytes", "whole", "missed", "stale", "rate", "coverage",
    )  # fmt: skip
    return {name: getattr(visit, name) for name in names}


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
