"""Conversion of a site's rows to what methods decide on: the known server and the open visit.

Rows are read for many sites at once: `read_site_rows` and `read_visit_rows` need two statements each, for any
number of sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.database.prepared import rows_of
from recrawl.methods.adaptive import Causes
from recrawl.models import Announcement, Check, Site, Source, Visit, WatchedPage, key_of
from recrawl.visiting.known_server import CheckOutcome, KnownPage, KnownServer, OpenVisit

# A circle of redirects must end, and real ones are one or two steps.
MAX_MOVES = 5
PAGE_COLUMNS = (
    "site_id", "key", "id", "url", "state", "links", "leads_to", "fetched_in", "checks", "changes",
)  # fmt: skip


@dataclass(slots=True)
class SiteRows:
    """Rows of a site: its pages, and the keys of the pages that its sitemaps name."""

    pages: list[tuple[Any, ...]] = field(default_factory=list)
    sitemap_pages: list[int] = field(default_factory=list)


@dataclass(slots=True)
class VisitRows:
    """Rows of a visit: its checks, oldest first, and the announcements of its site's sources."""

    checks: list[tuple[Any, ...]] = field(default_factory=list)
    announced: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass(slots=True)
class SiteKnowledge:
    """A site's live pages as a server, with their primary keys by path. Methods name pages by path."""

    server: KnownServer
    causes: Causes
    ids: dict[str, int]
    paths: dict[int, str]
    """Paths by primary key."""


def read_site_rows(sites: Sequence[int]) -> dict[int, SiteRows]:
    """Read the rows of sites. Returns them by primary key of the site."""
    rows_by_site = {site: SiteRows() for site in sites}
    states = [WatchedPage.State.LIVE, WatchedPage.State.MOVED]
    pages = WatchedPage.objects.filter(site__in=sites, state__in=states)
    for row in rows_of(pages.order_by("site_id", "id").values_list(*PAGE_COLUMNS)):
        rows_by_site[row[0]].pages.append(row)
    announced = Announcement.objects.filter(source__site__in=sites, source__kind=Source.Kind.SITEMAP)
    for site, page in announced.order_by("page_id").values_list("source__site_id", "page_id"):
        rows_by_site[site].sitemap_pages.append(page)
    return rows_by_site


def read_visit_rows(visits: Sequence[Visit]) -> dict[int, VisitRows]:
    """Read the checks and announcements of visits. Returns them by primary key of the visit."""
    rows_by_visit = {visit.pk: VisitRows() for visit in visits}
    checks = Check.objects.filter(visit__in=rows_by_visit).order_by("id")
    for visit, *check in checks.values_list("visit_id", "page_id", "outcome", "age", "page__url"):
        rows_by_visit[visit].checks.append(tuple(check))
    by_site = {visit.site_id: rows_by_visit[visit.pk] for visit in visits}
    read_sources = Source.objects.filter(site__in=by_site, usable=True, failure="", read__isnull=False)
    rows = (
        Announcement.objects.filter(source__in=read_sources)
        .exclude(stamp="")
        .order_by("source_id", "page_id")
    )
    for site, *announced in rows.values_list(
        "source__site_id", "source__url", "source__read", "page_id", "since", "page__fetched_in"
    ):
        by_site[site].announced.append(tuple(announced))
    return rows_by_visit


def knowledge_of(site: Site, rows: SiteRows | None = None) -> SiteKnowledge:
    """Build the knowledge of a site. Pages that only a sitemap names count as linked from the top page."""
    rows = rows or read_site_rows([site.pk])[site.pk]
    live: list[tuple[str, int, list[int], int, int, int]] = []
    paths: dict[int, str] = {}
    moves: dict[int, int] = {}
    # Paths instead of addresses: they are compared and split thousands of times in a round.
    start, live_state = 0 if site.is_list else len(site.origin), str(WatchedPage.State.LIVE)
    for _, key, pk, url, state, links, leads_to, fetched_in, checks, changes in rows.pages:
        if state == live_state:
            paths[key] = path = url[start:]
            live.append((path, pk, links, fetched_in, checks, changes))
        elif leads_to:
            moves[key] = key_of(leads_to)
    for key in moves:
        # Links to a moved page lead to the page behind it, or this one would look unlinked.
        target = _redirect_target(key, moves)
        if target in paths:
            paths.setdefault(key, paths[target])
    server = KnownServer(paths.get(key_of(site.url), site.url[start:]))
    path_at = paths.get
    for path, _, links, fetched_in, checks, changes in live:
        targets: dict[Any, None] = dict.fromkeys(map(path_at, links))
        targets.pop(None, None)  # links to unknown pages
        server.pages[path] = KnownPage(tuple(targets), float(fetched_in), checks, changes)
    ids = {row[0]: row[1] for row in live}
    causes = Causes.unpacked(bytes(site.memory))
    knowledge = SiteKnowledge(server, causes, ids, {pk: path for path, pk in ids.items()})
    server.memory["adaptive"] = causes
    _link_sitemap_pages(knowledge, rows.sitemap_pages)
    return knowledge


def standing_of(visit: Visit, knowledge: SiteKnowledge, rows: VisitRows | None = None) -> OpenVisit:
    """Return the present state of a visit: the results of its fetches, and its remaining budget."""
    rows = rows or read_visit_rows([visit])[visit.pk]
    state = OpenVisit(
        float(visit.number),
        float(visit.budget - visit.fetched),
        visit.weekly,
        saves=not visit.site.is_list,  # its pages tell nothing of each other that would be worth waiting for
    )
    for page, outcome, age, url in rows.checks:
        path = knowledge.paths.get(page)
        if outcome in {Check.Outcome.GONE, Check.Outcome.MOVED}:
            state.gone.append(visit.site.name_of(url))
        elif path is None or outcome == Check.Outcome.NEW:
            continue
        elif outcome == Check.Outcome.FAILED:
            state.failed.add(path)
        else:
            state.outcomes[path] = CheckOutcome(outcome == Check.Outcome.CHANGED, age)
    state.signals = _signals(visit, knowledge, rows)
    return state


def _redirect_target(key: int, moves: dict[int, int]) -> int:
    """Follow at most MAX_MOVES redirects from a page key."""
    for _ in range(MAX_MOVES):
        if key not in moves:
            break
        key = moves[key]
    return key


def _link_sitemap_pages(knowledge: SiteKnowledge, sitemap_pages: Sequence[int]) -> None:
    """Link the top page to pages that a sitemap names and no stored copy links to."""
    server = knowledge.server
    if server.top not in server.pages or not sitemap_pages:
        return
    linked = {target for page in server.pages.values() for target in page.links}
    pages = (knowledge.paths.get(page) for page in sitemap_pages)
    unlinked = {path: None for path in pages if path is not None and path not in linked}
    unlinked.pop(server.top, None)
    if unlinked:
        top = server.pages[server.top]
        top.links = tuple(dict.fromkeys((*top.links, *unlinked)))


def _signals(visit: Visit, knowledge: SiteKnowledge, rows: VisitRows) -> dict[str, dict[str, bool]]:
    """Return, for each source that this visit has read, its dated pages and whether the date is new."""
    signals: dict[str, dict[str, bool]] = {}
    for source, read, page, since, fetched in rows.announced:
        if read >= visit.started and page in knowledge.paths:
            # A page fetched in this visit counts as announced if it was announced before that fetch.
            new = since > fetched if fetched < visit.number else since == visit.number
            signals.setdefault(source, {})[knowledge.paths[page]] = new
    return signals
