"""The paper's figures 4 to 12 for one crawl: values per half hour, with minimum and maximum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from crawler.frontier.comparison import Course
from crawler.frontier.models import Crawl, CrawlBucket
from crawler.text.words import Words
from crawler.web.charts import SHARES, Axis, Line, line_plot

POINTS = 400


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as SVG, its title, and its data: hours since the beginning, then the values."""

    title: str
    svg: SafeString
    columns: list[str]
    rows: Sequence[tuple[float, ...]]


# name in the bucket's figures, title, unit, factor
_SPREADS: tuple[tuple[str, Words, Words, float], ...] = (
    ("waiting", gettext_lazy("Waiting time in the queue"), gettext_lazy("minutes"), 1 / 60),
    ("queue", gettext_lazy("URLs in the queue"), "URLs", 1.0),
    ("parent", gettext_lazy("Time for a page with links"), gettext_lazy("seconds"), 1.0),
    ("size", gettext_lazy("Size of a page"), "kB", 1 / 1000),
)


def charts(crawl: Crawl) -> list[Chart]:
    """Return one chart per figure, over the last POINTS half hours. Returns no charts for a new crawl."""
    buckets = list(crawl.buckets.order_by("-start")[:POINTS])[::-1]
    if not buckets:
        return []
    plots = [
        _counts(_("Pages crawled"), _("pages"), buckets, {_("pages"): lambda b: b.crawled}),
        *(_spread(spread, buckets) for spread in _SPREADS),
        _counts(_("Dropped by the time control"), "URLs", buckets, {_("dropped"): lambda b: b.dropped}),
        _counts(_("Duplicates"), "URLs", buckets, {_("duplicates"): lambda b: b.duplicates}),
        _counts(
            _("Links in the queue by class"),
            "URLs",
            buckets,
            {
                _("from other sites"): lambda b: _mean(b, "inter"),
                _("from the same site"): lambda b: _mean(b, "intra"),
            },
        ),
    ]
    return [chart for chart in plots if chart is not None]


def courses_chart(courses: Sequence[Course]) -> SafeString:
    """Draw the share of PageRank reached against pages fetched, by strategy."""
    return line_plot(
        [
            Line(
                course.strategy, [(0.0, 0.0), *zip(map(float, course.pages), course.share, strict=True)], ink
            )
            for ink, course in enumerate(courses, 1)
        ],
        Axis(_("pages fetched")),
        Axis(_("share of PageRank reached"), marks=SHARES),
        _("Share of the graph's PageRank reached by pages fetched, by strategy"),
    )


def _spread(spread: tuple[str, Words, Words, float], buckets: Sequence[CrawlBucket]) -> Chart | None:
    """Draw the maximum, mean and minimum of a figure. Returns None when it has no values."""
    name, title, unit, factor = spread
    rows = [
        (hour, figure[3] * factor, figure[1] / figure[0] * factor, figure[2] * factor)
        for hour, bucket in _hours(buckets)
        if (figure := bucket.figures.get(name))
    ]
    return (
        _chart(str(title), str(unit), [_("max"), _("mean"), pgettext("least", "min")], rows) if rows else None
    )


def _counts(
    title: str,
    unit: str,
    buckets: Sequence[CrawlBucket],
    values: Mapping[str, Callable[[CrawlBucket], float]],
) -> Chart:
    rows = [(hour, *(float(of(bucket)) for of in values.values())) for hour, bucket in _hours(buckets)]
    return _chart(title, unit, list(values), rows)


def _hours(buckets: Sequence[CrawlBucket]) -> list[tuple[float, CrawlBucket]]:
    """Return each bucket with the hours since the first."""
    return [((bucket.start - buckets[0].start).total_seconds() / 3600, bucket) for bucket in buckets]


def _chart(title: str, unit: str, columns: list[str], rows: Sequence[tuple[float, ...]]) -> Chart:
    # A half hour's value holds for its whole length, so that the first one can be seen, too.
    ends = [*rows, (rows[-1][0] + 0.5, *rows[-1][1:])]
    lines = [
        Line(name, [(row[0], row[at]) for row in ends], at, steps=True) for at, name in enumerate(columns, 1)
    ]
    svg = line_plot(
        lines,
        Axis(_("hours since the beginning")),
        Axis(unit),
        _("%(figure)s for each half hour") % {"figure": title},
    )
    return Chart(title, svg, columns, rows)


def _mean(bucket: CrawlBucket, name: str) -> float:
    number, total, _, _ = bucket.figures.get(name, [0, 0.0, 0.0, 0.0])
    return float(total / number) if number else 0.0
