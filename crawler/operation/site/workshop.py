"""The four cards of the workshop on the page of the tools: a name, a number, and a sentence for each."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.db import connection
from django.db.models import Sum
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from crawler.frontier.models import Crawl
from crawler.pipeline.documents import queues
from crawler.web.templatetags.freshet import amount
from feeds.laboratory.doubling import Gain, gain_of_twice

COUNTED = 10_000
"""Facts that are counted one by one; beyond, the planner's estimate is near enough."""


@dataclass(frozen=True, slots=True)
class Card:
    """A part of the workshop: its icon, name and address, the one number, and a sentence that goes on."""

    icon: str
    name: str
    address: str
    number: str
    sentence: str


def workshop() -> list[Card]:
    """Return the cards of crawls, the laboratory, the graph and the pipeline."""
    return [
        Card("globe", _("Crawls"), reverse("crawls"), *crawls_in_words()),
        Card("clock", _("Lab"), reverse("laboratory"), *lab_in_words(gain_of_twice())),
        Card("ask", pgettext("of links", "Graph"), reverse("graph"), *graph_in_words(count_facts())),
        Card("sort", _("Pipeline"), reverse("pipeline"), *pipeline_in_words(sum(queues().values()))),
    ]


def crawls_in_words() -> tuple[str, str]:
    """Return a number and a sentence about the crawls that run, or about the last one."""
    running = Crawl.objects.running().order_by("-id")
    rows = list(running.only("seeds", "crawled", "max_pages")[:2])
    if len(rows) > 1:
        pages = running.aggregate(pages=Sum("crawled"))["pages"]
        count = running.count()
        message = ngettext(
            "crawls run; they have brought %(count)s page.",
            "crawls run; they have brought %(count)s pages.",
            pages,
        )
        return amount(count), message % {"count": amount(pages)}
    if rows:
        (crawl,) = rows
        number = amount(crawl.crawled)
        if crawl.max_pages:
            number = _("%(count)s of %(most)s") % {"count": number, "most": amount(crawl.max_pages)}
        message = ngettext(
            "page of %(site)s is here.", "pages of %(site)s are here.", crawl.max_pages or crawl.crawled
        )
        return number, message % {"site": _site(crawl)}
    last = Crawl.objects.only("seeds", "crawled").order_by("-id").first()
    if last is None:
        return "", _("Read a whole site once, from a start address.")
    message = ngettext(
        "page came with the last crawl, of %(site)s.",
        "pages came with the last crawl, of %(site)s.",
        last.crawled,
    )
    return amount(last.crawled), message % {"site": _site(last)}


def lab_in_words(gain: Gain | None) -> tuple[str, str]:
    """Return a number and a sentence about what twice the requests would bring."""
    if gain is None:
        return "", _("What another pace would bring, tried with what your own feeds have posted.")
    minutes = round(gain.minutes)
    if minutes < 1:
        return "", _("Twice as many requests would bring articles hardly earlier.")
    return _("%(count)s min") % {"count": amount(minutes)}, _(
        "earlier is what twice the requests would bring."
    )


def graph_in_words(facts: int) -> tuple[str, str]:
    """Return the number of facts in the graph and a sentence about them."""
    if not facts:
        return "", _("Facts about people, places and things come with your articles.")
    message = ngettext(
        "fact about people, places and things in your articles. Ask it in words.",
        "facts about people, places and things in your articles. Ask it in words.",
        facts,
    )
    return amount(facts), message


def pipeline_in_words(waiting: int) -> tuple[str, str]:
    """Return how many documents wait to be read and a sentence about them."""
    if not waiting:
        return "", _("Every document that came has been read.")
    return amount(waiting), ngettext("document waits to be read.", "documents wait to be read.", waiting)


def count_facts() -> int:
    """Count the facts of the graph: exactly while they are few, by PostgreSQL's estimate when many."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint FROM pg_class"
            r" WHERE relname LIKE 'pipeline\_quad\_%%' AND relkind = 'r'"
        )
        estimate = int(cursor.fetchone()[0])
        if estimate > COUNTED:
            return estimate
        cursor.execute("SELECT count(*) FROM (SELECT 1 FROM pipeline_quad LIMIT %s) AS few", [COUNTED])
        return int(cursor.fetchone()[0])


def _site(crawl: Crawl) -> str:
    return urlsplit(crawl.seeds[0]).hostname or crawl.seeds[0] if crawl.seeds else ""
