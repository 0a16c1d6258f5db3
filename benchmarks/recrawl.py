"""Planning a week of many sites: what is known is read from PostgreSQL, every round of every visit decided.

    python -m benchmarks.recrawl [--sites 10000] [--pages 100]

Sites with links and a memory of some visits, in an embedded PostgreSQL of its own. A plan of a site is its
begin, its rows as knowledge, each round of its method with the answers put in between, what it learns, and
the memory written back; in as many processes as there are processors, as controllers do it. No fetches.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database
from benchmarks.processes import PeakMemory

TEMPLATES = 20
BUDGET = 0.25
CHANGED = 0.1
"""The share of pages that a fetch finds changed."""
COPY_SITES = """
    INSERT INTO recrawl_site (url, host_id, key, state, next_visit, visited, memory, {same})
    SELECT 'https://site' || n || '.example/', n, 'key' || n, 'watched', now(), 5, first.memory, {same}
    FROM generate_series(%s, %s) AS n
    JOIN recrawl_site AS first ON first.id = 1 + n %% {templates}
"""
COPY_PAGES = """
    INSERT INTO recrawl_page (site_id, url, {same})
    SELECT site.id,
        replace(page.url, 'https://site' || page.site_id || '.', 'https://site' || site.id || '.'), {same}
    FROM recrawl_site AS site JOIN recrawl_page AS page ON page.site_id = 1 + site.id %% {templates}
    WHERE site.id > {templates}
"""


def main() -> None:
    """Fill a database, plan all sites, print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--method", default="adaptive")
    options = parser.parse_args()
    with own_database("recrawl"):
        started = time.perf_counter()
        _fill(options.sites, options.pages, options.method)
        print(f"{options.sites * options.pages} pages in {time.perf_counter() - started:.0f} s", flush=True)
        from django.db import connection

        connection.close()
        cast(Any, connection).close_pool()  # its threads would not be there after a fork
        workers = os.cpu_count() or 1
        with PeakMemory(os.getpid()) as memory, ProcessPoolExecutor(workers, initializer=_loaded) as pool:
            started = time.perf_counter()
            parts = [range(1 + at, options.sites + 1, 8 * workers) for at in range(8 * workers)]
            fetched, rounds = map(sum, zip(*pool.map(_plan, parts), strict=True))
            took = time.perf_counter() - started
        print(
            f"{options.sites} sites planned in {took:.1f} s by {workers} processes: {fetched} fetches "
            f"in {rounds} rounds; {memory.peak / 1e6:.0f} MB at most, PostgreSQL included"
        )


def _loaded() -> None:
    """What a worker's pool process does when it starts (`crawler.celery`)."""
    from crawler.isolation.memory import keep_what_is_loaded

    keep_what_is_loaded()


def _plan(sites: range) -> tuple[int, int]:
    """Fetches and rounds of these sites."""
    from datetime import UTC, datetime

    from django.db import transaction

    from crawler.database.bulk import update_rows
    from recrawl.methods.adaptive import Adaptive
    from recrawl.models import Site
    from recrawl.visiting import visits
    from recrawl.visiting.stored_server import knowledge_of, read_site_rows, read_visit_rows, standing_of

    dice = random.Random(sites.start)
    begun = visits.begin(sites, datetime.now(UTC))
    if len(begun) < len(sites):
        raise RuntimeError(f"{len(sites) - len(begun)} sites are not due")
    fetched = rounds = 0
    for batch in visits.batches(begun):
        with transaction.atomic():
            locked = visits.lock(batch)
            site_rows = read_site_rows([visit.site_id for visit in locked])
            visit_rows = read_visit_rows(locked)
            for visit in locked:
                knowledge = knowledge_of(visit.site, site_rows.pop(visit.site_id))
                standing = standing_of(visit, knowledge, visit_rows[visit.pk])
                while pages := visits.following(visit.method, knowledge.server, standing):
                    rounds += 1
                    fetched += len(pages)
                    standing.budget -= len(pages)
                    for path in pages:
                        links = knowledge.server.pages[path].links
                        changed = dice.random() < CHANGED
                        standing.outcomes[path] = knowledge.server.fetched(path, changed, links, standing.now)
                Adaptive().finish(knowledge.server, standing)
                visits.remember(visit, knowledge)
            update_rows(Site, [visit.site for visit in locked], visits.LEARNED_FIELDS)
    return fetched, rounds


