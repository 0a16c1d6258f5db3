"""URLs of crawls, robots.txt, documents of the pipeline, and questions to the graph."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from benchmarks.hostile.documents import Content
from benchmarks.hostile.kind import GOOD, Cell, Kind, Seen, World, healthy
from benchmarks.hostile.of_feeds import add_feeds, full
from benchmarks.hostile.poisons import Poison
from benchmarks.hostile.server import Answer


def pages_site(world: World, cell: Cell) -> dict[str, Answer]:
    return {path: healthy(world, cell, "page", path) for path in (cell.kind.path, *GOOD)}


def begin_crawl(world: World, kind: Kind, cells: Sequence[Cell], **options: Any) -> None:
    """One crawl for all hosts, so that they share its fate."""
    paths = GOOD if kind.shape == "robots" else (kind.path, *GOOD)
    seeds = [world.url(cell, path) for cell in cells for path in paths]
    made = world.api.post("/api/crawls/", seeds=seeds, max_depth=0, **options)
    world.crawls[kind.name] = made["id"]


def crawled(world: World, crawl: int) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in world.rows(f"/api/crawls/{crawl}/urls/")}


def fetched(row: dict[str, Any] | None) -> bool:
    return row is not None and row["state"] in {"crawled", "moved"}


def look_at_crawl(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    crawl = world.crawls[kind.name]
    rows = crawled(world, crawl)
    found = {}
    for cell in cells:
        row = rows.get(world.url(cell, kind.path))
        missing = tuple(path for path in GOOD if not fetched(rows.get(world.url(cell, path))))
        page = f"/crawls/{crawl}/urls/?host={cell.address}"
        found[cell] = Seen(fetched(row), (row or {}).get("failure", ""), missing, said=row, page=page)
    return found


def robots_site(world: World, cell: Cell) -> dict[str, Answer]:
    pages = {path: healthy(world, cell, "page", path) for path in (*GOOD, "/good-3", "/good-4")}
    return {"/feed": healthy(world, cell, "feed", "/feed", ("/good-3", "/good-4")), **pages}


def begin_robots(world: World, kind: Kind, cells: Sequence[Cell]) -> None:
    begin_crawl(world, kind, cells, sitemaps=True)
    add_feeds(world, ("/feed",), cells)


def look_at_robots(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    """What cannot be read keeps everything out, by a name; else everything is there."""
    crawl = world.crawls[kind.name]
    rows = crawled(world, crawl)
    articles = {row["url"]: row for row in world.rows("/api/articles/")}
    found = {}
    for cell in cells:
        mine = {path: rows.get(world.url(cell, path)) for path in GOOD}
        failures = {path: (row or {}).get("failure", "") for path, row in mine.items()}
        seen = found[cell] = Seen(page=f"/crawls/{crawl}/urls/?host={cell.address}", said=mine)
        seen.stored = all(map(fetched, mine.values()))
        if not seen.stored and "robots" in failures.values():
            seen.failure = "robots"
            seen.missing = tuple(path for path in GOOD if not failures[path] and not fetched(mine[path]))
            continue
        wanted = ("/good-3", "/good-4")
        seen.missing = tuple(path for path in GOOD if not fetched(mine[path]))
        seen.missing += tuple(path for path in wanted if not full(articles.get(world.url(cell, path))))
    return found


def begin_documents(world: World, kind: Kind, cells: Sequence[Cell]) -> None:
    begin_crawl(world, kind, cells, into_graph=True)


def look_at_documents(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    crawl = world.crawls[kind.name]
    documents = {row["url"]: row for row in world.rows("/api/documents/", crawl=crawl)}
    rows = crawled(world, crawl)
    found = {}
    for cell in cells:
        seen = found[cell] = Seen()
        seen.missing = tuple(
            path for path in GOOD if documents.get(world.url(cell, path), {}).get("state") != "done"
        )
        row, url = documents.get(world.url(cell, kind.path)), rows.get(world.url(cell, kind.path)) or {}
        if row is not None:
            seen.stored, seen.failure = row["state"] == "done", row["failure"]
            seen.page, seen.said = f"/pipeline/documents/?failure={row['failure']}", row
        else:
            seen.stored = url.get("state") == "moved"
            seen.failure = url.get("failure", "")
            seen.page, seen.said = f"/crawls/{crawl}/urls/?host={cell.address}", url
    return found


_TITLES = b"SELECT ?s WHERE { ?s <http://purl.org/dc/terms/title> ?t }"


def _titled(world: World) -> set[str]:
    """Addresses of documents that SPARQL knows by a title."""
    name = "titles of the graph"
    if name not in world._lists:
        reply = world.api.ask(_TITLES)
        rows = reply.json()["results"]["bindings"] if reply.status == 200 else []
        world._lists[name] = [{"url": row["s"]["value"]} for row in rows]
    return {row["url"] for row in world._lists[name]}


def _question(world: World, cell: Cell) -> bytes:
    """The poison's own, or one with its words or its address in it."""
    poison = cell.poison
    if poison.query:
        query = poison.query if isinstance(poison.query, bytes) else poison.query.encode()
        return query.replace(b"{service}", world.url(cell, "/service").encode())
    if poison.content.link is not None:
        return b"SELECT * { <" + poison.content.link.encode("utf-8", "surrogatepass") + b"> ?p ?o }"
    words = poison.content.words
    raw = words if isinstance(words, bytes) else words.encode("utf-8", "surrogatepass")
    return b'SELECT ?s { ?s ?p "' + raw + b'" }'


def ask(world: World, cell: Cell) -> None:
    """Ask, and keep what came back: an answer, or a refusal with its reason."""

    def ask() -> None:
        try:
            reply = world.api.ask(_question(world, cell))
            told = "" if reply.status == 200 else str(reply.json().get("error") or reply.json())
            world.replies[cell] = f"{reply.status} {told}"
        except (OSError, ValueError, AttributeError) as error:
            world.replies[cell] = f"no answer: {error}"

    threading.Thread(target=ask, daemon=True).start()


def look_at_answers(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    titled = _titled(world)
    documents = {row["url"]: row for row in world.rows("/api/documents/", crawl=world.crawls[kind.name])}
    found = {}
    for cell in cells:
        seen = found[cell] = Seen()
        seen.missing = tuple(path for path in GOOD if world.url(cell, path) not in titled)
        row = documents.get(world.url(cell, kind.path), {})
        seen.ready = (not row or row["state"] in {"done", "dead"}) and not seen.missing
        reply = world.replies.get(cell, "")
        seen.stored = reply[:3] in {"200", "400", "503"} and bool(reply[3:].strip() or reply[:3] == "200")
        if reply and not seen.stored:
            seen.trouble = f"the query was answered with {reply[:200]}"
        if world.server.requests(cell.address, "/service"):
            seen.trouble = "the query's SERVICE was asked"
        seen.said = reply
    return found


def askable(kind: Kind, poison: Poison) -> bool:
    usual = Content()
    return bool(poison.query) or poison.content.words != usual.words or poison.content.link is not None
