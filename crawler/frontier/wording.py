"""A crawl in words: its name, its cost, how far it is, and what it left out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crawler.failures import Failure
from crawler.fetching.http.domains import host_of, registrable_domain
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.frontier.budgets import max_requests
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.frontier.report import CrawlReport
from crawler.web.templatetags.freshet import amount, duration, failure_name, host

BELOW, SITE, BEYOND = "below", "site", "beyond"
"""How far a crawl goes: below its start addresses, on their sites, or to other sites, too."""
RECENT = timedelta(minutes=5)
MAX_RECENT = 8


def scope_of(far: str, seeds: Iterable[str]) -> list[str]:
    """Return the expressions that keep a crawl as near to its start addresses as `far` says."""
    if far == BEYOND:
        return []
    seeds = [_canonical(seed) for seed in seeds]
    if far == BELOW:
        bare = [re.sub(r"^https?://(www\.)?", "", seed.partition("?")[0].partition("#")[0]) for seed in seeds]
        roots = [part if "/" in part else f"{part}/" for part in bare]
        folders = dict.fromkeys(root[: root.rindex("/") + 1] for root in roots)
        return [rf"^https?://(www\.)?{re.escape(folder)}" for folder in folders]
    domains = dict.fromkeys(registrable_domain(host_of(seed)) for seed in seeds)
    return [rf"^https?://([^/@]+\.)?\[?{re.escape(domain)}\]?(:\d+)?/" for domain in domains if domain]


def _canonical(seed: str) -> str:
    """Return a start address as crawls write it, without a login; one that is none as it is."""
    try:
        return canonical_url(re.sub(r"//[^/@]*@", "//", seed))
    except BadUrl:
        return seed


def cost(pages: int) -> str:
    """Return what a crawl of so many pages of one site takes: time, and requests at most."""
    spacing = settings.FETCH_HOST_SPACING_SECONDS
    text = ngettext(
        "%(pages)s page of one site takes about %(time)s, and at most %(requests)s requests.",
        "%(pages)s pages of one site take about %(time)s, and at most %(requests)s requests.",
        pages,
    )
    time = duration(max(1.0, pages * max(spacing, 0.5)))
    return text % {"pages": amount(pages), "time": time, "requests": amount(max_requests(pages) or 0)}


def names_of(crawls: Sequence[Crawl]) -> dict[int, str]:
    """Return a name for each crawl: the title of its start page once it is read, else the host."""
    titled = CrawlUrl.objects.filter(crawl__in=crawls, link=CrawlUrl.Link.SEED).exclude(title="")
    titles = dict(titled.order_by("crawl_id", "id").distinct("crawl_id").values_list("crawl_id", "title"))
    return {
        crawl.pk: " ".join(titles.get(crawl.pk, "").split())[:120] or host(crawl.seeds[0]) for crawl in crawls
    }


@dataclass(frozen=True, slots=True)
class HowFar:
    """How far a crawl is: pages done, the pages expected in all, and what is known of pace and end."""

    done: int
    total: int
    is_growing: bool
    is_running: bool
    per_minute: float = 0.0
    end: datetime | None = None

    @property
    def words(self) -> str:
        """How far it is, such as "120 of about 324 pages"."""
        values = {"done": amount(self.done), "total": amount(self.total)}
        if not self.is_running and (not self.total or self.done >= self.total):
            return ngettext("%(done)s page", "%(done)s pages", self.done) % values
        if self.is_growing:
            return (
                ngettext("%(done)s of about %(total)s page", "%(done)s of about %(total)s pages", self.total)
                % values
            )
        return ngettext("%(done)s of %(total)s page", "%(done)s of %(total)s pages", self.total) % values

    @property
    def pace(self) -> str:
        """The pages a minute in a sentence, empty while it is unknown."""
        number = round(self.per_minute)
        if not self.is_running or number < 1:
            return ""
        return ngettext("%(n)s page a minute.", "%(n)s pages a minute.", number) % {"n": amount(number)}

    @property
    def ending(self) -> str:
        """When it is done, empty while that is unknown."""
        if self.end is None:
            return ""
        local = timezone.localtime(self.end)
        away = (local.date() - timezone.localdate()).days
        if away > 1:
            return ngettext("Done in about %(n)s day.", "Done in about %(n)s days.", away) % {"n": away}
        return _("Done at about %(time)s.") % {"time": f"{local.hour}:{local.minute // 5 * 5:02}"}

    @property
    def growth(self) -> str:
        """Why the number is not sure, empty where it is."""
        if not (self.is_growing and self.is_running):
            return ""
        return _("“About”, because new pages are still being found.")


def how_far(crawl: Crawl, report: CrawlReport, now: datetime) -> HowFar:
    """Return how far a crawl is, in one query. What waits counts as pages, up to the limit of pages."""
    known_count = report.crawled + report.queue + report.out
    limit = crawl.max_pages
    total = known_count if limit is None else min(known_count, limit)
    is_running = crawl.state == Crawl.State.RUNNING
    lately = crawl.buckets.filter(start__gte=now - RECENT, minutes=1).aggregate(n=Sum("crawled", default=0))[
        "n"
    ]
    per_minute = lately / (RECENT.total_seconds() / 60) if lately else 60 * report.pages_per_second
    end = None
    if is_running and per_minute >= 0.1 and total > report.crawled:
        minutes = math.ceil((total - report.crawled) / per_minute)
        end = now + timedelta(minutes=minutes) if minutes < 60 * 24 * 90 else None
    is_growing = is_running and (limit is None or known_count < limit)
    return HowFar(report.crawled, max(total, report.crawled), is_growing, is_running, per_minute, end)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Addresses that a crawl left out: how many, why, and the failure or state by which they are listed."""

    count: int
    words: str
    failure: str = ""
    state: str = ""