def _fill(sites: int, pages: int, method: str) -> None:
    from django.db import connection
    from django.utils import timezone

    from crawler.engine.models import Host
    from recrawl.models import Site, WatchedPage, key_of

    dice = random.Random(3)
    Host.objects.bulk_create([Host(name=f"site{n}.example") for n in range(1, sites + 1)], batch_size=5000)
    hosts = list(Host.objects.order_by("id").values_list("id", flat=True))
    for number in range(1, TEMPLATES + 1):
        top = f"https://site{number}.example/"
        paths = [f"{'abcdefgh'[at % 8]}/{at if at >= 8 else ''}" for at in range(pages - 1)]
        urls = [top, *(f"{top}{path}" for path in paths)]
        site = Site.objects.create(
            url=top, host_id=hosts[number - 1], state="watched", method=method, budget=BUDGET, visited=5,
            next_visit=timezone.now(), memory=_learned(paths, dice).packed(),
        )  # fmt: skip
        WatchedPage.objects.bulk_create(
            WatchedPage(
                site=site, url=url, key=key_of(url), state="live", size=20_000, fetched=timezone.now(),
                fetched_in=dice.randint(0, 5), checks=3, changes=dice.randint(0, 1), content=None,
                links=[key_of(target) for target in dice.sample(urls, min(20, len(urls)))],
            )
            for url in urls
        )  # fmt: skip
    same = _columns(Site, {"id", "url", "host_id", "key", "state", "next_visit", "visited", "memory"})
    with connection.cursor() as cursor:
        first = ", ".join(f"first.{name}" for name in same.split(", "))
        statement = COPY_SITES.format(same=same, templates=TEMPLATES).replace(
            f"first.memory, {same}", f"first.memory, {first}"
        )
        cursor.execute(statement, [TEMPLATES + 1, sites])
        same = _columns(WatchedPage, {"id", "site_id", "url"})
        page = ", ".join(f"page.{name}" for name in same.split(", "))
        statement = COPY_PAGES.format(same=same, templates=TEMPLATES)
        head, select = statement.split("SELECT", 1)
        cursor.execute((head + "SELECT" + select.replace(same, page)).replace("%%", "%"))
        cursor.execute("ANALYZE")


def _learned(paths: list[str], dice: random.Random) -> Any:
    """What is known after five visits to such a site."""
    from recrawl.methods.adaptive import Adaptive
    from recrawl.visiting.known_server import KnownServer, OpenVisit

    every = ["/", *(f"/{path}" for path in paths)]
    server = KnownServer("/")
    for path in every:
        server.store(path, dice.sample(every, min(20, len(every))), 0.0)
    method = Adaptive()
    for number in range(1, 6):
        visit = OpenVisit(float(number), BUDGET * len(every), BUDGET * len(every))
        for path in ["/", *dice.sample(every, int(visit.budget))]:
            links = server.pages[path].links
            visit.outcomes[path] = server.fetched(path, dice.random() < CHANGED, links, visit.now)
        method.finish(server, visit)
    return server.memory["adaptive"]


def _columns(model: Any, without: set[str]) -> str:
    names = {str(field.column) for field in model._meta.concrete_fields}
    defaults = {str(field.column) for field in model._meta.concrete_fields if field.has_db_default()}
    return ", ".join(sorted(names - without - defaults))


if __name__ == "__main__":
    main()
