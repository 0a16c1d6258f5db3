"""Update rate and coverage of this deployment's own sites: the paper's figures for its servers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import models
from django.db.models import Count
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from crawler.fetching.http.domains import host_of, top_level_domain
from crawler.web.charts import SHARES, Axis, Line, line_plot
from recrawl.methods.registry import METHODS
from recrawl.models import Visit, estimated_coverage

FIGURES = ("pages", "fetched", "changed", "missed", "requests", "bytes", "whole")


@dataclass(slots=True)
class Sum:
    """The sums over one group's visits by one method."""

    group: str
    method: str
    sites: int = 0
    visits: int = 0
    pages: int = 0
    fetched: int = 0
    changed: int = 0
    missed: float = 0.0
    requests: int = 0
    bytes: int = 0
    whole: int = 0

    @property
    def share(self) -> float | None:
        """Return the share of known pages that were fetched."""
        return self.fetched / self.pages if self.pages else None

    @property
    def rate(self) -> float | None:
        """Return the share of fetched pages that had changed."""
        return self.changed / self.fetched if self.fetched else None

    @property
    def coverage(self) -> float | None:
        """Return the estimated share of changes that were found."""
        return estimated_coverage(self.changed, self.missed)


def by_site() -> list[Sum]:
    """Sum ended visits by site (named by URL) and method."""
    ended = Visit.objects.filter(number__gt=0, finished__isnull=False).order_by("site", "method")
    sums = [models.Sum(name, default=0) for name in FIGURES]
    rows = ended.values_list("site__url", "method", Count("id"), *sums)
    return [Sum(url, method, 1, visits, *figures) for url, method, visits, *figures in rows]


def by_domain(sums: Iterable[Sum]) -> list[Sum]:
    """Sum sites by top-level domain and method."""
    return _added(sums, lambda url: f".{top_level_domain(host_of(url))}")


def by_method(sums: Iterable[Sum]) -> list[Sum]:
    """Sum all sites by method."""
    return _added(sums, lambda _url: "all")


def chart(sums: Iterable[Sum]) -> SafeString | None:
    """Plot estimated coverage against the share of pages fetched: a point for each site, joined by method.
    Returns None without a line.
    """
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for total in sums:
        if total.share is not None and total.coverage is not None:
            points[total.method].append((total.share, total.coverage))
    lines = [
        Line(name, sorted(points[name]), ink) for ink, name in enumerate(METHODS, 1) if len(points[name]) > 1
    ]
    if not lines:
        return None
    label = _("Estimated coverage against the share of pages fetched, by method")
    return line_plot(lines, Axis(_("share fetched")), Axis(_("coverage, estimated"), marks=SHARES), label)


def _added(sums: Iterable[Sum], group: Callable[[str], str]) -> list[Sum]:
    totals: dict[tuple[str, str], Sum] = {}
    for part in sums:
        key = (group(part.group), part.method)
        total = totals.setdefault(key, Sum(*key))
        for name in ("sites", "visits", *FIGURES):
            setattr(total, name, getattr(total, name) + getattr(part, name))
    return [totals[key] for key in sorted(totals)]
