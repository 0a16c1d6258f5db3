"""A visit's life: begun when it is due, taken on round by round, ended. The row is the truth.

A method answers from what is known alone, so that every round is computed anew from the database: a
controller that dies in the middle has changed nothing, and whoever comes next goes on.
"""

from __future__ import annotations

import logging
import math
import time
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Greatest

from crawler.wake import wake_recrawl
from recrawl import knowledge, memory
from recrawl.content import shape
from recrawl.differences import Difference
from recrawl.discovery import want, want_sources
from recrawl.knowing import Known, known_of, standing_of
from recrawl.mapping import learn_template, settle_mapping
from recrawl.methods.adaptive import Adaptive
from recrawl.methods.belief import believe
from recrawl.methods.registry import make_method
from recrawl.models import SAVED_VISITS, Change, Site, Source, Visit, Wanted
from recrawl.reasons import reason

log = logging.getLogger(__name__)

AT_ONCE_SECONDS = 20.0
"""How long one task takes care of visits before it lets another go on."""
MOST_SOURCES = 20
"""Sitemaps and feeds that one visit reads."""
FEW_CHANGES, COMMON = 5, 0.6
"""A change is the template's where so many pages, and such a share of those changed, share its lines."""


def has_work(now: datetime) -> bool:
    """Whether a visit is due or may go on, or a mapping crawl has ended."""
    return idle().exists() or Site.objects.due(now).exists() or Site.objects.mapped().exists()


def idle() -> QuerySet[Visit]:
    """Open visits that wait for nothing: their next round is to be computed."""
    waits = Wanted.objects.filter(visit=OuterRef("pk"))
    return Visit.objects.filter(~Exists(waits), finished__isnull=True, number__gt=0).order_by("id")


def tend(now: datetime, site: Site | None = None) -> bool:
    """Do what can be done now, for some seconds at most; whether there is more. May run twice."""
    until = time.monotonic() + AT_ONCE_SECONDS
    settle_mapping(now)
    due, open_ones = Site.objects.due(now), idle()
    if site is not None:
        due, open_ones = due.filter(pk=site.pk), open_ones.filter(site=site)
    for pk in list(due.values_list("pk", flat=True)[:500]):
        begin(pk, now)
    for pk in list(open_ones.values_list("pk", flat=True)[:500]):
        if time.monotonic() > until:
            return True
        try:
            advance(pk, now)
        except Exception:  # what breaks one site's plan must not keep the others waiting
            log.exception("visit %s cannot go on; the next look tries again", pk)
    return False


def begin(pk: int, now: datetime) -> Visit | None:
    """Begin a site's next visit, unless one is open or it is not watched."""
    with transaction.atomic():
        site = (
            Site.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(pk=pk, state=Site.State.WATCHED)
            .first()
        )
        if site is None or site.visits.filter(finished__isnull=True).exists():
            return None
        known = site.pages.live().aggregate(pages=Count("id"), whole=Sum("size", default=0))
        pages = known["pages"]
        weekly = site.budget * pages
        site.saved = min(site.saved, SAVED_VISITS * weekly) + weekly
        site.visited += 1
        site.next_visit = now + timedelta(days=site.every)
        site.save(update_fields=["saved", "visited", "next_visit"])
        return Visit.objects.create(
            site=site,
            number=site.visited,
            method=site.method,
            started=now,
            pages=pages,
            weekly=weekly,
            budget=math.floor(site.saved + 1e-9),
            whole=known["whole"],
        )


def visit_now(site: Site, now: datetime) -> bool:
    """Let the next visit begin at once; False where the site is not watched, or is being visited."""
    if site.visits.filter(finished__isnull=True).exists():
        return False
    done = Site.objects.filter(pk=site.pk, state=Site.State.WATCHED).update(next_visit=now)
    wake_recrawl()
    return bool(done)


