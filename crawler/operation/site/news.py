"""News of Freshet's versions in sentences for readers, and the line that tells of them once after an upgrade.

CHANGELOG.md has all that changed; here is what a reader notices, at most six sentences a version.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.dateformat import format as format_date
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext, pgettext_lazy

from crawler.accounts.models import Account
from crawler.operation.site.models import VersionStart
from crawler.telemetry.version import version
from crawler.text.words import Words

TOLD_FOR = timedelta(days=14)
"""Time for which the line waits for a person who has not looked."""
YOUNG = timedelta(hours=1)
"""Age below which everybody here counts as come with the installation."""
KEPT_SECONDS = 60.0
WEEK = 7
_NUMBERS = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")

_read: dict[str, tuple[float, VersionStart | None]] = {}
"""When this process read since when a version runs, and what it read."""


@dataclass(frozen=True, slots=True)
class NewsLine:
    """One thing that is new: a sentence, and the name and words of the link that leads to it."""

    sentence: Words
    link: str
    link_words: Words
    needs_model: bool = False

    @property
    def address(self) -> str:
        """The address that the link leads to."""
        return reverse(self.link)


@dataclass(frozen=True, slots=True)
class VersionNews:
    """The news of one version; `gist` is its most important things, without a capital or a full stop."""

    version: str
    day: date
    gist: Words
    lines: tuple[NewsLine, ...]

    @property
    def day_words(self) -> str:
        """The day as people write it."""
        return format_date(self.day, pgettext("date format", "j F Y"))


@dataclass(frozen=True, slots=True)
class NewsOffer:
    """The line above a person's articles: what is new since when, and of which version."""

    version: str
    sentence: str


NEWS: tuple[VersionNews, ...] = (
    VersionNews(
        "1.0.0",
        date(2026, 12, 1),
        gettext_lazy("rules about articles, saved pages with highlights, newsletters"),
        (
            NewsLine(
                gettext_lazy("Rules mute, mark, label or save articles by themselves, as you say once."),
                "rules",
                gettext_lazy("Make a rule"),
            ),
            NewsLine(
                gettext_lazy(
                    "Any page of the web can be saved and read here, with highlights and notes in it, and"
                    " stays when the page goes."
                ),
                "saved",
                pgettext_lazy("list of pages", "Saved"),
            ),
            NewsLine(
                gettext_lazy(
                    "Newsletters come to an address of your own and stand among your articles instead of your"
                    " mail."
                ),
                "newsletters",
                gettext_lazy("Newsletters"),
            ),
            NewsLine(
                gettext_lazy(
                    "A part of any page can be watched, such as a price: you see what became of it, and are"
                    " told when it changes."
                ),
                "sites",
                gettext_lazy("Sites"),
            ),
            NewsLine(
                gettext_lazy(
                    "Questions in your own words are answered from what Freshet has kept, and each sentence"
                    " names its articles."
                ),
                "ask",
                gettext_lazy("Ask a question"),
                needs_model=True,
            ),
            NewsLine(
                gettext_lazy(
                    "An assistant may search, read and mark for you, as far as you allow, and you can"
                    " disconnect it at any time."
                ),
                "me-readers",
                gettext_lazy("Apps and keys"),
            ),
        ),
    ),
)
"""Newest first."""


def newest_news() -> VersionNews | None:
    """Return the news of the running version, or of the last one before it that has any."""
    running = _numbers(version())
    return next((news for news in NEWS if _numbers(news.version) <= running), None)


def note_version(now: datetime) -> None:
    """Write down that the running version's news begin to be news, unless that was written down before."""
    news = newest_news()
    if news is None or _start_of(news.version) is not None:
        return
    is_first = not User.objects.filter(date_joined__lt=now - YOUNG).exists()
    values = {"since": now, "is_first": is_first and not VersionStart.objects.exists()}
    VersionStart.objects.get_or_create(version=news.version, defaults=values)
    _read.pop(news.version, None)


def news_for(person: User, now: datetime, zone: tzinfo) -> NewsOffer | None:
    """Return the line about an upgrade that a person has not seen; one query while there is one to tell of.

    There is none for who came after the upgrade, nor where this version was the first.
    """
    news = None if settings.DEMO else newest_news()
    start = _start_of(news.version) if news else None
    if news is None or start is None or start.is_first:
        return None
    if person.date_joined >= start.since or now - start.since > TOLD_FOR:
        return None
    if Account.objects.filter(user=person.pk, news_seen=news.version).exists():
        return None
    return NewsOffer(news.version, _sentence(news.gist, start.since, now, zone))


def note_seen(person: User) -> None:
    """Remember that a person has seen the newest news or put their line away."""
    news = newest_news()
    if news is not None and not settings.DEMO:
        Account.objects.update_or_create(user=person, defaults={"news_seen": news.version})


def forget() -> None:
    """Forget what this process has read."""
    _read.clear()


def _start_of(number: str) -> VersionStart | None:
    at, start = _read.get(number, (float("-inf"), None))
    if start is None and time.monotonic() - at > KEPT_SECONDS:
        start = VersionStart.objects.filter(version=number).first()
        _read[number] = time.monotonic(), start
    return start


def _sentence(gist: Words, since: datetime, now: datetime, zone: tzinfo) -> str:
    """Return the line: since when Freshet is new, and what is."""
    local = since.astimezone(zone)
    days = (now.astimezone(zone).date() - local.date()).days
    values = {"gist": gist, "day": WEEKDAYS[local.weekday()]}
    sentences = (
        (days <= 0, _("Freshet is new since today: %(gist)s.")),
        (days == 1, _("Freshet is new since yesterday: %(gist)s.")),
        (days < WEEK, _("Freshet is new since %(day)s: %(gist)s.")),
        (True, _("Freshet has something new: %(gist)s.")),
    )
    return next(sentence for applies, sentence in sentences if applies) % values


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version, those of the release that a development version leads to."""
    match = _NUMBERS.match(text)
    return tuple(int(number or 0) for number in match.groups()) if match else (0, 0, 0)
