"""Charts of a feed: SVG made on the server, and number series for charts.js.

Colours come from the style sheet by class; each picture has a label that describes its content.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from feeds.models import Feed, Retrieval

POINTS = 500

# The clock, in units of its view box.
_MIDDLE, _INNER, _OUTER, _LABELS = 120.0, 34.0, 96.0, 110.0
# The heat map: one cell, and the room for the days' names and the hours.
_CELL, _LEFT, _TOP = 20, 34, 16


def sparkline(values: Sequence[float], label: str, *, width: int = 96, height: int = 22) -> SafeString:
    """Draw a filled step line of non-negative values, the highest at the top."""
    top = max(values, default=0.0) or 1.0
    step = width / max(len(values), 1)
    points: list[tuple[float, float]] = []
    for place, value in enumerate(values):
        y = height - 1 - (height - 3) * value / top
        points += [(place * step, y), ((place + 1) * step, y)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return format_html(
        '<svg class="spark" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">'
        '<polygon class="area" points="0,{h} {line} {w},{h}"/>'
        '<polyline class="stroke" points="{line}"/></svg>',
        w=width,
        h=height,
        label=label,
        line=line,
    )


def weekly_bars(values: Sequence[float], subject: str) -> SafeString:
    """Draw 168 non-negative values of a week, Monday first, as a step line with the days' names below."""
    top, at = max(values), max(range(len(values)), key=values.__getitem__)
    label = _("By hour of the week, %(what)s: at most %(top)s, on %(day)s at %(hour)s") % {
        "what": subject,
        "top": number_format(_short(top)),
        "day": WEEKDAYS[at // 24],
        "hour": _hour(at % 24),
    }
    names = format_html_join(
        "",
        '<text x="{}" y="74" text-anchor="middle">{}</text>',
        ((day * 48 + 24, name) for day, name in WEEKDAYS_ABBR.items()),
    )
    lines = format_html_join(
        "", '<line class="tick" x1="{0}" y1="0" x2="{0}" y2="60"/>', ((day * 48,) for day in range(1, 7))
    )
    points: list[str] = []
    for hour, value in enumerate(values):
        y = 58 - 56 * value / (top or 1.0)
        points += [f"{hour * 2},{y:.1f}", f"{hour * 2 + 2},{y:.1f}"]
    return format_html(
        '<svg class="week" viewBox="0 0 336 78" role="img" aria-label="{label}">{lines}'
        '<polygon class="area" points="0,60 {line} 336,60"/><polyline class="stroke" points="{line}"/>{names}'
        "</svg>",
        label=label,
        lines=lines,
        line=" ".join(points),
        names=names,
    )


def clock(rates: Sequence[float], hour_now: float, zone: str = "UTC") -> SafeString:
    """Draw articles per hour for each hour of day (24) as wedges of a 24-hour dial, midnight at the top.

    `hour_now` is the hour of day with its fraction, shown by the hand. `zone` names the time zone of both.
    """
    top = max(rates, default=0.0) or 1.0
    wedges = format_html_join(
        "",
        '<path class="wedge" d="{}"><title>{}</title></path>',
        (
            (
                _wedge(hour, _INNER + (_OUTER - _INNER) * rate / top),
                _("%(start)s to %(end)s %(zone)s: %(rate)s articles an hour")
                % {
                    "start": _hour(hour),
                    "end": _hour(hour + 1),
                    "zone": zone,
                    "rate": number_format(f"{rate:.2f}"),
                },
            )
            for hour, rate in enumerate(rates)
        ),
    )
    around = ((hour, *_point(hour, _LABELS)) for hour in range(0, 24, 3))
    labels = format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="middle">{}</text>',
        ((f"{x:.1f}", f"{y + 3.5:.1f}", f"{hour:02}") for hour, x, y in around),
    )
    peak = max(range(len(rates)), key=lambda hour: rates[hour])
    x, y = _point(hour_now, _OUTER + 4)
    total = number_format(_short(sum(rates)))
    return format_html(
        '<svg class="clock" viewBox="0 0 240 240" role="img" aria-label="{label}">'
        '<circle class="ring" cx="120" cy="120" r="{outer}"/>'
        '<circle class="ring" cx="120" cy="120" r="{half}"/>'
        "{wedges}{labels}"
        '<line class="now" x1="120" y1="120" x2="{x}" y2="{y}"><title>{now}</title></line>'
        '<circle class="cell-frame" cx="120" cy="120" r="{core}"/>'
        '<text class="total" x="120" y="121" text-anchor="middle">{total}</text>'
        '<text x="120" y="135" text-anchor="middle">{a_day}</text></svg>',
        label=_("Posting by hour of day, %(zone)s: %(total)s articles a day, most from %(start)s to %(end)s")
        % {"zone": zone, "total": total, "start": _hour(peak), "end": _hour(peak + 1)},
        total=total,
        now=_("now"),
        a_day=pgettext("after a number", "a day"),
        outer=_OUTER,
        half=(_INNER + _OUTER) / 2,
        wedges=wedges,
        labels=labels,
        x=f"{x:.1f}",
        y=f"{y:.1f}",
        core=_INNER - 2,
    )


