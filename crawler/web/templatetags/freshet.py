"""Template tags and filters that format times, durations, amounts and failures on all pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django import template
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.formats import number_format
from django.utils.html import escape, format_html, format_html_join, json_script
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import (
    get_language,
    get_language_info,
    gettext_lazy,
    ngettext_lazy,
    pgettext,
)
from django.utils.translation import gettext as _

from crawler.failures import Failure
from crawler.text.bylines import plain_byline
from crawler.web.script_words import translations
from crawler.web.sentences import translated
from crawler.web.settings_tabs import Tab, groups_for
from crawler.web.undo import offered

register = template.Library()
register.filter("translated", translated)
register.filter("byline", plain_byline)

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
LENGTH, AHEAD, AGO = range(3)
_UNITS: tuple[tuple[float, float, Any, Any, Any], ...] = (
    # up to, unit, a length, a time ahead, a time ago: languages decline the noun differently in the three
    (90, 1.0, gettext_lazy("%(count)s s"), gettext_lazy("in %(count)s s"), gettext_lazy("%(count)s s ago")),
    (
        90 * MINUTE,
        MINUTE,
        gettext_lazy("%(count)s min"),
        gettext_lazy("in %(count)s min"),
        gettext_lazy("%(count)s min ago"),
    ),
    (
        48 * HOUR,
        HOUR,
        gettext_lazy("%(count)s h"),
        gettext_lazy("in %(count)s h"),
        gettext_lazy("%(count)s h ago"),
    ),
    (
        60 * DAY,
        DAY,
        ngettext_lazy("%(count)s day", "%(count)s days", "number"),
        ngettext_lazy("in %(count)s day", "in %(count)s days", "number"),
        ngettext_lazy("%(count)s day ago", "%(count)s days ago", "number"),
    ),
    (
        730 * DAY,
        30.44 * DAY,
        ngettext_lazy("%(count)s month", "%(count)s months", "number"),
        ngettext_lazy("in %(count)s month", "in %(count)s months", "number"),
        ngettext_lazy("%(count)s month ago", "%(count)s months ago", "number"),
    ),
    (
        math.inf,
        365.25 * DAY,
        ngettext_lazy("%(count)s year", "%(count)s years", "number"),
        ngettext_lazy("in %(count)s year", "in %(count)s years", "number"),
        ngettext_lazy("%(count)s year ago", "%(count)s years ago", "number"),
    ),
)


@register.simple_tag
def ago(moment: datetime | None, never: str = "") -> SafeString:
    """Write a moment relative to now ("4 min ago", "in 2 h") with the full date on hover."""
    if moment is None:
        return format_html('<span class="muted">{}</span>', never or _("never"))
    away = (moment - datetime.now(UTC)).total_seconds()
    message = _("now") if abs(away) < 5 else _in_words(abs(away), AHEAD if away > 0 else AGO)
    stamp = moment.astimezone(UTC).isoformat()
    title = format_date(timezone.localtime(moment), "D Y-m-d H:i:s T")
    return format_html('<time datetime="{}" title="{}">{}</time>', stamp, title, message)


@register.simple_tag
def short_ago(moment: datetime) -> SafeString:
    """Write how long ago a moment was in few signs ("12 min", "3 h", "24 Nov"), the full date on hover."""
    away = max((datetime.now(UTC) - moment).total_seconds(), 0.0)
    local = timezone.localtime(moment)
    if away < MINUTE:
        message = _("now")
    elif away < HOUR:
        message = _("%(count)s min") % {"count": round(away / MINUTE)}
    elif away < DAY:
        message = _("%(count)s h") % {"count": round(away / HOUR)}
    elif local.year == timezone.localtime().year:
        message = format_date(local, pgettext("short date format", "j M"))
    else:
        message = format_date(local, pgettext("short date format", "j M Y"))
    stamp = moment.astimezone(UTC).isoformat()
    return format_html('<time datetime="{}" title="{}">{}</time>', stamp, _full(local), message)


@register.simple_tag
def long_date(moment: datetime) -> SafeString:
    """Write a moment as people say it ("Today, 8:12"), the full date on hover."""
    local, today = timezone.localtime(moment), timezone.localdate()
    days = (today - local.date()).days
    if days in (0, 1):
        date = _("Yesterday") if days else _("Today")
    elif local.year == today.year:
        date = format_date(local, pgettext("date format", "j F"))
    else:
        date = format_date(local, pgettext("date format", "j F Y"))
    message = _("%(date)s, %(time)s") % {"date": date, "time": f"{local.hour}:{local:%M}"}
    stamp = moment.astimezone(UTC).isoformat()
    return format_html('<time datetime="{}" title="{}">{}</time>', stamp, _full(local), message)


def _full(local: datetime) -> str:
    """Write a moment in the reader's zone: "Thursday 26 November 2026, 08:12 CET"."""
    return format_date(local, pgettext("full date format", "l j F Y, H:i T"))


