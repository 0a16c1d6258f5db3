"""Charts of a site: its visits over time, and the days with changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from django.utils.dates import MONTHS_3, WEEKDAYS_ABBR
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from crawler.web.charts import SHARES, Axis, Line, line_plot
from recrawl.models import Visit

WEEKS = 53
_CELL, _LEFT, _TOP = 12, 30, 14
_NAMED_DAYS = (0, 2, 4)
"""Days of the week whose names stand beside the calendar."""


def visits_chart(visits: Sequence[Visit]) -> SafeString:
    """Plot update rate, estimated coverage, share fetched and estimated share out of date, by visit."""
    lines = [
        Line(_("update rate"), [(v.number, v.rate) for v in visits if v.rate is not None], 1),
        Line(_("coverage, estimated"), [(v.number, v.coverage) for v in visits if v.coverage is not None], 2),
        Line(_("share fetched"), [(v.number, v.fetched / v.pages) for v in visits if v.pages], 3),
        Line(
            _("share out of date, estimated"), [(v.number, v.stale) for v in visits if v.stale is not None], 5
        ),
    ]
    label = _("Update rate, coverage, share fetched and share out of date, by visit")
    return line_plot(lines, Axis(_("visit")), Axis(_("share"), marks=SHARES), label)


def calendar(counts: Mapping[date, int], today: date) -> SafeString:
    """Draw the number of changes on each day of the last year, with a column for each week."""
    first = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    largest = max(counts.values(), default=0)
    days = [first + timedelta(days=at) for at in range((today - first).days + 1)]
    places = [(_LEFT + (at // 7) * _CELL, _TOP + (at % 7) * _CELL, day) for at, day in enumerate(days)]
    frames = "".join(f"M{x} {y}h10v10h-10z" for x, y, _day in places)
    cells = format_html_join(
        "",
        '<rect class="cell" x="{x}" y="{y}" width="10" height="10" rx="2" fill-opacity="{strength}">'
        "<title>{day}: {count}</title></rect>",
        (
            {
                "x": x,
                "y": y,
                "strength": f"{math.sqrt(counts[day] / largest):.2f}",
                "day": day.isoformat(),
                "count": counts[day],
            }
            for x, y, day in places
            if counts.get(day)
        ),
    )
    months = format_html_join(
        "",
        '<text x="{}" y="10">{}</text>',
        (
            (_LEFT + (at // 7) * _CELL, MONTHS_3[day.month])
            for at, day in enumerate(days)
            if at % 7 == 0 and day.day <= 7
        ),
    )
    names = format_html_join(
        "",
        '<text x="0" y="{}">{}</text>',
        ((_TOP + row * _CELL + 9, WEEKDAYS_ABBR[row]) for row in _NAMED_DAYS),
    )
    total = sum(count for day, count in counts.items() if day >= first)
    return format_html(
        '<svg class="heat" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<path class="cell-frame" d="{}"/>{}{}{}</svg>',
        _LEFT + WEEKS * _CELL,
        _TOP + 7 * _CELL,
        _("%(total)d changes found in the last year, at most %(most)d on a day")
        % {"total": total, "most": largest},
        frames,
        months,
        names,
        cells,
    )
