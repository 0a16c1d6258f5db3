"""Line and bar charts made on the server as SVG, for pages and as files of the documentation.

Colours come by class (`ink-1` to `ink-10`), from the page's style sheet or from `standalone`. Lines differ
in their dashes, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 640, 300
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Marks of an axis from nothing to all."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 12, 40
_KEY_HEIGHT = 18
_BAR, _BAR_LEFT = 22, 128


@dataclass(frozen=True, slots=True)
class Line:
    """A line of points in order of x, one alone as a dot; `ink` numbers the colour and the dashes, from 1."""

    name: str
    points: Sequence[tuple[float, float]]
    ink: int = 1
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """A title, the values that get a mark (none: chosen here), and whether it is logarithmic."""

    title: str
    marks: Sequence[float] = ()
    log: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A named value."""

    name: str
    value: float
    ink: int = 1


class _Scale:
    """The mapping of one axis' values to the picture."""

    def __init__(self, axis: Axis, values: Sequence[float], begin: float, end: float) -> None:
        self._log, self._begin, self._end = axis.log, begin, end
        bounds = [*values, *axis.marks] or [1.0, 2.0]
        self.low, self.high = min(bounds), max(bounds)
        if not axis.log:
            self.low = self.low if axis.marks else min(self.low, 0.0)
        if self.low == self.high:
            self.high = self.low * 2 if self.low > 0 else self.low + 1.0
        self.marks = axis.marks or (_decades if axis.log else _round_marks)(self.low, self.high)
        if not axis.marks and not axis.log:
            self.high = max(self.high, self.marks[-1])

    def __call__(self, value: float) -> float:
        share = (
            math.log(value / self.low) / math.log(self.high / self.low)
            if self._log
            else (value - self.low) / (self.high - self.low)
        )
        return self._begin + share * (self._end - self._begin)


def line_plot(lines: Sequence[Line], x: Axis, y: Axis, label: str) -> SafeString:
    """Draw lines over a common x with their names below. Logarithmic axes omit values not above zero."""
    visible = [
        replace(line, points=[p for p in line.points if (p[0] > 0 or not x.log) and (p[1] > 0 or not y.log)])
        for line in lines
    ]
    rows = _key_rows([line.name for line in visible])
    height = HEIGHT + _KEY_HEIGHT * (1 + max((row for row, _ in rows), default=0))
    across = _Scale(x, [p[0] for line in visible for p in line.points], _LEFT, WIDTH - _RIGHT)
    up = _Scale(y, [p[1] for line in visible for p in line.points], HEIGHT - _BOTTOM, _TOP)
    return format_html(
        '<svg class="plot" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">{grid}{lines}{key}</svg>',
        w=WIDTH,
        h=height,
        label=label,
        grid=_grid(x, y, across, up),
        lines=format_html_join("", "{}", ((_path(line, across, up),) for line in visible)),
        key=format_html_join(
            "", "{}", ((_key(line, *place),) for line, place in zip(visible, rows, strict=True))
        ),
    )


def bar_plot(bars: Sequence[Bar], title: str, label: str) -> SafeString:
    """Draw horizontal bars from zero with their values, in the order given."""
    top = max((bar.value for bar in bars), default=0.0) or 1.0
    room = WIDTH - _BAR_LEFT - 60
    drawn = format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="end">{}</text>'
        '<rect class="bar ink-{}" x="{}" y="{}" width="{}" height="{}" rx="2"/>'
        '<text class="value" x="{}" y="{}">{}</text>',
        (
            (
                _BAR_LEFT - 8,
                at * _BAR + 15,
                bar.name,
                bar.ink,
                _BAR_LEFT,
                at * _BAR + 3,
                f"{room * bar.value / top:.1f}",
                _BAR - 6,
                f"{_BAR_LEFT + room * bar.value / top + 6:.1f}",
                at * _BAR + 15,
                short(bar.value),
            )
            for at, bar in enumerate(bars)
        ),
    )
    height = len(bars) * _BAR + 22
    return format_html(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<text x="{}" y="{}">{}</text></svg>',
        WIDTH,
        height,
        label,
        drawn,
        _BAR_LEFT,
        height - 6,
        title,
    )


def standalone(svg: SafeString) -> str:
    """Return the picture as a file of its own, in colours for light and dark surroundings."""
    begin = '<svg xmlns="http://www.w3.org/2000/svg" width="760" '
    style = _LIGHT + "@media (prefers-color-scheme: dark) {" + _DARK + "}"
    opened, closed = svg.removeprefix("<svg ").split(">", 1)
    return f"{begin}{opened}><style>{style}</style>{closed}\n"