def heat_map(counts: Sequence[Sequence[int]], zone: str = "UTC") -> SafeString:
    """Draw the articles posted in each hour of the week (7 x 24, Monday first), in the named time zone."""
    top = max(count for day in counts for count in day)
    busiest = next((day, hour) for day in range(7) for hour in range(24) if counts[day][hour] == top)
    width, height = _LEFT + 24 * _CELL, _TOP + 7 * _CELL
    hours = format_html_join(
        "",
        '<text x="{}" y="11" text-anchor="middle">{}</text>',
        ((_LEFT + hour * _CELL + _CELL // 2, f"{hour:02}") for hour in range(0, 24, 3)),
    )
    days = format_html_join(
        "",
        '<text x="0" y="{}">{}</text>',
        ((_TOP + row * _CELL + 14, day) for row, day in WEEKDAYS_ABBR.items()),
    )
    cells = SafeString(
        "".join(
            _cell(day, hour, count, top)
            for day, row in enumerate(counts)
            for hour, count in enumerate(row)
            if count
        )
    )
    places = ((_LEFT + hour * _CELL, _TOP + day * _CELL) for day in range(7) for hour in range(24))
    frames = format_html(
        '<path class="cell-frame" d="{}"/>', "".join(f"M{x} {y}h18v18h-18z" for x, y in places)
    )
    return format_html(
        '<svg class="heat" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}{}</svg>',
        width,
        height,
        _("Articles by hour of the week, %(zone)s: %(total)d, most on %(day)s at %(time)s")
        % {
            "zone": zone,
            "total": sum(sum(day) for day in counts),
            "day": WEEKDAYS_ABBR[busiest[0]],
            "time": _hour(busiest[1]),
        },
        hours,
        days,
        frames,
        cells,
    )


def training_series(feed: Feed) -> dict[str, Any]:
    """Return M, T and ToE after each of the last POINTS visits of the training phase."""
    rows = _last(feed, "m", "t", "toe", m__isnull=False)
    return {
        "x": [row[0].timestamp() for row in rows],
        "unit": "ticks",
        "series": [
            {"label": "ToE", "values": [row[3] for row in rows], "kind": "steps"},
            {"label": "M", "values": [_rounded(row[1]) for row in rows], "kind": "line"},
            {"label": "T", "values": [_rounded(row[2]) for row in rows], "kind": "line"},
        ],
    }


def forecast_series(feed: Feed) -> dict[str, Any]:
    """Return the new articles found by each of the last POINTS visits, and their forecast."""
    rows = _last(feed, "expected", "new", expected__isnull=False)
    return {
        "x": [row[0].timestamp() for row in rows],
        "unit": _("new articles"),
        "series": [
            {"label": _("predicted"), "values": [_rounded(row[1]) for row in rows], "kind": "line"},
            {"label": _("found"), "values": [row[2] for row in rows], "kind": "points"},
        ],
    }


def _cell(day: int, hour: int, count: int, top: int) -> SafeString:
    x, y = _LEFT + hour * _CELL, _TOP + day * _CELL
    when = f"{WEEKDAYS_ABBR[day]} {_hour(hour)}"
    # The square root keeps the quiet hours of a feed with one busy hour visible.
    strength = math.sqrt(count / top) if top else 0.0
    return format_html(
        '<rect class="cell" x="{x}" y="{y}" width="18" height="18" rx="3" fill-opacity="{strength}">'
        "<title>{words}</title></rect>",
        x=x,
        y=y,
        strength=f"{strength:.2f}",
        words=ngettext("%(when)s: %(count)d article", "%(when)s: %(count)d articles", count)
        % {"when": when, "count": count},
    )


def _point(hour: float, radius: float) -> tuple[float, float]:
    """Return the position of an hour on the dial: midnight at the top, clockwise."""
    angle = 2 * math.pi * hour / 24
    return _MIDDLE + radius * math.sin(angle), _MIDDLE - radius * math.cos(angle)


def _wedge(hour: int, radius: float) -> str:
    """Return the path of an hour's wedge from the inner ring to the radius, with a thin gap to its
    neighbours.
    """
    start, end = hour + 0.04, hour + 0.96
    (a, b), (c, d) = _point(start, _INNER), _point(start, radius)
    (e, f), (g, h) = _point(end, radius), _point(end, _INNER)
    return (
        f"M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}A{radius:.1f} {radius:.1f} 0 0 1 {e:.1f} {f:.1f}"
        f"L{g:.1f} {h:.1f}A{_INNER:.1f} {_INNER:.1f} 0 0 0 {a:.1f} {b:.1f}Z"
    )


def _hour(hour: int) -> str:
    return f"{hour:02}:00"


def _short(value: float) -> str:
    """Format with two decimals below 1, one below 10, and none from 10 on."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _last(feed: Feed, *columns: str, **conditions: bool) -> list[tuple[Any, ...]]:
    """Return rows (at, *columns) of the last POINTS successful visits, oldest first."""
    visits = Retrieval.objects.filter(feed=feed, **conditions).exclude(outcome=Retrieval.Outcome.FAILED)
    return list(visits.order_by("-at", "-id").values_list("at", *columns)[:POINTS])[::-1]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
