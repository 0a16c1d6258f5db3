"""Update rate and coverage of this deployment's own sites: what the paper's figures show of its servers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.safestring import SafeString

from crawler.frontier.domains import host_of, top_level_domain
from crawler.plots import Axis, Line, line_plot
from recrawl.charts import SHARES
from recrawl.methods.registry import METHODS
from recrawl.models import Visit


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
        total = self.changed + self.missed
        return self.changed / total if total >= 0.5 else None


def by_domain() -> list[Sum]:
    """By the top-level domain of the sites, then by method."""
    return _sums(_visits(), lambda url: f".{top_level_domain(host_of(url))}")


def totals() -> list[Sum]:
    """All sites, by method."""
    return _sums(_visits(), lambda _url: "all")


def chart() -> SafeString | None:
    """Estimated coverage against the share of pages fetched: a point for each site, joined by method."""
    sums: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in _sums(_visits(), lambda url: url):
        if one.share is not None and one.coverage is not None:
            sums[one.method].append((one.share, one.coverage))
    lines = [
        Line(name, sorted(sums[name]), ink) for ink, name in enumerate(METHODS, 1) if len(sums[name]) > 1
    ]
    if not lines:
        return None
    label = "Estimated coverage against the share of pages fetched, by method"
    return line_plot(lines, Axis("share fetched"), Axis("coverage, estimated", marks=SHARES), label)


def _visits() -> Iterable[tuple[str, Visit]]:
    ended = Visit.objects.filter(number__gt=0, finished__isnull=False).select_related("site")
    rows = ended.defer("site__memory", "site__template").order_by("site_id", "number")
    return ((visit.site.url, visit) for visit in rows.iterator(chunk_size=1000))


def _sums(visits, group) -> list[Sum]:  # type: ignore[no-untyped-def]
    found: dict[tuple[str, str], Sum] = {}
    sites: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for url, visit in visits:
        key = (group(url), visit.method)
        one = found.setdefault(key, Sum(*key))
        sites[key].add(url)
        one.visits += 1
        for name in ("pages", "fetched", "changed", "missed", "requests", "bytes", "whole"):
            setattr(one, name, getattr(one, name) + (getattr(visit, name) or 0))
    for key, one in found.items():
        one.sites = len(sites[key])
    return [found[key] for key in sorted(found)]
