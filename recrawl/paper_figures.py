"""The paper's figures 5 to 18, and the trade-off of staleness and coverage, as pictures and tables."""

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
    """A picture with its file's name, its title and the numbers behind it."""

    name: str
    title: str
    svg: SafeString
    table: str


def figures(whole: Study, groups: Mapping[str, Study], periods: Sequence[int]) -> list[Figure]:
    """All of them for these periods in weeks; what the paper shows at four weeks, at the one nearest."""
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
    """Staleness against coverage, a dot for each method: the lower and the farther right the better."""
    inks = {name: ink for ink, name in enumerate(ALL, 1)}
    dots = [Line(name, [(one.coverage, one.staleness)], inks[name]) for name, one in results.items()]
    title = "Staleness against coverage under one budget, mean over files"
    svg = line_plot(dots, Axis("coverage in the same week", marks=SHARES), Axis("staleness"), title)
    rows = [["method", "coverage", "staleness"]]
    rows += [[name, f"{one.coverage:.1%}", f"{one.staleness:.1%}"] for name, one in results.items()]
    return Figure("trade-off", title, svg, aligned(rows))


def _value(one: OneShot, what: str) -> float:
    return one.as_json()[what]


def _by_period(whole: Study, periods: Sequence[int], number: str, what: str, title: str) -> Figure:
    names = ["all", *METHODS]
    values = {
        name: [(float(period), _value(whole.methods(period)[name], what)) for period in periods]
        for name in names
    }
    lines = [Line(name, values[name], _INKS[name]) for name in names]
    rows = [["method", *(f"{period} w" for period in periods)]]
    rows += [[name, *(f"{value:.1%}" for _, value in values[name])] for name in names]
    weeks = Axis("weeks", marks=[float(one) for one in periods])
    return _figure(number, title, lines, (weeks, Axis(what, marks=SHARES)), rows)


def _by_group(groups: Mapping[str, Study], period: int, number: str, what: str, title: str) -> Figure:
    names = ["all", *METHODS]
    order = sorted(groups)
    values = {
        name: [
            (float(at), _value(groups[group].methods(period)[name], what))
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
    return _figure(number, title, lines, (axis, Axis(what, marks=SHARES)), rows)


def _breadth_first(whole: Study, period: int) -> Figure:
    title = f"Share fetched against coverage, breadth-first and the methods, {period} weeks"
    depths = whole.by_depth(period)
    lines = [Line("breadth-first", [(0.0, 0.0), *((covered, share) for _, covered, share in depths)], 6)]
    rows = [["", "coverage", "share fetched"]]
    rows += [[f"depth {depth}", f"{covered:.1%}", f"{share:.1%}"] for depth, covered, share in depths]
    points, more = _points(whole, period)
    return _against("9", title, [*lines, *points], rows + more)


def _changes(whole: Study, periods: Sequence[int], number: str, least: int, title: str) -> Figure:
    lines, rows = [], [["changes", *(f"{period} w" for period in periods)]]
    shares: dict[int, dict[int, float]] = {}
    for at, period in enumerate(periods):
        counts = {n: count for n, count in whole.changes.get(period, {}).items() if n >= least}
        total = sum(counts.values()) or 1
        shares[period] = {n: count / total for n, count in counts.items()}
        points = [(float(n), share) for n, share in sorted(shares[period].items())]
        lines.append(Line(f"{period} weeks", points, at + 1))
    most = max((n for found in shares.values() for n in found), default=0)
    rows += [
        [str(n), *(f"{shares[period].get(n, 0.0):.1%}" for period in periods)] for n in range(least, most + 1)
    ]
    return _figure(number, title, lines, (Axis("changes of a page"), Axis("share of pages")), rows)


def _thresholds(whole: Study, periods: Sequence[int], number: str, what: str, title: str) -> Figure:
    lines, columns = [], []
    for at, period in enumerate(periods):
        found = whole.by_threshold(period)
        lines.append(
            Line(f"{period} weeks", [(least, _value(one, what)) for least, one in reversed(found)], at + 1)
        )
        columns.append([f"{_value(one, what):.1%}" for _, one in found])
    rows = [["servers of", *(f"{period} w" for period in periods)]]
    for at, (least, _) in enumerate(whole.by_threshold(periods[0])):
        rows.append([f"{least:.0%} and more", *(column[at] for column in columns)])
    axis = Axis("share of changed pages from which a server is taken", marks=SHARES)
    return _figure(number, title, lines, (axis, Axis(what, marks=SHARES)), rows)


def _sampling(whole: Study, period: int, number: str, names: Mapping[str, str], *, methods: bool) -> Figure:
    title = f"Share fetched against coverage, server sampling and the methods, {period} weeks"
    pages = whole.pages(period) or 1
    lines, rows = [], [["", "coverage", "share fetched"]]
    for ink, (method, name) in zip((5, 2, 3, 4), names.items(), strict=False):
        found = [(least, one, one.fetched / pages) for least, one in whole.by_threshold(period, method)]
        points = [(_value(one, "coverage"), share) for _, one, share in found]
        lines.append(Line(name, sorted([(0.0, 0.0), *points]), ink))
        rows += [
            [f"{name}, {least:.0%}", f"{_value(one, 'coverage'):.1%}", f"{share:.1%}"]
            for least, one, share in found
        ]
    if methods:
        dots, more = _points(whole, period)
        lines, rows = [*lines, *dots], rows + more
    return _against(number, title, lines, rows)


def _points(whole: Study, period: int) -> tuple[list[Line], list[list[str]]]:
    """A dot for each of A, B, C."""
    pages = whole.pages(period) or 1
    found = {name: one for name, one in whole.methods(period).items() if name != "all"}
    dots = [
        Line(name, [(_value(one, "coverage"), one.fetched / pages)], _INKS[name])
        for name, one in found.items()
    ]
    rows = [
        [name, f"{_value(one, 'coverage'):.1%}", f"{one.fetched / pages:.1%}"] for name, one in found.items()
    ]
    return dots, rows


def _against(number: str, title: str, lines: list[Line], rows: list[list[str]]) -> Figure:
    axes = Axis("coverage", marks=SHARES), Axis("share of pages fetched", marks=SHARES)
    return _figure(number, title, lines, axes, rows)


def _figure(
    number: str, title: str, lines: list[Line], axes: tuple[Axis, Axis], rows: list[list[str]]
) -> Figure:
    return Figure(f"figure-{number}", title, line_plot(lines, *axes, title), aligned(rows))
