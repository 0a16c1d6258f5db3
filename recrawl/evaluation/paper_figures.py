"""Figures 5 to 18 of the paper and the plot of staleness against coverage, as pictures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from crawler.text.cells import aligned
from crawler.web.charts import SHARES, Axis, Line, line_plot
from recrawl.methods.registry import METHODS as ALL
from recrawl.replay.budgeted import Budgeted
from recrawl.replay.one_shot import OneShot
from recrawl.replay.study import METHODS, Study

_INKS = {"all": 9, "A": 2, "B": 3, "C": 4, "breadth-first": 6, "server sampling": 5}


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its file name, its title and a table of its numbers."""

    name: str
    title: str
    svg: SafeString
    table: str


def figures(whole: Study, groups: Mapping[str, Study], periods: Sequence[int]) -> list[Figure]:
    """Return all figures for `periods` (weeks). Figures that the paper draws for four weeks use the period
    nearest to four.
    """
    month = min(periods, key=lambda period: abs(period - 4))
    return [
        _by_period(whole, periods, "5", "rate", "Update rate by method and period"),
        _by_period(whole, periods, "6", "coverage", "Coverage by method and period"),
        _by_group(groups, month, "7", "rate", f"Update rate by group of sites, {month} weeks"),
        _by_group(groups, month, "8", "coverage", f"Coverage by group of sites, {month} weeks"),
        _breadth_first(whole, month),
        _changes(whole, periods, "10", 0, "Pages by number of changes"),
        _changes(whole, periods, "11", 1, "Changed pages by number of changes"),
        _thresholds(whole, periods, "12", "rate", "Update rate of servers by their share of changed pages"),
        _thresholds(whole, periods, "13", "coverage", "Coverage of servers by their share of changed pages"),
        *(
            _sampling(whole, period, str(14 + at), {"": "server sampling"}, methods=True)
            for at, period in enumerate(periods)
        ),
        _sampling(
            whole,
            month,
            "18",
            {"": "server sampling", **{name: f"server sampling + {name}" for name in METHODS}},
            methods=False,
        ),
    ]


def trade_off(results: Mapping[str, Budgeted]) -> Figure:
    """Plot staleness against coverage with a dot for each method. Lower and farther right is better."""
    inks = {name: ink for ink, name in enumerate(ALL, 1)}
    dots = [Line(name, [(result.coverage, result.staleness)], inks[name]) for name, result in results.items()]
    title = "Staleness against coverage under one budget, mean over files"
    svg = line_plot(dots, Axis("coverage in the same week", marks=SHARES), Axis("staleness"), title)
    rows = [["method", "coverage", "staleness"]]
    rows += [[name, f"{result.coverage:.1%}", f"{result.staleness:.1%}"] for name, result in results.items()]
    return Figure("trade-off", title, svg, aligned(rows))


def _value(result: OneShot, measure: str) -> float:
    return result.as_json()[measure]


def _by_period(whole: Study, periods: Sequence[int], number: str, measure: str, title: str) -> Figure:
    names = ["all", *METHODS]
    values = {
        name: [(float(period), _value(whole.methods(period)[name], measure)) for period in periods]
        for name in names
    }
    lines = [Line(name, values[name], _INKS[name]) for name in names]
    rows = [["method", *(f"{period} w" for period in periods)]]
    rows += [[name, *(f"{value:.1%}" for _, value in values[name])] for name in names]
    weeks = Axis("weeks", marks=[float(period) for period in periods])
    return _figure(number, title, lines, (weeks, Axis(measure, marks=SHARES)), rows)


def _by_group(groups: Mapping[str, Study], period: int, number: str, measure: str, title: str) -> Figure:
    names = ["all", *METHODS]
    order = sorted(groups)
    values = {
        name: [
            (float(at), _value(groups[group].methods(period)[name], measure))
            for at, group in enumerate(order, 1)
        ]
        for name in names
    }
    lines = [Line(name, values[name], _INKS[name]) for name in names]
    rows = [["", "group", *names]]
    for at, group in enumerate(order):
        rows.append([str(at + 1), group, *(f"{values[name][at][1]:.1%}" for name in names)])
    marks = [float(at + 1) for at in range(len(order))]
    axis = Axis("group, numbered as in the table", marks=marks)
    return _figure(number, title, lines, (axis, Axis(measure, marks=SHARES)), rows)


