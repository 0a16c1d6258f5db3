"""A site's rows as what methods decide on: the server as it is known, and a visit as it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crawler.rows import select_rows
from recrawl import knowledge, memory
from recrawl.methods.belief import Ledger
from recrawl.models import Announcement, Check, Page, Site, Source, Visit, key_of, path_of

MOST_MOVES = 5


@dataclass(slots=True)
class Known:
    """A site's live pages as a server, and their primary keys by path; methods name pages by path."""

    server: knowledge.Server
    ledger: Ledger
    ids: dict[str, int] = field(default_factory=dict)

    @property
    def paths(self) -> dict[int, str]:
        """Paths by primary key."""
        return {key: path for path, key in self.ids.items()}


def known_of(site: Site) -> Known:
    """All that is known of a site. Pages that only a sitemap names count as linked from the top page."""
    live: dict[int, tuple[str, int, list[int], int, int, int]] = {}
    moves: dict[int, int] = {}
    start = len(site.origin)
    for key, pk, url, state, links, leads_to, fetched_in, checks, changes in _rows(site):
        if state == Page.State.LIVE:
            live[key] = (url[start:], pk, links, fetched_in, checks, changes)
        elif leads_to:
            moves[key] = key_of(leads_to)
    paths = {key: row[0] for key, row in live.items()}
    for key in moves:
        target = _end(key, moves)
        if target in paths:
            paths.setdefault(key, paths[target])
    top = paths.get(key_of(site.url), site.url[start:])
    server = knowledge.Server(top)
    ids = {}
    for path, pk, links, fetched_in, checks, changes in live.values():
        targets = tuple(dict.fromkeys(paths[link] for link in links if link in paths))
        server.pages[path] = knowledge.Page(targets, float(fetched_in), checks, changes)
        ids[path] = pk
    known = Known(server, memory.unpacked(bytes(site.memory)), ids)
    server.memory["adaptive"] = known.ledger
    _hang_up(site, known)
    return known


def standing_of(visit: Visit, known: Known) -> knowledge.Visit:
    """The visit as it stands: what its fetches have shown, and what is left of its budget."""
    state = knowledge.Visit(float(visit.number), float(visit.budget - visit.fetched), visit.weekly)
    paths = known.paths
    checks = Check.objects.filter(visit=visit).values_list("page_id", "outcome", "age", "page__url")
    for page, outcome, age, url in checks:
        path = paths.get(page)
        if outcome in {Check.Outcome.GONE, Check.Outcome.MOVED}:
            state.gone.append(path_of(url))
        elif path is None or outcome == Check.Outcome.NEW:
            continue
        elif outcome == Check.Outcome.FAILED:
            state.failed.add(path)
        else:
            state.outcomes[path] = knowledge.Outcome(outcome == Check.Outcome.CHANGED, age)
    state.signals = _signals(visit, known)
    return state


def _rows(site: Site) -> list[tuple[Any, ...]]:
    rows = Page.objects.filter(site=site, state__in=[Page.State.LIVE, Page.State.MOVED])
    columns = ("key", "id", "url", "state", "links", "leads_to", "fetched_in", "checks", "changes")
    return select_rows(rows.order_by("id").values_list(*columns))


def _end(key: int, moves: dict[int, int]) -> int:
    """Where redirects lead, a few at most."""
    for _ in range(MOST_MOVES):
        if key not in moves:
            break
        key = moves[key]
    return key


def _hang_up(site: Site, known: Known) -> None:
    """Let the top page lead to pages that a sitemap names and no copy links to."""
    server = known.server
    if server.top not in server.pages or not site.sources.filter(kind=Source.Kind.SITEMAP).exists():
        return
    linked = {target for page in server.pages.values() for target in page.links}
    named = Announcement.objects.filter(source__site=site, source__kind=Source.Kind.SITEMAP)
    paths = known.paths
    pages = (paths.get(page) for page in named.order_by("page_id").values_list("page_id", flat=True))
    alone = {path: None for path in pages if path is not None and path not in linked}
    alone.pop(server.top, None)
    if alone:
        top = server.pages[server.top]
        top.links = tuple(dict.fromkeys((*top.links, *alone)))


def _signals(visit: Visit, known: Known) -> dict[str, dict[str, bool]]:
    """Of every source that this visit has read: pages with a time, and whether that is a new one."""
    found: dict[str, dict[str, bool]] = {}
    paths = known.paths
    read = visit.site.sources.filter(usable=True, failure="", read__gte=visit.started)
    rows = Announcement.objects.filter(source__in=read).exclude(stamp="")
    for source, page, since, fetched in rows.values_list(
        "source__url", "page_id", "since", "page__fetched_in"
    ):
        if page in paths:
            # A page fetched in this very visit was announced if it was so before that fetch.
            new = since > fetched if fetched < visit.number else since == visit.number
            found.setdefault(source, {})[paths[page]] = new
    return found
