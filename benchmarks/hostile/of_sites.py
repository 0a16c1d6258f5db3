"""Watched sites: mapped, visited, and what tells of their news."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchmarks.hostile.documents import Content
from benchmarks.hostile.kind import GOOD, Cell, Kind, Seen, World, document, healthy, named_on_page
from benchmarks.hostile.of_crawls import crawled
from benchmarks.hostile.poisons import Poison
from benchmarks.hostile.server import Answer


def watched_site(world: World, cell: Cell) -> dict[str, Answer]:
    """A top page that links to all, and a sitemap and a feed that tell of them."""
    kind = cell.kind
    pages = list(dict.fromkeys([*([kind.path] if kind.shape == "page" else []), *GOOD]))
    origin = world.server.origin(cell.address)
    answers = {path: healthy(world, cell, "page", path, ["/"]) for path in pages}
    answers["/sitemap.xml"] = healthy(world, cell, "sitemap", "/sitemap.xml", pages)
    answers["/feed"] = healthy(world, cell, "feed", "/feed", pages)
    top = document("page", origin, "/", Content(f"Top of {cell.address}"), pages)
    link = b'<link rel="alternate" type="application/rss+xml" href="/feed"></head>'
    answers["/"] = Answer(lambda: top.replace(b"</head>", link, 1), "text/html; charset=utf-8")
    return answers


def chosen_pages(world: World, cell: Cell) -> dict[str, Answer]:
    """Pages of which none leads to another."""
    paths = [cell.kind.path, *GOOD]
    return {path: healthy(world, cell, cell.kind.shape, path) for path in paths}


def begin_lists(world: World, kind: Kind, cells: Sequence[Cell]) -> None:
    """Watch the poisoned page and its neighbours as a list, in a browser where the kind has one."""
    for cell in cells:
        pages = [world.url(cell, path) for path in (kind.path, *GOOD)]
        in_browser = kind.shape == "app"
        world.api.post("/api/sites/", kind="pages", pages=pages, title=cell.address, browser=in_browser)


def look_at_lists(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    """What the first reading of a list has shown."""
    sites, pages = {row["title"]: row for row in world.rows("/api/sites/")}, _site_pages(world)
    found = {}
    for cell in cells:
        seen = found[cell] = Seen(missing=GOOD)
        site, page = sites.get(cell.address), pages.get(world.url(cell, kind.path))
        if site is None or page is None:
            continue
        seen.missing = tuple(path for path in GOOD if not _live(pages.get(world.url(cell, path))))
        seen.failure, seen.stored = page["failure"], _live(page)
        seen.page, seen.said = f"/sites/{site['id']}/pages/{page['id']}/", page
    return found


def for_browsers(kind: Kind, poison: Poison) -> bool:
    """Whether a poison is one for browsers: each of its cells takes a browser some seconds."""
    return poison.bodies is not None and "app" in poison.bodies


def begin_sites(world: World, kind: Kind, cells: Sequence[Cell]) -> None:
    for cell in cells:
        world.api.post("/api/sites/", url=world.url(cell, "/"), budget=1.0, method="breadth-first")


def _sites(world: World) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in world.rows("/api/sites/")}


def _site_pages(world: World) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in world.rows("/api/pages/")}


def look_at_mapping(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    """A page comes when it is settled; one that is tried again is but a URL of the crawl until then."""
    sites, pages = _sites(world), _site_pages(world)
    found = {}
    for cell in cells:
        site, page = sites.get(world.url(cell, "/")), pages.get(world.url(cell, kind.path))
        seen = found[cell] = Seen()
        seen.missing = tuple(path for path in GOOD if not _live(pages.get(world.url(cell, path))))
        if site is None:
            seen.trouble = "the site is not there"
            continue
        seen.page = f"/crawls/{site['crawl']}/urls/"
        row = (
            {} if page or seen.missing else crawled(world, site["crawl"]).get(world.url(cell, kind.path), {})
        )
        seen.stored = _live(page) or bool(page and page["state"] == "moved")
        seen.failure = (page or row).get("failure", "")
        seen.said = [site, row, page]
    return found


def _live(row: dict[str, Any] | None) -> bool:
    return row is not None and row["state"] == "live"


def visit(world: World, cell: Cell) -> None:
    """The poison is out: let the next visit begin."""
    world.api.post(f"/api/sites/{_sites(world)[world.url(cell, '/')]['id']}/visit-now/")


def _checked(row: dict[str, Any] | None) -> bool:
    """Whether a page was fetched again after the mapping."""
    return row is not None and row["checks"] > 0


def look_at_watched(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    """What the visit after the mapping has shown."""
    sites, pages = _sites(world), _site_pages(world)
    found = {}
    for cell in cells:
        seen = found[cell] = Seen(missing=GOOD)
        site, page = sites.get(world.url(cell, "/")), pages.get(world.url(cell, kind.path))
        if site is None or page is None or site["state"] != "watched":
            continue
        seen.ready = True
        seen.missing = tuple(path for path in GOOD if not _checked(pages.get(world.url(cell, path))))
        seen.failure = page["failure"]
        seen.stored = not seen.failure and (_checked(page) or page["state"] in {"moved", "gone"})
        seen.page, seen.said = f"/sites/{site['id']}/pages/{page['id']}/", page
    return found


def look_at_sources(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    """What the site's page says of its sitemaps and feeds, once a visit has gone on to the pages."""
    sites, pages = _sites(world), _site_pages(world)
    found = {}
    for cell in cells:
        seen = found[cell] = Seen(missing=GOOD)
        site = sites.get(world.url(cell, "/"))
        if site is None or site["state"] != "watched":
            continue
        seen.ready = True
        seen.missing = tuple(path for path in GOOD if not _checked(pages.get(world.url(cell, path))))
        if seen.missing or not world.sent(cell):
            continue
        detail = world.api.get(f"/api/sites/{site['id']}/")
        seen.page, seen.said = f"/sites/{site['id']}/", detail
        shown = world.api.page(seen.page).body.decode("utf-8", "replace")
        told = re.search(
            re.escape(world.url(cell, kind.path)) + r":\s+(read\s)?([a-z0-9. -]*)", shown, re.IGNORECASE
        )
        if told:
            seen.stored = bool(told[1])
            seen.failure = "" if told[1] else named_on_page(told[2])
        seen.named = "sources" in detail
    return found