def _breadth_first(whole: Study, period: int) -> Figure:
    title = f"Share fetched against coverage, breadth-first and the methods, {period} weeks"
    depths = whole.by_depth(period)
    lines = [Line("breadth-first", [(0.0, 0.0), *((covered, share) for _, covered, share in depths)], 6)]
    rows = [["", "coverage", "share fetched"]]
    rows += [[f"depth {depth}", f"{covered:.1%}", f"{share:.1%}"] for depth, covered, share in depths]
    points, method_rows = _points(whole, period)
    return _against("9", title, [*lines, *points], rows + method_rows)


def _changes(whole: Study, periods: Sequence[int], number: str, min_changes: int, title: str) -> Figure:
    lines, rows = [], [["changes", *(f"{period} w" for period in periods)]]
    shares: dict[int, dict[int, float]] = {}
    for at, period in enumerate(periods):
        counts = {n: count for n, count in whole.changes.get(period, {}).items() if n >= min_changes}
        total = sum(counts.values()) or 1
        shares[period] = {n: count / total for n, count in counts.items()}
        points = [(float(n), share) for n, share in sorted(shares[period].items())]
        lines.append(Line(f"{period} weeks", points, at + 1))
    max_changes = max((n for period_shares in shares.values() for n in period_shares), default=0)
    rows += [
        [str(n), *(f"{shares[period].get(n, 0.0):.1%}" for period in periods)]
        for n in range(min_changes, max_changes + 1)
    ]
    return _figure(number, title, lines, (Axis("changes of a page"), Axis("share of pages")), rows)


def _thresholds(whole: Study, periods: Sequence[int], number: str, measure: str, title: str) -> Figure:
    lines, columns = [], []
    for at, period in enumerate(periods):
        results = whole.by_threshold(period)
        lines.append(
            Line(
                f"{period} weeks",
                [(min_share, _value(result, measure)) for min_share, result in reversed(results)],
                at + 1,
            )
        )
        columns.append([f"{_value(result, measure):.1%}" for _, result in results])
    rows = [["servers of", *(f"{period} w" for period in periods)]]
    for at, (min_share, _) in enumerate(whole.by_threshold(periods[0])):
        rows.append([f"{min_share:.0%} and more", *(column[at] for column in columns)])
    axis = Axis("share of changed pages from which a server is taken", marks=SHARES)
    return _figure(number, title, lines, (axis, Axis(measure, marks=SHARES)), rows)


def _sampling(whole: Study, period: int, number: str, names: Mapping[str, str], *, methods: bool) -> Figure:
    title = f"Share fetched against coverage, server sampling and the methods, {period} weeks"
    pages = whole.pages(period) or 1
    lines, rows = [], [["", "coverage", "share fetched"]]
    for ink, (method, name) in zip((5, 2, 3, 4), names.items(), strict=False):
        results = [
            (min_share, result, result.fetched / pages)
            for min_share, result in whole.by_threshold(period, method)
        ]
        points = [(_value(result, "coverage"), share) for _, result, share in results]
        lines.append(Line(name, sorted([(0.0, 0.0), *points]), ink))
        rows += [
            [f"{name}, {min_share:.0%}", f"{_value(result, 'coverage'):.1%}", f"{share:.1%}"]
            for min_share, result, share in results
        ]
    if methods:
        dots, method_rows = _points(whole, period)
        lines, rows = [*lines, *dots], rows + method_rows
    return _against(number, title, lines, rows)


def _points(whole: Study, period: int) -> tuple[list[Line], list[list[str]]]:
    """Return a dot and a table row for each of the methods A, B and C."""
    pages = whole.pages(period) or 1
    results = {name: result for name, result in whole.methods(period).items() if name != "all"}
    dots = [
        Line(name, [(_value(result, "coverage"), result.fetched / pages)], _INKS[name])
        for name, result in results.items()
    ]
    rows = [
        [name, f"{_value(result, 'coverage'):.1%}", f"{result.fetched / pages:.1%}"]
        for name, result in results.items()
    ]
    return dots, rows


def _against(number: str, title: str, lines: list[Line], rows: list[list[str]]) -> Figure:
    axes = Axis("coverage", marks=SHARES), Axis("share of pages fetched", marks=SHARES)
    return _figure(number, title, lines, axes, rows)


def _figure(
    number: str, title: str, lines: list[Line], axes: tuple[Axis, Axis], rows: list[list[str]]
) -> Figure:
    return Figure(f"figure-{number}", title, line_plot(lines, *axes, title), aligned(rows))
