"""The course of a watched number as a stepped line, drawn on the server."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from crawler.web.templatetags.freshet import amount
from recrawl.changes.value_sentences import ValuePoint, short_date

MAX_DATES = 6
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 190, 64, 940, 20, 148
_DATE_WIDTH = 120
"""Horizontal room that a date needs, in units of the drawing."""


def series(points: Sequence[ValuePoint], now: datetime) -> SafeString | None:
    """Draw the numbers of versions as steps, the oldest on the left. Returns None for fewer than two."""
    numbered = [(point.at, point.value.number) for point in points if point.value.number is not None]
    if len(numbered) < 2:
        return None
    low, high = bounds([number for _at, number in numbered])
    first, seconds = numbered[0][0], max((now - numbered[0][0]).total_seconds(), 1.0)
    places = [
        (
            round(LEFT + (at - first).total_seconds() / seconds * (RIGHT - LEFT)),
            round(BOTTOM - (number - low) / (high - low) * (BOTTOM - TOP)),
        )
        for at, number in numbered
    ]
    steps = "".join(f"H{x}V{y}" for x, y in places[1:])
    line = f"M{places[0][0]} {places[0][1]}{steps}H{RIGHT}"
    last = len(places) - 1
    dots = format_html_join(
        "",
        '<circle class="{}" cx="{}" cy="{}" r="{}"/>',
        (
            ("pt on" if at == last else "pt", x, y, 6 if at == last else 4.5)
            for at, (x, y) in enumerate(places)
        ),
    )
    dates = format_html_join(
        "",
        '<text x="{}" y="160">{}</text>',
        ((places[at][0], short_date(numbered[at][0], now)) for at in dated([x for x, _y in places])),
    )
    label = _("From %(first)s to %(last)s, in %(number)s steps") % {
        "first": amount(numbered[0][1]),
        "last": amount(numbered[-1][1]),
        "number": amount(len(numbered) - 1),
    }
    return format_html(
        '<svg class="pic wide series" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<line class="g" x1="{}" x2="{}" y1="{}" y2="{}"/><line class="g" x1="{}" x2="{}" y1="{}" y2="{}"/>'
        '<path class="ln" d="{}"/>{}{}<text x="0" y="{}">{}</text><text x="0" y="{}">{}</text></svg>',
        WIDTH, HEIGHT, label, LEFT, RIGHT, BOTTOM, BOTTOM, LEFT, RIGHT, TOP, TOP, line, dots, dates,
        BOTTOM - 7, amount(low), TOP - 7, amount(high),
    )  # fmt: skip


def bounds(numbers: Sequence[float]) -> tuple[float, float]:
    """Return round numbers below and above all others."""
    low, high = min(numbers), max(numbers)
    spread = high - low or abs(high) or 1.0
    unit: float = 10.0 ** math.floor(math.log10(spread))
    if spread / unit < 2:
        unit /= 2
    bottom, top = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    return (bottom, top) if top > bottom else (bottom - unit, top + unit)


def dated(places: Sequence[int]) -> list[int]:
    """Return the indexes of the steps that get a date, at most MAX_DATES with room between them."""
    chosen: list[int] = []
    for at, x in enumerate(places):
        if (
            len(chosen) < MAX_DATES
            and x <= RIGHT - _DATE_WIDTH / 2
            and (not chosen or x - places[chosen[-1]] >= _DATE_WIDTH)
        ):
            chosen.append(at)
    return chosen
