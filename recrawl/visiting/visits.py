"""The life of a visit: it begins when it is due, advances round by round, and ends. The row is the truth.

A method decides from stored knowledge alone, so every round is computed anew from the database. A controller
that dies in the middle of a round has changed nothing, and the next one continues. Many visits begin and
advance in one transaction, with a number of statements that does not depend on the number of visits.
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
from recrawl.comparing.differences import Difference
from recrawl.methods.adaptive import Adaptive, estimate_missed
from recrawl.methods.listings import naming_new
from recrawl.methods.reasons import reason
from recrawl.methods.registry import make_method
from recrawl.models import SAVED_VISITS, Change, Site, Source, Visit, Wanted, WatchedPage
from recrawl.visiting.discovery import to_fetch, to_read
from recrawl.visiting.known_server import KnownServer, OpenVisit
from recrawl.visiting.mapping import learn_template, map_failed, name_list, settle_mapping
from recrawl.visiting.stored_server import (
    SiteKnowledge,
    SiteRows,
    VisitRows,
    knowledge_of,
    read_site_rows,
    read_visit_rows,
    standing_of,
)

log = logging.getLogger(__name__)

MAX_TASK_SECONDS = 20.0
"""How long one task works on visits before it makes room for another."""
# All pages of a transaction are held in memory at once, with their links.
MAX_VISITS, MAX_PAGES = 500, 10_000
"""Visits handled in one task, and pages planned in one transaction. A single visit may exceed MAX_PAGES."""
LEARNED_FIELDS = ["saved", "memory"]
"""The fields of a site that `remember` changes."""
MAX_UNREAD = 1000
"""Pages of a list without a copy that one visit asks for."""
MAX_SOURCES = 20
"""Sitemaps and feeds that one visit reads at most."""
# Below five pages a line in common is chance: two articles about one event.
MIN_TEMPLATE_PAGES, MIN_TEMPLATE_SHARE = 5, 0.6
"""A change belongs to the template if each of its lines changed on at least this number of pages, and on this
share of the changed pages.
"""


def has_work(now: datetime) -> bool:
    """Return whether a visit is due or may go on, or a mapping crawl has ended."""
    sites = Site.objects
    return idle().exists() or sites.due(now).exists() or sites.mapped().exists() or sites.failed(now).exists()


def idle() -> QuerySet[Visit]:
    """Return open visits without outstanding fetches: their next round can be computed."""
    waits = Wanted.objects.filter(visit=OuterRef("pk"))
    return Visit.objects.filter(~Exists(waits), finished__isnull=True, number__gt=0).order_by("id")


def tend(now: datetime, site: Site | None = None) -> bool:
    """Begin due visits and advance idle ones, for at most MAX_TASK_SECONDS. Returns whether work remains. May
    run twice.
    """
    until = time.monotonic() + MAX_TASK_SECONDS
    settle_mapping(now)
    if site is None:
        map_failed(now)
    due, open_ones = Site.objects.due(now), idle()
    if site is not None:
        due, open_ones = due.filter(pk=site.pk), open_ones.filter(site=site)
    begin(list(due.values_list("pk", flat=True)[:MAX_VISITS]), now)
    for batch in batches(open_ones[:MAX_VISITS]):
        if time.monotonic() > until:
            return True
        _advance_or_split(batch, now)
    return False


def _advance_or_split(batch: Sequence[int], now: datetime) -> None:
    """Advance visits together. If that fails, advance each alone, so that one visit does not block the
    others.
    """
    try:
        advance(batch, now)
    except Exception:
        log.exception("visits %s cannot go on; the next look tries again", batch)
        # One that cannot go on even alone stays as it is, and costs one line of the log a look.
        if len(batch) > 1:
            for pk in batch:
                _advance_or_split([pk], now)


def batches(visits: Iterable[Visit]) -> Iterator[list[int]]:
    """Yield primary keys of visits to advance together, with at most MAX_PAGES pages in memory."""
    batch: list[int] = []
    pages = 0
    for visit in visits:
        if batch and pages + visit.pages > MAX_PAGES:
            yield batch
            batch, pages = [], 0
        batch.append(visit.pk)
        pages += visit.pages
    if batch:
        yield batch


def begin(pks: Sequence[int], now: datetime) -> list[Visit]:
    """Begin the next visits of sites, in the order of `pks`. Sites that are not watched or have an open visit
    are skipped.
    """
    with transaction.atomic():
        watched = Site.objects.light().select_for_update(skip_locked=True, of=("self",))
        locked = {site.pk: site for site in watched.filter(pk__in=pks, state=Site.State.WATCHED)}
        # A statement of its own: it sees what was begun while the locks were waited for.
        opened = Visit.objects.filter(site__in=locked, finished__isnull=True)
        for pk in opened.values_list("site_id", flat=True):
            locked.pop(pk, None)
        live = WatchedPage.objects.live().filter(site__in=locked).order_by().values_list("site_id")
        page_totals = {pk: (pages, whole) for pk, pages, whole in live.annotate(Count("id"), Sum("size"))}
        sites = [locked[pk] for pk in pks if pk in locked]
        visits = []
        for site in sites:
            pages, whole = page_totals.get(site.pk, (0, 0))
            weekly = site.budget * pages
            kept_visits = 1 if site.is_list else SAVED_VISITS
            # Bounded: a site that was quiet for a year must not be asked for all of it in one visit.
            site.saved = min(site.saved, kept_visits * weekly) + weekly
            site.visited += 1
            # From now, not from the last date: after a pause visits are not caught up in a row.
            site.next_visit = now + timedelta(days=site.every)
            visit = Visit(
                site=site,
                number=site.visited,
                method=site.method,
                started=now,
                pages=pages,
                weekly=weekly,
                # Floating sums of weekly budgets fall short of the whole number by a rounding error.
                budget=math.floor(site.saved + 1e-9),
                whole=whole,
            )
            visits.append(visit)
        update_rows(Site, sites, ["saved", "visited", "next_visit"])
        return Visit.objects.bulk_create(visits)


def visit_now(site: Site, now: datetime) -> bool:
    """Make the next visit due at once. Returns False if the site is not watched or is being visited."""
    if site.visits.filter(finished__isnull=True).exists():
        return False
    updated = Site.objects.filter(pk=site.pk, state=Site.State.WATCHED).update(next_visit=now)
    wake_recrawl()
    return bool(updated)


def advance(pks: Sequence[int], now: datetime) -> None:
    """Compute the next round of idle visits: plan the fetches their methods choose, or end them.

    1. Lock the visits and their sites. Rows locked elsewhere are left to the next task. 2. Plan the sitemaps
    and feeds of new visits, if there are any. 3. Read all rows of the other visits at once, and plan each
    visit. A visit without further fetches ends. A visit whose planning raises stays as it was, and does not
    block the others. 4. Store the planned fetches and what was learned.
    """
    with transaction.atomic():
        visits = lock(pks)
        begun = [visit for visit in visits if visit.rounds == 0]
        planned_fetches = _sources(begun) + _unread_pages(begun)
        advanced_ids = {row.visit_id for row in planned_fetches}
        planned = [visit for visit in visits if visit.pk not in advanced_ids]
        site_rows, visit_rows = read_site_rows([visit.site_id for visit in planned]), read_visit_rows(planned)
        ended = []
        for visit in planned:
            try:
                pages = _plan_next(visit, site_rows.pop(visit.site_id), visit_rows.pop(visit.pk), now)
            except Exception:
                log.exception("visit %s cannot go on; the next look tries again", visit.pk)
                continue
            planned_fetches += pages
            advanced_ids.add(visit.pk)
            if not pages:
                ended.append(visit)
        insert_rows(Wanted, planned_fetches)
        Visit.objects.filter(pk__in=advanced_ids).update(rounds=F("rounds") + 1)
        _write(ended)


def lock(pks: Sequence[int]) -> list[Visit]:
    """Lock and return the idle visits among `pks`, with their sites locked too."""
    # A visit that is just checked in has a new round soon, and this task does not wait for it.
    free = Visit.objects.select_for_update(skip_locked=True, of=("self",)).order_by("id")
    visits = {visit.pk: visit for visit in free.filter(pk__in=pks, finished__isnull=True)}
    waiting = set(Wanted.objects.filter(visit__in=visits).values_list("visit_id", flat=True))
    # Fetches may have been planned between the query for idle visits and the locks.
    site_ids = [visit.site_id for visit in visits.values() if visit.pk not in waiting]
    sites = Site.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
    locked_sites = {site.pk: site for site in sites.filter(pk__in=site_ids).defer("template")}
    locked_visits = [visit for visit in visits.values() if visit.site_id in locked_sites]
    for visit in locked_visits:
        visit.site = locked_sites[visit.site_id]
    return locked_visits


def _plan_next(visit: Visit, site_rows: SiteRows, visit_rows: VisitRows, now: datetime) -> list[Wanted]:
    """Return the fetches of a visit's next round. A visit without any is finished, except for storing its
    rows.
    """
    knowledge = knowledge_of(visit.site, site_rows)
    standing = standing_of(visit, knowledge, visit_rows)
    pages = next_pages(visit, knowledge.server, standing)
    if not pages:
        with transaction.atomic():
            _finish(visit, knowledge, standing, now)
    naming = naming_new(knowledge.server, standing) if pages else set()
    reasons = [(knowledge.ids[path], reason(path, knowledge.server, standing, naming)) for path in pages]
    return to_fetch(visit, visit.site, reasons)


def next_pages(visit: Visit, server: KnownServer, standing: OpenVisit) -> list[str]:
    """Return the pages to fetch now: of a list with a whole budget all, else those its method chooses."""
    if visit.site.is_list and visit.site.budget >= 1:
        return [path for path in server.pages if not standing.has_seen(path, server)]
    return following(visit.method, server, standing)


def following(method: str, server: KnownServer, standing: OpenVisit) -> list[str]:
    """Return the pages that a method would fetch now, as many as the budget still allows."""
    if standing.budget < 1:
        return []
    pages = make_method(method).following(server, standing)
    return pages[: int(min(standing.budget, len(pages)))]


def end_open(site: Site, now: datetime) -> None:
    """End a site's open visit in its present state. Fetches that are still out are discarded."""
    for visit in site.visits.filter(finished__isnull=True, number__gt=0):
        with transaction.atomic():
            locked = Visit.objects.select_for_update(of=("self",)).get(pk=visit.pk)
            if locked.finished is None:
                locked.wanted.all().delete()
                locked.site = Site.objects.select_for_update(no_key=True, of=("self",)).get(pk=site.pk)
                knowledge = knowledge_of(locked.site)
                _finish(locked, knowledge, standing_of(locked, knowledge), now)
                _write([locked])


