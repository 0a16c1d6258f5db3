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
from django.conf.locale import LANG_INFO
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from crawler.http.failures import Failure
from crawler.web.undo import offered

register = template.Library()

SPELLINGS = {"dns": "DNS", "tls": "TLS", "robots": "robots.txt"}
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
_UNITS = (
    (90, 1.0, "s"),
    (90 * MINUTE, MINUTE, "min"),
    (48 * HOUR, HOUR, "h"),
    (60 * DAY, DAY, "days"),
    (730 * DAY, 30.44 * DAY, "months"),
    (math.inf, 365.25 * DAY, "years"),
)


@register.simple_tag
def ago(moment: datetime | None, never: str = "never") -> SafeString:
    """Write a moment relative to now ("4 min ago", "in 2 h") with the full date on hover."""
    if moment is None:
        return format_html('<span class="muted">{}</span>', never)
    away = (moment - datetime.now(UTC)).total_seconds()
    words = f"in {duration(away)}" if away > 0 else f"{duration(-away)} ago"
    if abs(away) < 5:
        words = "now"
    stamp, title = moment.astimezone(UTC).isoformat(), f"{timezone.localtime(moment):%a %Y-%m-%d %H:%M:%S %Z}"
    return format_html('<time datetime="{}" title="{}">{}</time>', stamp, title, words)


@register.simple_tag
def short_ago(moment: datetime) -> SafeString:
    """Write how long ago a moment was in few signs ("12 min", "3 h", "24 Nov"), the full date on hover."""
    away = max((datetime.now(UTC) - moment).total_seconds(), 0.0)
    local = timezone.localtime(moment)
    if away < MINUTE:
        words = "now"
    elif away < HOUR:
        words = f"{away / MINUTE:.0f} min"
    elif away < DAY:
        words = f"{away / HOUR:.0f} h"
    else:
        is_this_year = local.year == timezone.localtime().year
        words = f"{local.day} {local:%b}" if is_this_year else f"{local.day} {local:%b %Y}"
    stamp = moment.astimezone(UTC).isoformat()
    return format_html('<time datetime="{}" title="{}">{}</time>', stamp, _full(moment), words)


@register.simple_tag
def long_date(moment: datetime) -> SafeString:
    """Write a moment as people say it ("Today, 8:12"), the full date on hover."""
    local, today = timezone.localtime(moment), timezone.localdate()
    names = {0: "Today", 1: "Yesterday"}
    date = f"{local.day} {local:%B}" if local.year == today.year else f"{local.day} {local:%B %Y}"
    return format_html(
        '<time datetime="{}" title="{}">{}, {}:{}</time>',
        moment.astimezone(UTC).isoformat(),
        _full(moment),
        names.get((today - local.date()).days, date),
        local.hour,
        f"{local:%M}",
    )


def _full(moment: datetime) -> str:
    """Write a moment in the reader's zone: "Thursday 26 November 2026, 08:12 CET"."""
    local = timezone.localtime(moment)
    return f"{local:%A} {local.day} {local:%B %Y, %H:%M %Z}"


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
    return " on ".join(filter(None, (browser or agent[:40] or "A browser", system)))


LOOKS = {
    "theme": {"light", "dark"},
    "size": {"small", "large", "huge"},
    "face": {"sans"},
    "side": {"closed"},
    "look": {"dense"},
    "scroll": {"on"},
}
"""Settings of how pages look: cookies that app.js writes and the server puts on the html element."""


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
    return mark_safe(' aria-current="page"') if context["request"].path.startswith(paths) else ""


@register.filter
def language_name(code: str) -> str:
    """Write a language in English ("French"), or its code where it is not known."""
    for key in (code.lower(), code.lower().partition("-")[0]):
        if key in LANG_INFO and "name" in LANG_INFO[key]:
            return str(LANG_INFO[key]["name"])
    return code


@register.filter
def duration(seconds: float | None) -> str:
    """Write seconds in the unit people would choose: "0.42 s", "14 min", "3 h"."""
    if seconds is None:
        return "–"
    if 0 < seconds < 10:
        return f"{seconds:.2g} s"
    _, unit, name = next(row for row in _UNITS if seconds < row[0])
    return f"{seconds / unit:.0f} {name}"


@register.filter
def amount(number: float | None) -> str:
    """Write a number with separated thousands, and with fractions only where they matter."""
    if number is None:
        return "–"
    if float(number).is_integer() or abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 1 else f"{number:.2f}"


@register.filter
def percent(part: float | None, whole: float | None = 1.0) -> str:
    """Write a share in per cent, a dash where there is no whole."""
    if part is None or not whole:
        return "–"
    share = 100 * part / whole
    return f"{share:.1f} %" if 0 < share < 10 else f"{share:.0f} %"


@register.filter
def size(number: float | None) -> str:
    """Write bytes in decimal units, as disks and networks are sold."""
    value = float(number or 0)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


@register.filter
def host(url: str) -> str:
    """Return the host of an address, the address itself where it has none."""
    try:
        name = urlsplit(url).hostname
    except ValueError:
        name = None
    return (name or url).removeprefix("www.")


@register.filter
def web_address(url: str) -> str:
    """Return the address where it is safe to link to (http or https), else an empty text."""
    return url if url.lower().startswith(("http://", "https://")) else ""


@register.filter
def failure_name(label: str) -> str:
    """Return a failure's short name: "404 Not Found" for plain HTTP answers, else the taxonomy's own."""
    code = label.removeprefix("http-")
    if code == label or not code.isdecimal():
        return SPELLINGS.get(label, label.replace("-", " "))
    try:
        return f"{code} {HTTPStatus(int(code)).phrase}"
    except ValueError:
        return f"HTTP {code}"


@register.filter
def failure_words(label: str) -> str:
    """Return a sentence for a failure."""
    try:
        return Failure.of(label).explanation
    except ValueError:
        return "The retrieval failed."


@register.filter
def found_words(snippet: str) -> SafeString:
    """Mark the matches in a search snippet, which stand between U+E000 and U+E001 (articles.search)."""
    marked = escape(snippet).replace("\ue000", "<mark>").replace("\ue001", "</mark>")
    return mark_safe(marked)  # noqa: S308 - escaped above


@register.filter
def item(mapping: Mapping[Any, Any], key: Any) -> Any:
    """Return the value of a key that is itself a variable, None where it is missing."""
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