def short(value: float) -> str:
    """Write a number with at most three significant figures and no trailing zeros."""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _grid(x: Axis, y: Axis, across: _Scale, up: _Scale) -> SafeString:
    lines = format_html_join(
        "",
        '<line class="ring" x1="{}" y1="{}" x2="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
        (
            (_LEFT, f"{up(v):.1f}", WIDTH - _RIGHT, f"{up(v):.1f}", _LEFT - 6, f"{up(v) + 3.5:.1f}", short(v))
            for v in up.marks
        ),
    )
    below = format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="middle">{}</text>',
        ((f"{across(v):.1f}", HEIGHT - _BOTTOM + 15, short(v)) for v in across.marks),
    )
    return format_html(
        '{}{}<text x="{}" y="{}" text-anchor="middle">{}</text>'
        '<text transform="translate(11 {}) rotate(-90)" text-anchor="middle">{}</text>',
        lines,
        below,
        (_LEFT + WIDTH - _RIGHT) / 2,
        HEIGHT - 8,
        x.title,
        (_TOP + HEIGHT - _BOTTOM) / 2,
        y.title,
    )


def _path(line: Line, across: _Scale, up: _Scale) -> SafeString:
    if len(line.points) == 1:
        x, y = across(line.points[0][0]), up(line.points[0][1])
        return format_html(
            '<circle class="dot ink-{}" cx="{}" cy="{}" r="5"><title>{}</title></circle>',
            line.ink,
            f"{x:.1f}",
            f"{y:.1f}",
            line.name,
        )
    points: list[str] = []
    for at, (x, y) in enumerate(line.points):
        if line.steps and at:
            points.append(f"{across(x):.1f},{up(line.points[at - 1][1]):.1f}")
        points.append(f"{across(x):.1f},{up(y):.1f}")
    return format_html(
        '<polyline class="line ink-{}" points="{}"><title>{}</title></polyline>',
        line.ink,
        " ".join(points),
        line.name,
    )


def _key_rows(names: Sequence[str]) -> list[tuple[int, float]]:
    """Return (row, x) of each name below the chart."""
    places: list[tuple[int, float]] = []
    row, x = 0, float(_LEFT)
    for name in names:
        width = 34 + 6.2 * len(name)
        if x + width > WIDTH and x > _LEFT:
            row, x = row + 1, float(_LEFT)
        places.append((row, x))
        x += width + 8
    return places


def _key(line: Line, row: int, x: float) -> SafeString:
    y = HEIGHT + _KEY_HEIGHT * row + 8
    return format_html(
        '<polyline class="line ink-{}" points="{},{} {},{}"/><text x="{}" y="{}">{}</text>',
        line.ink,
        f"{x:.0f}",
        y,
        f"{x + 24:.0f}",
        y,
        f"{x + 29:.0f}",
        y + 3.5,
        line.name,
    )


def _round_marks(low: float, high: float) -> list[float]:
    """Return four to eight values at steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.floor(low / step)
    return [at * step for at in range(first, math.ceil(high / step) + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten within the range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    return [mark for mark in marks if low * 0.999 <= mark <= high * 1.001] or [low, high]


_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "1 3", "6 2 1 2", "3 5", "10 2 2 2 2 2")
_INKS = (
    ("#0a6a72", "#63cdd0"), ("#b4530f", "#f2a365"), ("#6a4fa3", "#b9a3ee"), ("#1a6b41", "#6fcf9a"),
    ("#a9261d", "#ff978f"), ("#2f5fa8", "#8fb8f5"), ("#8a5a00", "#e8b75c"), ("#9b3a7c", "#eba0d2"),
    ("#4a6066", "#9db2b6"), ("#12262b", "#dce8e9"),
)  # fmt: skip


def _style(which: int, text: str, grid: str) -> str:
    inks = (
        f".ink-{i}{{stroke:{ink[which]};stroke-dasharray:{dash}}}"
        f".bar.ink-{i},.dot.ink-{i}{{fill:{ink[which]};stroke:none}}"
        for i, (ink, dash) in enumerate(zip(_INKS, _DASHES, strict=True), 1)
    )
    return f"text{{fill:{text};font:10px sans-serif}}.ring{{stroke:{grid}}}" + "".join(inks)


_LIGHT = ".line{fill:none;stroke-width:1.7}" + _style(0, "#4a6066", "#d2dddd")
_DARK = _style(1, "#9db2b6", "#26393e")