def pause(site: Site, now: datetime) -> bool:
    """Pause a site and end its open visit. Returns whether the site was being watched."""
    updated = Site.objects.filter(pk=site.pk, state=Site.State.WATCHED).update(state=Site.State.PAUSED)
    if updated:
        end_open(site, now)
    return bool(updated)


def resume(site: Site) -> bool:
    """Resume visits to a paused site, at once if overdue. Returns whether the site was paused."""
    updated = Site.objects.filter(pk=site.pk, state=Site.State.PAUSED).update(state=Site.State.WATCHED)
    wake_recrawl()
    return bool(updated)


def _sources(visits: Sequence[Visit]) -> list[Wanted]:
    """Return planned reads of usable sources: feeds, and sitemaps that no index reports as unchanged."""
    by_site: dict[int, list[Source]] = {visit.site_id: [] for visit in visits}
    usable = Source.objects.filter(site__in=by_site, usable=True)
    # An index that gives its sitemaps' times spares reading them: read again only where the time differs.
    for source in usable.filter(Q(told="") | ~Q(told=F("read_as"))).order_by("id"):
        by_site[source.site_id].append(source)
    return [
        row for visit in visits for row in to_read(visit, visit.site, by_site[visit.site_id][:MAX_SOURCES])
    ]


def _unread_pages(visits: Sequence[Visit]) -> list[Wanted]:
    """Return planned fetches of pages of lists that could not be read last time, or are new in the list."""
    lists = {visit.site_id: visit for visit in visits if visit.site.is_list}
    pages = WatchedPage.objects.filter(site__in=lists).exclude(state=WatchedPage.State.LIVE).order_by("id")
    unread: dict[int, list[tuple[int, str]]] = {}
    for page, site, state in pages.values_list("id", "site_id", "state"):
        is_new = state == WatchedPage.State.FOUND
        reason = "new in the list" if is_new else "could not be read before"
        unread.setdefault(site, []).append((page, reason))
    rows = (
        to_fetch(lists[site], lists[site].site, page_reasons[:MAX_UNREAD])
        for site, page_reasons in unread.items()
    )
    return [row for planned in rows for row in planned]


