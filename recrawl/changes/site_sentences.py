"""Sentences about a watched site: how often Freshet looks at it and why, when next, what changed lately."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from crawler.web.templatetags.freshet import amount, percent
from recrawl.evaluation.own_report import Sum
from recrawl.models import Site, Visit, estimated_coverage

HOUR, NOON, EVENING, NIGHT = 1 / 24, 12, 18, 22
MORNING = 8
"""The hour at which the night ends, for pages that change overnight."""
MIN_STAMPS, NIGHT_SHARE = 5, 0.7
"""Dated changes that are needed to tell of a rhythm, and the share of them that makes it one."""
SOON = timedelta(minutes=1)


def site_sentence(site: Site, pages: int, now: datetime, *, is_nightly: bool = False) -> str:
    """Return how often Freshet looks at a site and why, or what it does instead.

    `pages` is the number of pages known so far; `is_nightly` says that its pages change overnight.
    """
    if site.state != Site.State.WATCHED:
        return _idle_words(site, pages)
    often = often_words(site.every, site.next_visit)
    if site.is_list:
        return _("Freshet looks at these pages %(often)s.") % {"often": often}
    if is_nightly and site.every >= 1:
        message = _("Freshet looks at this site %(often)s, because its pages change overnight.")
        return message % {"often": often}
    return _("Freshet looks at this site %(often)s.") % {"often": often}


def _idle_words(site: Site, pages: int) -> str:
    if site.state == Site.State.MAPPING:
        return _first_reading(site, pages)
    if site.state == Site.State.PAUSED:
        if site.is_list:
            return _("Freshet does not look at these pages: they are paused.")
        return _("Freshet does not look at this site: it is paused.")
    if site.is_list:
        return _("Freshet could not read these pages.")
    return _("Freshet could not read this site.")


def _first_reading(site: Site, pages: int) -> str:
    if not pages:
        if site.is_list:
            return _("Freshet is reading these pages for the first time.")
        return _("Freshet is reading the site for the first time.")
    message = (
        ngettext(
            "Freshet is reading these pages for the first time: %(number)s page so far.",
            "Freshet is reading these pages for the first time: %(number)s pages so far.",
            pages,
        )
        if site.is_list
        else ngettext(
            "Freshet is reading the site for the first time: %(number)s page so far.",
            "Freshet is reading the site for the first time: %(number)s pages so far.",
            pages,
        )
    )
    return message % {"number": amount(pages)}


def often_words(every: float, at: datetime | None = None) -> str:
    """Return how often something is done each `every` days, of a daily look also at which time of day."""
    hours = round(every / HOUR)
    if hours <= 1:
        return pgettext("how often", "every hour")
    if hours == 24:
        return _day_words(at)
    if hours == 168:
        return pgettext("how often", "every week")
    if hours < 48:
        message = ngettext("every %(number)s hour", "every %(number)s hours", hours)
        return message % {"number": amount(hours)}
    days = round(every, 1)
    message = ngettext("every %(number)s day", "every %(number)s days", round(days))
    return message % {"number": amount(days)}


def _day_words(at: datetime | None) -> str:
    hour = timezone.localtime(at).hour if at else None
    if hour is None or hour < 4 or hour >= NIGHT:
        return pgettext("how often", "every day")
    if hour < NOON:
        return pgettext("how often", "every morning")
    return (
        pgettext("how often", "every afternoon") if hour < EVENING else pgettext("how often", "every evening")
    )


def week_sentence(pages: int, *, is_first_week: bool) -> str:
    """Return how many pages changed in the last week. Returns "" where that is not known yet."""
    if not pages:
        return "" if is_first_week else _("Nothing changed in the last week.")
    message = ngettext(
        "%(number)s page changed in the last week.", "%(number)s pages changed in the last week.", pages
    )
    return message % {"number": amount(pages)}


def sites_sentence(watches: int, pages: int) -> str:
    """Return how much is watched, and how many of its pages changed in the last week."""
    message = ngettext(
        "Freshet looks at %(number)s site or list of pages.",
        "Freshet looks at %(number)s sites and lists of pages.",
        watches,
    )
    return f"{message % {'number': amount(watches)}} {week_sentence(pages, is_first_week=False)}"


def report_sentence(sums: Iterable[Sum]) -> str:
    """Return how many of the estimated changes were found, and with how few pages. Returns "" without any."""
    rows = list(sums)
    fetched, pages = sum(row.fetched for row in rows), sum(row.pages for row in rows)
    change_count = sum(row.changed for row in rows)
    coverage = estimated_coverage(change_count, sum(row.missed for row in rows))
    if coverage is None or not pages:
        return ""
    message = _("Freshet finds about %(found)s of the changes, and asks for %(fetched)s of the pages.")
    return message % {"found": percent(coverage), "fetched": percent(fetched / pages)}


def first_words(site: Site, now: datetime) -> str:
    """Return a sentence on the next look at any site, which names the site. Returns "" if none is planned."""
    if site.next_visit is None:
        return ""
    places = {"site": str(site)}
    if site.next_visit <= now + SOON:
        return _("Freshet looks again in a moment, at %(site)s first.") % places
    places["when"] = at_about(site.next_visit, now)
    return _("Freshet looks again %(when)s, at %(site)s first.") % places


def look_words(site: Site, now: datetime, visit: Visit | None = None) -> str:
    """Return a sentence on the next look at a site, or on the one that goes on. Returns "" without one."""
    if visit is not None and visit.finished is None:
        if not visit.fetched:
            return _("Freshet is looking at it now.")
        message = ngettext(
            "Freshet is looking at it now: %(number)s page so far, of %(most)s at most.",
            "Freshet is looking at it now: %(number)s pages so far, of %(most)s at most.",
            visit.fetched,
        )
        return message % {"number": amount(visit.fetched), "most": amount(visit.budget)}
    if not site.is_visited_again or site.next_visit is None:
        return ""
    if site.next_visit <= now + SOON:
        return _("Freshet looks again in a moment.")
    return _("Freshet looks again %(when)s.") % {"when": at_about(site.next_visit, now)}


def check_words(site: Site, now: datetime) -> str:
    """Return a sentence on the next check of a watched page and why it is then. Returns "" without one."""
    if not site.is_visited_again or site.next_visit is None:
        return ""
    if site.next_visit <= now + SOON:
        return _("The next check begins in a moment.")
    places = {"when": at_about(site.next_visit, now), "often": often_words(site.every)}
    if site.state == Site.State.FAILED:
        return _("Next check %(when)s, because the last one failed.") % places
    return _("Next check %(when)s, because you have it looked at %(often)s.") % places


def at_about(at: datetime, now: datetime) -> str:
    """Return a moment to come as it ends a sentence: "at about 7:10", "tomorrow at about 7:10"."""
    local, today = timezone.localtime(at), timezone.localdate(now)
    time = f"{local.hour}:{local:%M}"
    if local.date() == today:
        return _("at about %(time)s") % {"time": time}
    if local.date() == today + timedelta(days=1):
        return _("tomorrow at about %(time)s") % {"time": time}
    form = pgettext("date format", "j F") if local.year == today.year else pgettext("date format", "j F Y")
    return _("on %(day)s at about %(time)s") % {"day": date_format(local, form), "time": time}


def visit_words(visit: Visit) -> str:
    """Return what a visit found: "3 of 40 pages changed, 1 new page, 2 could not be read."."""
    if not visit.fetched and not visit.found:
        return _("No page was read.") if visit.finished else _("It has just begun.")
    if visit.changed:
        message = ngettext(
            "%(changed)s of %(number)s page had changed",
            "%(changed)s of %(number)s pages had changed",
            visit.fetched,
        )
    else:
        message = ngettext(
            "%(number)s page, and nothing new in it",
            "%(number)s pages, and nothing new in them",
            visit.fetched,
        )
    parts = [message % {"changed": amount(visit.changed), "number": amount(visit.fetched)}]
    for number, words in (
        (visit.found, ngettext("%(number)s new page", "%(number)s new pages", visit.found)),
        (visit.vanished, ngettext("%(number)s page gone", "%(number)s pages gone", visit.vanished)),
        (
            visit.failed,
            ngettext("%(number)s could not be read", "%(number)s could not be read", visit.failed),
        ),
    ):
        if number:
            parts.append(words % {"number": amount(number)})
    return ", ".join(parts)


def is_nightly(stamps: Iterable[tuple[str, datetime | None]]) -> bool:
    """Return whether pages mostly change overnight, by what their server last said of each.

    `stamps` are values of Last-Modified, each with the moment of its fetch: an answer made for the
    request has the time of the request, and tells nothing.
    """
    hours = []
    for stamp, fetched in stamps:
        try:
            changed = parsedate_to_datetime(stamp)
        except ValueError:
            continue
        if changed.tzinfo is None or fetched is None or abs(fetched - changed) < timedelta(hours=1):
            continue
        hours.append(timezone.localtime(changed).hour)
    night = sum(hour >= NIGHT or hour < MORNING for hour in hours)
    return len(hours) >= MIN_STAMPS and night >= NIGHT_SHARE * len(hours)