def advance(pk: int, now: datetime) -> None:
    """The next round of an open visit that waits for nothing: what its method wants, or its end."""
    with transaction.atomic():
        visit = (
            Visit.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(pk=pk, finished__isnull=True)
            .select_related("site")
            .first()
        )
        if visit is None or visit.wanted.exists():
            return
        Visit.objects.filter(pk=pk).update(rounds=F("rounds") + 1)
        site = visit.site
        if visit.rounds == 0 and want_sources(visit, site, _sources(site)):
            return
        known = known_of(site)
        standing = standing_of(visit, known)
        pages = following(visit.method, known.server, standing)
        rows = [(known.ids[path], reason(path, known.server, standing)) for path in pages]
        if not want(visit, site, rows):
            _finish(visit, site, known, standing, now)


def following(method: str, server: knowledge.Server, standing: knowledge.Visit) -> list[str]:
    """The pages that a method would fetch now, as many as the budget still allows."""
    if standing.budget < 1:
        return []
    wanted = make_method(method).following(server, standing)
    return wanted[: int(min(standing.budget, len(wanted)))]


def end_open(site: Site, now: datetime) -> None:
    """End a site's open visit where it stands; what is out comes back to nobody."""
    for visit in site.visits.filter(finished__isnull=True, number__gt=0):
        with transaction.atomic():
            locked = Visit.objects.select_for_update(of=("self",)).get(pk=visit.pk)
            if locked.finished is None:
                locked.wanted.all().delete()
                known = known_of(site)
                _finish(locked, site, known, standing_of(locked, known), now)


def pause(site: Site, now: datetime) -> bool:
    """Begin no more visits; the open one ends."""
    done = Site.objects.filter(pk=site.pk, state=Site.State.WATCHED).update(state=Site.State.PAUSED)
    if done:
        end_open(site, now)
    return bool(done)


def resume(site: Site) -> bool:
    """Go on with visits; one that is overdue begins at once."""
    done = Site.objects.filter(pk=site.pk, state=Site.State.PAUSED).update(state=Site.State.WATCHED)
    wake_recrawl()
    return bool(done)


def _sources(site: Site) -> list[Source]:
    """Those worth reading: feeds, and sitemaps that no index calls unchanged."""
    usable = site.sources.filter(usable=True)
    return list(usable.filter(Q(told="") | ~Q(told=F("read_as"))).order_by("id")[:MOST_SOURCES])


def _finish(visit: Visit, site: Site, known: Known, standing: knowledge.Visit, now: datetime) -> None:
    """Learn from the visit, estimate what it missed, tell the template's changes apart, end it."""
    server = known.server
    belief = believe(server, standing, known.ledger)
    unseen = [path for path in server.pages if not standing.has_seen(path, server)]
    visit.missed = sum(belief.fresh[path] for path in unseen)
    stale = sum(1 - belief.sound(path) for path in unseen)
    visit.stale = stale / len(server.pages) if server.pages else 0.0
    visit.finished = now
    visit.save(update_fields=["missed", "stale", "finished"])
    Adaptive().finish(server, standing)
    _tell_template_apart(visit)
    remember(site, known, visit.fetched)
    Site.objects.filter(pk=site.pk).update(template=sorted(learn_template(site)))


def remember(site: Site, known: Known, fetched: int) -> None:
    """Write down what was learned, and take what was fetched from what is saved."""
    Site.objects.filter(pk=site.pk).update(
        saved=Greatest(F("saved") - fetched, 0.0), memory=memory.packed(known.ledger)
    )


def _tell_template_apart(visit: Visit) -> None:
    """Mark changes whose every line came or went on most of the pages that changed: a new design."""
    edited = visit.changes.filter(kind=Change.Kind.EDITED).order_by("id")
    lines: dict[int, frozenset[tuple[str, int]]] = {}
    for pk, difference in edited.values_list("id", "difference").iterator(chunk_size=200):
        gain = Difference.unpacked(bytes(difference))
        signed = [("+", line) for line in gain.lines_added] + [("-", line) for line in gain.lines_removed]
        lines[pk] = frozenset((sign, shape(line)) for sign, line in signed)
    counts: dict[tuple[str, int], int] = {}
    for found in lines.values():
        for line in found:
            counts[line] = counts.get(line, 0) + 1
    least = max(FEW_CHANGES, COMMON * len(lines))
    common = [pk for pk, found in lines.items() if all(counts[line] >= least for line in found)]
    Change.objects.filter(pk__in=common).update(kind=Change.Kind.TEMPLATE)