def _finish(visit: Visit, knowledge: SiteKnowledge, standing: OpenVisit, now: datetime) -> None:
    """Learn from the visit, estimate missed changes, mark template changes. `_write` stores its end."""
    server = knowledge.server
    visit.missed, visit.stale = estimate_missed(server, standing)
    visit.finished = now
    Adaptive().finish(server, standing)
    remember(visit, knowledge)
    # Pages of a list are of many sites, which share no template.
    if not visit.site.is_list:
        _mark_template_changes(visit)
        visit.site.template = sorted(learn_template(visit.site))
    elif visit.site.trouble or not visit.pages:
        name_list(visit.site)


def remember(visit: Visit, knowledge: SiteKnowledge) -> None:
    """Store what was learned on the site object, and subtract the visit's fetches from the saved budget."""
    visit.site.saved = max(visit.site.saved - visit.fetched, 0.0)
    visit.site.memory = knowledge.causes.packed()


def _write(ended: Sequence[Visit]) -> None:
    """Store the ends of visits and what was learned about their sites."""
    update_rows(Visit, ended, ["missed", "stale", "finished"])
    update_rows(Site, [visit.site for visit in ended], [*LEARNED_FIELDS, "template"])


def _mark_template_changes(visit: Visit) -> None:
    """Mark changes of which every line was added or removed on most of the changed pages: a new design."""
    edited = visit.changes.filter(kind=Change.Kind.EDITED).order_by("id")
    lines: dict[int, frozenset[tuple[str, int]]] = {}
    for pk, difference in edited.values_list("id", "difference").iterator(chunk_size=200):
        gain = Difference.unpacked(bytes(difference))
        signed = [("+", line) for line in gain.lines_added] + [("-", line) for line in gain.lines_removed]
        lines[pk] = frozenset((sign, shape(line)) for sign, line in signed)
    counts: dict[tuple[str, int], int] = {}
    for page_lines in lines.values():
        for line in page_lines:
            counts[line] = counts.get(line, 0) + 1
    min_pages = max(MIN_TEMPLATE_PAGES, MIN_TEMPLATE_SHARE * len(lines))
    common = [pk for pk, page_lines in lines.items() if all(counts[line] >= min_pages for line in page_lines)]
    Change.objects.filter(pk__in=common).update(kind=Change.Kind.TEMPLATE)
