"""A visit's life: begun when it is due, taken on round by round, ended. The row is the truth.

A method answers from what is known alone, so that every round is computed anew from the database: a
controller that dies in the middle has changed nothing, and whoever comes next goes on. Many visits are begun
and taken on in one transaction, with the same few statements however many they are.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from crawler.database.bulk import insert_rows, update_rows
from crawler.engine.wake import wake_recrawl
from crawler.reading.lines import shape
from recrawl.differences import Difference
from recrawl.discovery import to_fetch, to_read
from recrawl.known_server import KnownServer, OpenVisit
from recrawl.mapping import learn_template, settle_mapping
from recrawl.methods.adaptive import Adaptive
from recrawl.methods.belief import believe, unseen
from recrawl.methods.listings import naming_new
from recrawl.methods.reasons import reason
from recrawl.methods.registry import make_method
from recrawl.models import SAVED_VISITS, Change, Site, Source, Visit, Wanted, WatchedPage
from recrawl.stored_server import Known, Shown, Stored, known_of, shown, standing_of, stored

log = logging.getLogger(__name__)

AT_ONCE_SECONDS = 20.0
"""How long one task takes care of visits before it lets another go on."""
MOST_VISITS, MOST_PAGES = 500, 10_000
"""Visits looked at in one task, and pages planned in one transaction; a single visit may have more."""
LEARNED = ["saved", "memory"]
"""What `remember` changes of a site."""
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
    begin(list(due.values_list("pk", flat=True)[:MOST_VISITS]), now)
    for batch in batches(open_ones[:MOST_VISITS]):
        if time.monotonic() > until:
            return True
        _try(batch, now)
    return False


def _try(batch: Sequence[int], now: datetime) -> None:
    """Advance visits together; where that cannot be stored each alone, so that one keeps no other waiting."""
    try:
        advance(batch, now)
    except Exception:
        log.exception("visits %s cannot go on; the next look tries again", batch)
        if len(batch) > 1:
            for pk in batch:
                _try([pk], now)


def batches(visits: Iterable[Visit]) -> Iterator[list[int]]:
    """Primary keys of visits that are taken on together, so that not too many pages are in memory."""
    batch: list[int] = []
    pages = 0
    for visit in visits:
        if batch and pages + visit.pages > MOST_PAGES:
            yield batch
            batch, pages = [], 0
        batch.append(visit.pk)
        pages += visit.pages
    if batch:
        yield batch


def begin(pks: Sequence[int], now: datetime) -> list[Visit]:
    """Begin the next visits of sites in this order, but of those that have an open one or are not watched."""
    with transaction.atomic():
        watched = Site.objects.light().select_for_update(skip_locked=True, of=("self",))
        locked = {site.pk: site for site in watched.filter(pk__in=pks, state=Site.State.WATCHED)}
        # A statement of its own: it sees what was begun while the locks were waited for.
        opened = Visit.objects.filter(site__in=locked, finished__isnull=True)
        for pk in opened.values_list("site_id", flat=True):
            locked.pop(pk, None)
        live = WatchedPage.objects.live().filter(site__in=locked).order_by().values_list("site_id")
        known = {pk: (pages, whole) for pk, pages, whole in live.annotate(Count("id"), Sum("size"))}
        sites = [locked[pk] for pk in pks if pk in locked]
        visits = []
        for site in sites:
            pages, whole = known.get(site.pk, (0, 0))
            weekly = site.budget * pages
            site.saved = min(site.saved, SAVED_VISITS * weekly) + weekly
            site.visited += 1
            site.next_visit = now + timedelta(days=site.every)
            visit = Visit(
                site=site,
                number=site.visited,
                method=site.method,
                started=now,
                pages=pages,
                weekly=weekly,
                budget=math.floor(site.saved + 1e-9),
                whole=whole,
            )
            visits.append(visit)
        update_rows(Site, sites, ["saved", "visited", "next_visit"])
        return Visit.objects.bulk_create(visits)


def visit_now(site: Site, now: datetime) -> bool:
    """Let the next visit begin at once; False where the site is not watched, or is being visited."""
    if site.visits.filter(finished__isnull=True).exists():
        return False
    done = Site.objects.filter(pk=site.pk, state=Site.State.WATCHED).update(next_visit=now)
    wake_recrawl()
    return bool(done)


def advance(pks: Sequence[int], now: datetime) -> None:
    """The next rounds of open visits that wait for nothing: what their methods want, or their end.

    1. Lock them and their sites; what is locked elsewhere is left to the next look.
    2. Those that are new read their sitemaps and feeds first, if there are any.
    3. Of the others all rows are read at once, and each is planned; where nothing is wanted any more it ends.
       What breaks one plan keeps no other waiting: that visit stays as it was.
    4. Store what is wanted, and what was learned.
    """
    with transaction.atomic():
        visits = lock(pks)
        wanted = _sources([visit for visit in visits if visit.rounds == 0])
        done = {row.visit_id for row in wanted}
        planned = [visit for visit in visits if visit.pk not in done]
        rows, seen = stored([visit.site_id for visit in planned]), shown(planned)
        ended = []
        for visit in planned:
            try:
                pages = _next(visit, rows.pop(visit.site_id), seen.pop(visit.pk), now)
            except Exception:
                log.exception("visit %s cannot go on; the next look tries again", visit.pk)
                continue
            wanted += pages
            done.add(visit.pk)
            if not pages:
                ended.append(visit)
        insert_rows(Wanted, wanted)
        Visit.objects.filter(pk__in=done).update(rounds=F("rounds") + 1)
        _write(ended)


def lock(pks: Sequence[int]) -> list[Visit]:
    """Those of these visits that are open and wait for nothing, locked, with their sites, locked too."""
    free = Visit.objects.select_for_update(skip_locked=True, of=("self",)).order_by("id")
    visits = {visit.pk: visit for visit in free.filter(pk__in=pks, finished__isnull=True)}
    waiting = set(Wanted.objects.filter(visit__in=visits).values_list("visit_id", flat=True))
    mine = [visit.site_id for visit in visits.values() if visit.pk not in waiting]
    sites = Site.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
    locked = {site.pk: site for site in sites.filter(pk__in=mine).defer("template")}
    found = [visit for visit in visits.values() if visit.site_id in locked]
    for visit in found:
        visit.site = locked[visit.site_id]
    return found


def _next(visit: Visit, rows: Stored, seen: Shown, now: datetime) -> list[Wanted]:
    """What a visit wants to fetch next; where that is nothing it has ended, but for its rows."""
    known = known_of(visit.site, rows)
    standing = standing_of(visit, known, seen)
    pages = following(visit.method, known.server, standing)
    if not pages:
        with transaction.atomic():
            _finish(visit, known, standing, now)
    naming = naming_new(known.server, standing) if pages else set()
    reasons = [(known.ids[path], reason(path, known.server, standing, naming)) for path in pages]
    return to_fetch(visit, visit.site, reasons)


def following(method: str, server: KnownServer, standing: OpenVisit) -> list[str]:
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
                locked.site = Site.objects.select_for_update(no_key=True, of=("self",)).get(pk=site.pk)
                known = known_of(locked.site)
                _finish(locked, known, standing_of(locked, known), now)
                _write([locked])


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


def _sources(visits: Sequence[Visit]) -> list[Wanted]:
    """Of their sites those worth reading: feeds, and sitemaps that no index calls unchanged."""
    by_site: dict[int, list[Source]] = {visit.site_id: [] for visit in visits}
    usable = Source.objects.filter(site__in=by_site, usable=True)
    for source in usable.filter(Q(told="") | ~Q(told=F("read_as"))).order_by("id"):
        by_site[source.site_id].append(source)
    return [
        row for visit in visits for row in to_read(visit, visit.site, by_site[visit.site_id][:MOST_SOURCES])
    ]


def _finish(visit: Visit, known: Known, standing: OpenVisit, now: datetime) -> None:
    """Learn from the visit, estimate what it missed, tell the template's changes apart; `_write` ends it."""
    server = known.server
    belief = believe(server, standing, known.ledger)
    left = unseen(server, standing, belief.gates)
    visit.missed = sum(belief.fresh[left].tolist())
    visit.stale = sum((1 - belief.sound[left]).tolist()) / max(len(server.pages), 1)
    visit.finished = now
    Adaptive().finish(server, standing)
    _tell_template_apart(visit)
    remember(visit, known)
    visit.site.template = sorted(learn_template(visit.site))


def remember(visit: Visit, known: Known) -> None:
    """Put what was learned into the site's row, and take what the visit fetched from what is saved."""
    visit.site.saved = max(visit.site.saved - visit.fetched, 0.0)
    visit.site.memory = known.ledger.packed()


def _write(ended: Sequence[Visit]) -> None:
    """Store the ends of visits, and what was learned of their sites."""
    update_rows(Visit, ended, ["missed", "stale", "finished"])
    update_rows(Site, [visit.site for visit in ended], [*LEARNED, "template"])


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