@register.simple_tag
@lru_cache(maxsize=500)
def icon(name: str, css: str = "") -> SafeString:
    """Draw an icon of the sprite (`_sprite.html`), which says nothing to screen readers."""
    return format_html(
        '<svg class="i{}{}" aria-hidden="true"><use href="#i-{}"/></svg>', " " if css else "", css, name
    )


_BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
    ("Mac OS X", "Mac"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


@register.filter
def device(agent: str) -> str:
    """Return the browser and system that a User-Agent header names: "Firefox on Linux"."""
    browser = next((name for sign, name in _BROWSERS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    browser = browser or agent[:40] or _("A browser")
    return _("%(browser)s on %(system)s") % {"browser": browser, "system": system} if system else browser


@register.simple_tag
def script_words() -> SafeString:
    """Write the sentences of scripts in the page's language, nothing in English, which scripts know."""
    if get_language() in (None, settings.LANGUAGE_CODE):
        return mark_safe("")
    return json_script(translations(), "words")


LOOKS = {
    "theme": {"light", "dark"},
    "size": {"small", "large", "huge"},
    "face": {"sans"},
    "side": {"closed"},
    "look": {"dense"},
    "scroll": {"on"},
    "keys": {"off"},
    "zones": {"on"},
    "start": {"interest", "changes"},
}
"""Settings of how pages look: cookies that app.js writes and the server puts on the html element."""


@register.simple_tag(takes_context=True)
def settings_groups(context: Mapping[str, Any]) -> list[tuple[str, list[Tab]]]:
    """Return the groups of tabs on a page of Settings, which has a `tab`; none elsewhere."""
    return groups_for(context["user"]) if "tab" in context else []


@register.simple_tag(takes_context=True)
def looks(context: Mapping[str, Any]) -> SafeString:
    """Write the attributes of the html element that say how pages look, so that the first paint is right."""
    cookies = context["request"].COOKIES
    chosen = [(name, cookies.get(f"freshet-{name}", "")) for name in LOOKS]
    return format_html_join("", ' data-{}="{}"', [pair for pair in chosen if pair[1] in LOOKS[pair[0]]])


@register.simple_tag(takes_context=True)
def undo_offer(context: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what the person has just done and can undo (`crawler.web.undo`)."""
    request = context.get("request")
    return offered(request) if request is not None else None


@register.simple_tag(takes_context=True)
def here_in(context: Mapping[str, Any], *paths: str) -> SafeString | str:
    """Mark the link to the place that the shown page belongs to."""
    return mark_safe(' aria-current="page"') if context["request"].path_info.startswith(paths) else ""


@register.filter
def own_language_name(code: str) -> str:
    """Write a language in itself ("français"), or its code if it is not known."""
    return str(get_language_info(code)["name_local"]) if code in LANG_INFO else code


@register.filter
def language_name(code: str) -> str:
    """Write a language in the reader's ("French"), or its code if it is not known."""
    for key in (code.lower(), code.lower().partition("-")[0]):
        if key in LANG_INFO and "name" in LANG_INFO[key]:
            return str(get_language_info(key)["name_translated"])
    return code


@register.filter
def duration(seconds: float | None) -> str:
    """Write seconds in the unit people would choose: "0.42 s", "14 min", "3 h"."""
    if seconds is None:
        return "–"
    return _in_words(seconds, LENGTH)


def _in_words(seconds: float, form: int) -> str:
    unit, *forms = next(row[1:] for row in _UNITS if seconds < row[0])
    if 0 < seconds < 10:
        return str(forms[form] % {"count": _decimal(f"{seconds:.2g}")})
    number = round(seconds / unit)
    return str(forms[form] % {"count": number, "number": number})


def _decimal(number: str) -> str:
    """Write a number with the decimal sign of the reader's language."""
    return number_format(number)


@register.filter
def amount(number: float | None) -> str:
    """Write a number with separated thousands, and with fractions only where they matter."""
    if number is None:
        return "–"
    if float(number).is_integer() or abs(number) >= 100:
        return number_format(f"{number:.0f}", force_grouping=True)
    return _decimal(f"{number:.1f}" if abs(number) >= 1 else f"{number:.2f}")


@register.filter
def percent(part: float | None, whole: float | None = 1.0) -> str:
    """Write a share in per cent, a dash if there is no whole."""
    if part is None or not whole:
        return "–"
    share = 100 * part / whole
    return f"{_decimal(f'{share:.1f}')} %" if 0 < share < 10 else f"{share:.0f} %"


@register.filter
def size(number: float | None) -> str:
    """Write bytes in decimal units, as disks and networks are sold."""
    value = float(number or 0)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return (
                f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{_decimal(f'{value:.1f}')} {unit}"
            )
        value /= 1000
    return f"{_decimal(f'{value:.1f}')} TB"


@register.filter
def host(url: str) -> str:
    """Return the host of an address, the address itself if it has none."""
    try:
        name = urlsplit(url).hostname
    except ValueError:
        name = None
    return (name or url).removeprefix("www.")


@register.filter
def web_address(url: str) -> str:
    """Return the address if it is safe to link to (http or https), else an empty text."""
    return url if url.lower().startswith(("http://", "https://")) else ""


@register.filter
def note_kind(level: str) -> str:
    """Return the class of a note for a message's level: `bad`, `warn`, `good`, or none for information."""
    return {"error": "bad", "warning": "warn", "success": "good"}.get(level, "")


@register.filter
def failure_name(label: str) -> str:
    """Return a failure's short name: "404 Not Found" for plain HTTP answers, else the taxonomy's own."""
    code = label.removeprefix("http-")
    if code == label or not code.isdecimal():
        return _(Failure(label).short) if label in set(Failure) else label.replace("-", " ")
    try:
        return f"{code} {HTTPStatus(int(code)).phrase}"
    except ValueError:
        return f"HTTP {code}"


@register.filter
def failure_words(label: str) -> str:
    """Return a sentence for a failure."""
    try:
        return _(Failure.of(label).explanation)
    except ValueError:
        return _("The retrieval failed.")


@register.filter
def found_words(snippet: str) -> SafeString:
    """Mark the matches in a search snippet, which stand between U+E000 and U+E001 (articles.search)."""
    marked = escape(snippet).replace("\ue000", "<mark>").replace("\ue001", "</mark>")
    return mark_safe(marked)  # noqa: S308 - escaped above


@register.filter
def item(mapping: Mapping[Any, Any], key: Any) -> Any:
    """Return the value of a key that is itself a variable, None if it is missing."""
    return mapping.get(key)


@register.simple_tag(takes_context=True)
def here(context: Mapping[str, Any], url: str) -> SafeString | str:
    """Mark the link to the page that is shown ("page"), or to the part it belongs to ("true")."""
    path: str = context["request"].path
    if not path.startswith(url):
        return ""
    return format_html(' aria-current="{}"', "page" if path == url else "true")


@register.inclusion_tag("crawler/_column.html", takes_context=True)
def column(context: Mapping[str, Any], label: str, key: str, css: str = "") -> dict[str, Any]:
    """Return a table's column heading that sorts by `key`, in reverse when clicked again.

    A key with a minus sorts descending first. The request's other parameters stay.
    """
    request: HttpRequest = context["request"]
    name, current = key.lstrip("-"), context.get("sort", "")
    active = current.lstrip("-") == name
    chosen = (name if current.startswith("-") else f"-{name}") if active else key
    query = request.GET.copy()
    query.pop("page", None)
    query["sort"] = chosen
    direction = ("descending" if current.startswith("-") else "ascending") if active else ""
    return {"label": label, "url": f"{request.path}?{query.urlencode()}", "direction": direction, "css": css}
