"""Sites' rows as what methods decide on: a server as it is known, and a visit as it stands.

Rows are read for many sites at once: `stored` and `shown` are two statements each, however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.database.prepared import rows_of
from recrawl.known_server import CheckOutcome, KnownPage, KnownServer, OpenVisit
from recrawl.methods.ledger import Ledger
from recrawl.models import Announcement, Check, Site, Source, Visit, WatchedPage, key_of, path_of

MOST_MOVES = 5
PAGE_COLUMNS = (
    "site_id", "key", "id", "url", "state", "links", "leads_to", "fetched_in", "checks", "changes",
)  # fmt: skip


@dataclass(slots=True)
class Stored:
    """Rows of a site: its pages, by primary key, and the keys of those that its sitemaps name."""

    pages: list[tuple[Any, ...]] = field(default_factory=list)
    named: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Shown:
    """Rows of a visit: its checks, the last one first, and what the sources of its site announce."""

    checks: list[tuple[Any, ...]] = field(default_factory=list)
    announced: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass(slots=True)
class Known:
    """A site's live pages as a server, and their primary keys by path; methods name pages by path."""

    server: KnownServer
    ledger: Ledger
    ids: dict[str, int]
    paths: dict[int, str]
    """Paths by primary key."""


def stored(sites: Sequence[int]) -> dict[int, Stored]:
    """What is stored of these sites, by their primary keys."""
    found = {site: Stored() for site in sites}
    states = [WatchedPage.State.LIVE, WatchedPage.State.MOVED]
    pages = WatchedPage.objects.filter(site__in=sites, state__in=states)
    for row in rows_of(pages.order_by("site_id", "id").values_list(*PAGE_COLUMNS)):
        found[row[0]].pages.append(row)
    named = Announcement.objects.filter(source__site__in=sites, source__kind=Source.Kind.SITEMAP)
    for site, page in named.order_by("page_id").values_list("source__site_id", "page_id"):
        found[site].named.append(page)
    return found


def shown(visits: Sequence[Visit]) -> dict[int, Shown]:
    """What these visits have seen so far, by their primary keys."""
    found = {visit.pk: Shown() for visit in visits}
    checks = Check.objects.filter(visit__in=found).order_by("-id")
    for visit, *check in checks.values_list("visit_id", "page_id", "outcome", "age", "page__url"):
        found[visit].checks.append(tuple(check))
    by_site = {visit.site_id: found[visit.pk] for visit in visits}
    read = Source.objects.filter(site__in=by_site, usable=True, failure="", read__isnull=False)
    rows = Announcement.objects.filter(source__in=read).exclude(stamp="").order_by("source_id", "page_id")
    for site, *announced in rows.values_list(
        "source__site_id", "source__url", "source__read", "page_id", "since", "page__fetched_in"
    ):
        by_site[site].announced.append(tuple(announced))
    return found


def known_of(site: Site, rows: Stored | None = None) -> Known:
    """All that is known of a site. Pages that only a sitemap names count as linked from the top page."""
    rows = rows or stored([site.pk])[site.pk]
    live: list[tuple[str, int, list[int], int, int, int]] = []
    paths: dict[int, str] = {}
    moves: dict[int, int] = {}
    start, there = len(site.origin), str(WatchedPage.State.LIVE)
    for _, key, pk, url, state, links, leads_to, fetched_in, checks, changes in rows.pages:
        if state == there:
            paths[key] = path = url[start:]
            live.append((path, pk, links, fetched_in, checks, changes))
        elif leads_to:
            moves[key] = key_of(leads_to)
    for key in moves:
        target = _end(key, moves)
        if target in paths:
            paths.setdefault(key, paths[target])
    server = KnownServer(paths.get(key_of(site.url), site.url[start:]))
    path_at = paths.get
    for path, _, links, fetched_in, checks, changes in live:
        targets: dict[Any, None] = dict.fromkeys(map(path_at, links))
        targets.pop(None, None)  # what is not there
        server.pages[path] = KnownPage(tuple(targets), float(fetched_in), checks, changes)
    ids = {row[0]: row[1] for row in live}
    ledger = Ledger.unpacked(bytes(site.memory))
    known = Known(server, ledger, ids, {pk: path for path, pk in ids.items()})
    server.memory["adaptive"] = known.ledger
    _hang_up(known, rows.named)
    return known


def standing_of(visit: Visit, known: Known, rows: Shown | None = None) -> OpenVisit:
    """The visit as it stands: what its fetches have shown, and what is left of its budget."""
    rows = rows or shown([visit])[visit.pk]
    state = OpenVisit(float(visit.number), float(visit.budget - visit.fetched), visit.weekly)
    for page, outcome, age, url in rows.checks:
        path = known.paths.get(page)
        if outcome in {Check.Outcome.GONE, Check.Outcome.MOVED}:
            state.gone.append(path_of(url))
        elif path is None or outcome == Check.Outcome.NEW:
            continue
        elif outcome == Check.Outcome.FAILED:
            state.failed.add(path)
        else:
            state.outcomes[path] = CheckOutcome(outcome == Check.Outcome.CHANGED, age)
    state.signals = _signals(visit, known, rows)
    return state


def _end(key: int, moves: dict[int, int]) -> int:
    """Where redirects lead, a few at most."""
    for _ in range(MOST_MOVES):
        if key not in moves:
            break
        key = moves[key]
    return key


def _hang_up(known: Known, named: Sequence[int]) -> None:
    """Let the top page lead to pages that a sitemap names and no copy links to."""
    server = known.server
    if server.top not in server.pages or not named:
        return
    linked = {target for page in server.pages.values() for target in page.links}
    pages = (known.paths.get(page) for page in named)
    alone = {path: None for path in pages if path is not None and path not in linked}
    alone.pop(server.top, None)
    if alone:
        top = server.pages[server.top]
        top.links = tuple(dict.fromkeys((*top.links, *alone)))


def _signals(visit: Visit, known: Known, rows: Shown) -> dict[str, dict[str, bool]]:
    """Of every source that this visit has read: pages with a time, and whether that is a new one."""
    found: dict[str, dict[str, bool]] = {}
    for source, read, page, since, fetched in rows.announced:
        if read >= visit.started and page in known.paths:
            # A page fetched in this very visit was announced if it was so before that fetch.
            new = since > fetched if fetched < visit.number else since == visit.number
            found.setdefault(source, {})[known.paths[page]] = new
    return found