def left_out(report: CrawlReport) -> list[LeftOut]:
    """Return what a crawl left out by cause in words, the most first."""
    rows = [LeftOut(count, _refused_words(cause, count)) for cause, count in report.refused.items() if count]
    if report.duplicates:
        rows.append(
            LeftOut(
                report.duplicates,
                ngettext(
                    "was found again at another place", "were found again at other places", report.duplicates
                ),
            )
        )
    if report.dropped_now:
        words = ngettext("waited too long for its turn", "waited too long for their turn", report.dropped_now)
        rows.append(LeftOut(report.dropped_now, words, state="dropped"))
    if report.moved:
        words = ngettext("leads on to another address", "lead on to other addresses", report.moved)
        rows.append(LeftOut(report.moved, words, state="moved"))
    rows += [LeftOut(count, failed_words(label, count), label) for label, count in report.failures.items()]
    return sorted(rows, key=lambda row: -row.count)


def failed_words(label: str, count: int) -> str:
    """Return why addresses failed, as the end of a sentence that begins with their number."""
    if label == "http-404":
        return ngettext("does not exist: “not found”", "do not exist: “not found”", count)
    if label == Failure.ROBOTS:
        return _("the site asks to leave alone")
    return ngettext("could not be read: %(why)s", "could not be read: %(why)s", count) % {
        "why": failure_name(label)
    }


def _refused_words(cause: str, count: int) -> str:
    """Return why addresses were not queued, as the end of a sentence that begins with their number."""
    words: Mapping[str, str] = {
        "scope": ngettext("leads outside", "lead outside", count),
        "address": ngettext("is no address of a web page", "are no addresses of web pages", count),
        "length": ngettext("is too long", "are too long", count),
        "depth": ngettext("is too many links away", "are too many links away", count),
        "repeats": ngettext("goes round in circles", "go round in circles", count),
        "parameters": ngettext("is one of endless variants", "are endless variants of pages", count),
        "hosts": ngettext("is on one site too many", "are on more sites than allowed", count),
        "pages": ngettext("is one of too many alike", "are more of one kind than allowed", count),
    }
    return words.get(cause, cause)


def reach(crawl: Crawl) -> str:
    """Return where a crawl stays and how many pages it takes, in words."""
    where = host(crawl.seeds[0])
    if len(crawl.seeds) > 1:
        where = ngettext("%(host)s and %(n)s more", "%(host)s and %(n)s more", len(crawl.seeds) - 1) % {
            "host": where, "n": amount(len(crawl.seeds) - 1),
        }  # fmt: skip
    if crawl.max_pages is None:
        return _("From %(where)s.") % {"where": where}
    return ngettext(
        "From %(where)s, at most %(n)s page.", "From %(where)s, at most %(n)s pages.", crawl.max_pages
    ) % {"where": where, "n": amount(crawl.max_pages)}
