"""Sentences about what became of a watched page's value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from crawler.web.templatetags.freshet import amount
from recrawl.comparing.values import NUMBER, PRICE, Value, money_text

NOON, EVENING = 12, 18
"""Hours at which the afternoon and the evening begin."""


@dataclass(frozen=True, slots=True)
class ValuePoint:
    """A version of a page: its number from 1 on, from when it was seen, and its value."""

    number: int
    at: datetime
    value: Value


def value_sentence(points: Sequence[ValuePoint], now: datetime) -> SafeString:
    """Return what became of a value, "down 10 € this morning, the lowest since you began. In stock.".

    `points` go from the oldest version to the present one. Returns an empty text without points.
    """
    if not points:
        return mark_safe("")
    value = points[-1].value
    words = _number_words(points, now) if value.number is not None else None
    words = words or _change_words(points, now)
    stock = _stock_words(value)
    return format_html("{} {}", words, stock) if stock else words


def when_words(at: datetime, now: datetime) -> str:
    """Return when something was, as it ends a sentence: "this morning", "yesterday", "on 9 August"."""
    local, today = timezone.localtime(at), timezone.localdate(now)
    days = (today - local.date()).days
    if days == 0 and local.hour < NOON:
        return _("this morning")
    if days == 0:
        return _("this afternoon") if local.hour < EVENING else _("this evening")
    if days == 1:
        return _("yesterday")
    return _("on %(date)s") % {"date": _date(local, today.year)}


def day_words(at: datetime, now: datetime) -> str:
    """Return a day as it follows "since": "today", "yesterday", "9 August"."""
    local, today = timezone.localtime(at), timezone.localdate(now)
    days = (today - local.date()).days
    if days in {0, 1}:
        return _("yesterday") if days else _("today")
    return _date(local, today.year)


def short_date(at: datetime, now: datetime) -> str:
    """Return a moment in few signs: "Today 7:10", "11 Nov", "11 Nov 2025"."""
    local, today = timezone.localtime(at), timezone.localdate(now)
    if local.date() == today:
        return _("Today %(time)s") % {"time": f"{local.hour}:{local:%M}"}
    if local.year == today.year:
        return date_format(local, pgettext("short date format", "j M"))
    return date_format(local, pgettext("short date format", "j M Y"))


def clock(at: datetime, now: datetime) -> str:
    """Return a moment near now: "13:52" today, "11 Nov, 13:52" on another day."""
    local, today = timezone.localtime(at), timezone.localdate(now)
    time = f"{local.hour}:{local:%M}"
    if local.date() == today:
        return time
    if local.date() == today + timedelta(days=1):
        return _("tomorrow, %(time)s") % {"time": time}
    return _("%(date)s, %(time)s") % {"date": short_date(at, now), "time": time}


def number_text(value: Value, number: float) -> str:
    """Write a number as the value is written: with its currency, if it has one."""
    return money_text(value.money, number) if value.money else amount(number)


def difference_text(value: Value, before: Value | None) -> str:
    """Return by how much a value rose or fell, "−10 €"; an empty text if there is nothing to compare."""
    if before is None or value.number is None or before.number is None or not _same_unit(value, before):
        return ""
    step = value.number - before.number
    if not step:
        return ""
    return f"{'+' if step > 0 else '−'}{number_text(value, abs(step))}"


def _number_words(points: Sequence[ValuePoint], now: datetime) -> SafeString | None:
    """Return how the number changed last, None if it never did in one currency."""
    value = points[-1].value
    comparable = [p for p in points if p.value.number is not None and _same_unit(p.value, value)]
    numbers = [p.value.number or 0.0 for p in comparable]
    last = next((at for at in range(len(numbers) - 1, 0, -1) if numbers[at] != numbers[at - 1]), None)
    if last is None or comparable[-1] is not points[-1]:
        return None
    step = numbers[last] - numbers[last - 1]
    places = {"amount": number_text(value, abs(step)), "when": when_words(comparable[last].at, now)}
    is_lowest = numbers[-1] == min(numbers) and step < 0
    is_highest = numbers[-1] == max(numbers) and step > 0
    if is_lowest and numbers.count(numbers[-1]) == len(numbers) - last:
        return format_html(_("down <b>{amount}</b> {when}, the lowest since you began."), **places)
    if is_highest and numbers.count(numbers[-1]) == len(numbers) - last:
        return format_html(_("up <b>{amount}</b> {when}, the highest since you began."), **places)
    if step < 0:
        return format_html(_("down <b>{amount}</b> {when}."), **places)
    return format_html(_("up <b>{amount}</b> {when}."), **places)


def _change_words(points: Sequence[ValuePoint], now: datetime) -> SafeString:
    when = when_words(points[-1].at, now)
    if len(points) == 1 and points[0].number == 1:
        return conditional_escape(_("as when you began %(when)s.") % {"when": when})
    if points[-1].value.kind in {PRICE, NUMBER}:
        return conditional_escape(_("the page last changed %(when)s.") % {"when": when})
    return conditional_escape(_("last changed %(when)s.") % {"when": when})


def _stock_words(value: Value) -> str:
    if value.available is None or value.kind != PRICE:
        return ""
    return _("In stock.") if value.available else _("Sold out.")


def _same_unit(value: Value, other: Value) -> bool:
    return (value.money.currency if value.money else "") == (other.money.currency if other.money else "")


def _date(local: datetime, year: int) -> str:
    is_this_year = local.year == year
    return date_format(
        local, pgettext("date format", "j F") if is_this_year else pgettext("date format", "j F Y")
    )


def versions_words(total: int, shown_count: int) -> str:
    """Return how many versions there are, and where the newest stands."""
    if total > shown_count:
        words = _("the newest %(shown)s of %(total)s versions, the newest on the right")
        return words % {"shown": amount(shown_count), "total": amount(total)}
    message = ngettext("%(number)s version", "%(number)s versions, the newest on the right", total)
    return message % {"number": amount(total)}
