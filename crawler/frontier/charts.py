"""The paper's figures 4 to 12 for one crawl: values by minute or half hour, with minimum and maximum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Max, Min
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from crawler.frontier.evaluation.comparison import Course
from crawler.frontier.models import Crawl, CrawlBucket
from crawler.text.words import Words
from crawler.web.charts import SHARES, Axis, Line, line_plot

POINTS = 400
STEPS = (1, 5, 30)
"""Minutes of a step of the charts."""
SHORT = 180
"""Steps for which a crawl is drawn in the next shorter ones: three hours in minutes, fifteen in fives."""


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
    """Return one chart per figure, over the last POINTS steps. Returns no charts for a new crawl.

    A step is a minute, five, or half an hour as in the paper, by the crawl's length. Counts have the largest,
    mean and smallest number of a minute within each step, where a step is longer.
    """
    steps, minutes = _steps(crawl)
    if not steps:
        return []
    plots = [
        _counts(_("Pages crawled"), _("pages a minute"), steps, minutes, lambda bucket: bucket.crawled),
        *(_spread(spread, steps, minutes) for spread in _SPREADS),
        _counts(
            _("Dropped by the time control"),
            _("URLs a minute"),
            steps,
            minutes,
            lambda bucket: bucket.dropped,
        ),
        _counts(_("Duplicates"), _("URLs a minute"), steps, minutes, lambda bucket: bucket.duplicates),
        _chart(
            _("Links in the queue by class"),
            "URLs",
            [_("from other sites"), _("from the same site")],
            [(step.hour, _mean(step, "inter"), _mean(step, "intra")) for step in steps],
            minutes,
        ),
    ]
    return [chart for chart in plots if chart is not None]


def as_csv(crawl: Crawl) -> Iterator[str]:
    """Yield the lines of a table of all figures by minute: counts; number, mean and extremes of others."""
    names = [name for name, _title, _unit, _factor in _SPREADS] + ["inter", "intra"]
    heads = [f"{name} {part}" for name in names for part in ("number", "mean", "least", "most")]
    yield ",".join(["start", "minutes", "crawled", "dropped", "duplicates", *heads]) + "\n"
    for bucket in crawl.buckets.order_by("start").iterator(chunk_size=2000):
        cells = [bucket.start.isoformat(), bucket.minutes, bucket.crawled, bucket.dropped, bucket.duplicates]
        for name in names:
            number, total, minimum, maximum = bucket.figures.get(name) or (0, 0.0, "", "")
            cells += [number, total / number if number else "", minimum, maximum]
        yield ",".join(map(str, cells)) + "\n"


@dataclass(frozen=True, slots=True)
class _Step:
    """The minutes of one step of the charts, and the hours from the first step to it."""

    hour: float
    buckets: Sequence[CrawlBucket]


def _steps(crawl: Crawl) -> tuple[list[_Step], int]:
    """Return the last steps of a crawl with figures, and their length in minutes."""
    ends = crawl.buckets.aggregate(first=Min("start"), last=Max("start"), longest=Max("minutes"))
    if ends["first"] is None:
        return [], 0
    minutes = (ends["last"] - ends["first"]).total_seconds() / 60
    length = next((step for step in STEPS if minutes <= SHORT * step and step >= ends["longest"]), STEPS[-1])
    since = ends["last"] - timedelta(minutes=length * POINTS)
    grouped: dict[int, list[CrawlBucket]] = {}
    for bucket in crawl.buckets.filter(start__gt=since).order_by("start"):
        grouped.setdefault(int(bucket.start.timestamp() // (60 * length)), []).append(bucket)
    first = min(grouped)
    return [_Step((at - first) * length / 60, buckets) for at, buckets in grouped.items()], length


def lead_chart(course: Sequence[Sequence[float]], requests: int) -> SafeString | None:
    """Draw how many addresses a crawl's query named after so many requests, None for a single answer."""
    if len(course) < 2:
        return None
    points = [(float(request_count), float(address_count)) for request_count, address_count in course]
    points.append((float(max(requests, points[-1][0])), points[-1][1]))
    label = _("Addresses that the query names, by requests made")
    return line_plot(
        [Line(_("addresses"), points, 1, steps=True)], Axis(_("requests")), Axis(_("addresses")), label
    )


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


def _spread(spread: tuple[str, Words, Words, float], steps: Sequence[_Step], minutes: int) -> Chart | None:
    """Draw the maximum, mean and minimum of a figure. Returns None when it has no values."""
    name, title, unit, factor = spread
    rows = []
    for step in steps:
        figures = [figure for bucket in step.buckets if (figure := bucket.figures.get(name))]
        if figures:
            mean = sum(figure[1] for figure in figures) / sum(figure[0] for figure in figures)
            maximum, minimum = max(figure[3] for figure in figures), min(figure[2] for figure in figures)
            rows.append((step.hour, maximum * factor, mean * factor, minimum * factor))
    return _chart(str(title), str(unit), _names(), rows, minutes) if rows else None


def _counts(
    title: str, unit: str, steps: Sequence[_Step], minutes: int, count: Callable[[CrawlBucket], int]
) -> Chart:
    """Draw the largest, mean and smallest count of a minute in each step, or the count itself."""
    if minutes == 1:
        return _chart(title, unit, [unit], [(s.hour, float(count(s.buckets[0]))) for s in steps], minutes)
    rows = []
    for step in steps:
        paces = [count(bucket) / bucket.minutes for bucket in step.buckets]
        watched = sum(bucket.minutes for bucket in step.buckets)
        # In a minute without a bucket nothing came back.
        minimum = min(paces) if watched >= minutes or step is steps[-1] else 0.0
        mean = sum(map(count, step.buckets)) / (watched if step is steps[-1] else minutes)
        rows.append((step.hour, max(paces), mean, minimum))
    return _chart(title, unit, _names(), rows, minutes)


def _names() -> list[str]:
    return [_("max"), _("mean"), pgettext("least", "min")]


def _chart(
    title: str, unit: str, columns: list[str], rows: Sequence[tuple[float, ...]], minutes: int
) -> Chart:
    # A step's value holds for its whole length, so that the first one can be seen, too.
    ends = [*rows, (rows[-1][0] + minutes / 60, *rows[-1][1:])]
    lines = [
        Line(name, [(row[0], row[at]) for row in ends], at, steps=True) for at, name in enumerate(columns, 1)
    ]
    svg = line_plot(
        lines,
        Axis(_("hours since the beginning")),
        Axis(unit),
        ngettext("%(figure)s for each minute", "%(figure)s for each %(minutes)s minutes", minutes)
        % {"figure": title, "minutes": minutes},
    )
    return Chart(title, svg, columns, rows)


def _mean(step: _Step, name: str) -> float:
    figures = [figure for bucket in step.buckets if (figure := bucket.figures.get(name))]
    number = sum(figure[0] for figure in figures)
    return float(sum(figure[1] for figure in figures) / number) if number else 0.0
