"""The week of a feed as a strip: seven days of four parts, drawn on the server, with its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, tzinfo

from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

PARTS = 4
"""Night, morning, afternoon and evening, of six hours each."""
STRENGTHS = 4
_SQUARE, _STEP, _DAY = 16, 18, 80


def counts_of_week(posted: Sequence[datetime], zone: tzinfo) -> list[int]:
    """Return the articles in each of the 28 parts of the week, Monday's night first."""
    counts = [0] * (7 * PARTS)
    for at in posted:
        counts[part_of_week(at.astimezone(zone))] += 1
    return counts


def part_of_week(local: datetime) -> int:
    """Return the place of a moment among the 28 parts of the week."""
    return local.weekday() * PARTS + local.hour * PARTS // 24


def part_words(part: int) -> str:
    """Return the name of a part of the week, such as "Thursday afternoon"."""
    words = (_("%(day)s night"), _("%(day)s morning"), _("%(day)s afternoon"), _("%(day)s evening"))
    return words[part % PARTS] % {"day": WEEKDAYS[part // PARTS]}


def week_strip(counts: Sequence[int], soon: int | None) -> SafeString:
    """Draw the 28 parts of a week in five strengths, with a ring around the part of the next check."""
    top = max(counts)
    values = {"most": part_words(counts.index(top)), "soon": part_words(soon or 0)}
    title = _("When it posts: most on %(most)s.") % values
    if soon is not None:
        next_check = _("The next check is on %(soon)s.") % values
        title = f"{title} {next_check}"
    squares = format_html_join(
        "",
        '<rect class="l{}" x="{}" y="0" width="16" height="16" rx="3"/>',
        ((math.ceil(STRENGTHS * count / top) if top else 0, _x(part)) for part, count in enumerate(counts)),
    )
    ring = ""
    if soon is not None:
        x = _x(soon) - 1
        ring = format_html('<rect class="soon" x="{}" y="-1" width="18" height="18" rx="4"/>', x)
    names = format_html_join(
        "", '<text x="{}" y="32">{}</text>', ((day * _DAY, name) for day, name in WEEKDAYS_ABBR.items())
    )
    return format_html(
        '<svg class="pic week" viewBox="-2 -2 556 38" role="img" aria-labelledby="week-title">'
        '<title id="week-title">{}</title>{}{}{}</svg>',
        title,
        squares,
        ring,
        names,
    )


def _x(part: int) -> int:
    return part // PARTS * _DAY + part % PARTS * _STEP
