"""Update rate and coverage of this deployment's own sites: what the paper's figures show of its servers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import models
from django.db.models import Count
from django.utils.safestring import SafeString

from crawler.frontier.domains import host_of, top_level_domain
from crawler.web.charts import SHARES, Axis, Line, line_plot
from recrawl.methods.registry import METHODS
from recrawl.models import Visit, estimated_coverage

FIGURES = ("pages", "fetched", "changed", "missed", "requests", "bytes", "whole")


@dataclass(slots=True)
class Sum:
    """Visits of one group by one method, added up."""

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
        """Pages fetched by pages known."""
        return self.fetched / self.pages if self.pages else None

    @property
    def rate(self) -> float | None:
        """Changed pages by pages fetched."""
        return self.changed / self.fetched if self.fetched else None

    @property
    def coverage(self) -> float | None:
        """Changes found by all there are thought to have been."""
        return estimated_coverage(self.changed, self.missed)


def by_site() -> list[Sum]:
    """Each site, named by its URL, and method: its visits that have ended."""
    ended = Visit.objects.filter(number__gt=0, finished__isnull=False).order_by("site", "method")
    sums = [models.Sum(name, default=0) for name in FIGURES]
    rows = ended.values_list("site__url", "method", Count("id"), *sums)
    return [Sum(url, method, 1, visits, *figures) for url, method, visits, *figures in rows]


def by_domain(sums: Iterable[Sum]) -> list[Sum]:
    """Sums of sites by their top-level domain, then by method."""
    return _added(sums, lambda url: f".{top_level_domain(host_of(url))}")


def by_method(sums: Iterable[Sum]) -> list[Sum]:
    """Sums of all sites, by method."""
    return _added(sums, lambda _url: "all")


def chart(sums: Iterable[Sum]) -> SafeString | None:
    """Estimated coverage against the share of pages fetched: a point for each site, joined by method."""
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in sums:
        if one.share is not None and one.coverage is not None:
            points[one.method].append((one.share, one.coverage))
    lines = [
        Line(name, sorted(points[name]), ink) for ink, name in enumerate(METHODS, 1) if len(points[name]) > 1
    ]
    if not lines:
        return None
    label = "Estimated coverage against the share of pages fetched, by method"
    return line_plot(lines, Axis("share fetched"), Axis("coverage, estimated", marks=SHARES), label)


def _added(sums: Iterable[Sum], group: Callable[[str], str]) -> list[Sum]:
    found: dict[tuple[str, str], Sum] = {}
    for one in sums:
        key = (group(one.group), one.method)
        total = found.setdefault(key, Sum(*key))
        for name in ("sites", "visits", *FIGURES):
            setattr(total, name, getattr(total, name) + getattr(one, name))
    return [found[key] for key in sorted(found)]
