"""Sites' links to each other by week: of the pages that were fetched within it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from urllib.parse import quote

from django.db import connection

from articles.things.derived.weeks import CalendarWeek
from articles.things.people import site_of
from crawler.pipeline.index import Terms, context_of
from crawler.pipeline.models import Document
from crawler.pipeline.prefixes import expanded, number
from crawler.pipeline.store import quads
from crawler.pipeline.terms import Kind, Term, iri

NAME = "urn:freshet:links:{week}"
MAX_PAIRS = 10_000
"""Pairs of sites in a week's graph: those with most links."""
DOCUMENTS_AT_ONCE = 500


def links_graph(week: CalendarWeek) -> Terms:
    """Return the statements about a week: for each pair of sites the links, and the pages that have them.

    A document is of the week of its last change: what the stored graph of the week has more of was of pages
    that changed later, and stays.
    """
    stored_links, stored_pages = _stored(week)
    links: Counter[tuple[str, str]] = Counter()
    pages: Counter[tuple[str, str]] = Counter()
    for site, targets in _pages_with_links(week):
        pairs = Counter((site, target) for target in targets if target and target != site)
        links.update(pairs)
        pages.update(pairs.keys())
    links, pages = links | stored_links, pages | stored_pages
    statements: Terms = []
    for (site, target), count in sorted(links.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_PAIRS]:
        node = iri(f"urn:freshet:link:{week}:{quote(site)}:{quote(target)}")
        statements += [
            (node, expanded("rdf:type"), expanded("freshet:LinksOfWeek")),
            (node, expanded("freshet:week"), Term(Kind.LITERAL, str(week))),
            (node, expanded("freshet:from"), site_node(site)),
            (node, expanded("freshet:to"), site_node(target)),
            (node, expanded("freshet:links"), number(count)),
            (node, expanded("freshet:pages"), number(pages[site, target])),
        ]
    return statements


def _stored(week: CalendarWeek) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return links and pages of the graph that a week has already, by pairs of sites."""
    rows: dict[Term, dict[str, str]] = {}
    for quad in quads(context=iri(NAME.format(week=week)), limit=10 * MAX_PAIRS):
        rows.setdefault(quad.subject, {})[quad.predicate.value] = quad.object.value
    links: Counter[tuple[str, str]] = Counter()
    pages: Counter[tuple[str, str]] = Counter()
    source, target, own_links, own_pages = (
        expanded(f"freshet:{name}").value for name in ("from", "to", "links", "pages")
    )
    for row in rows.values():
        if {source, target, own_links, own_pages} <= row.keys():
            pair = site_of(row[source]), site_of(row[target])
            links[pair], pages[pair] = int(row[own_links]), int(row[own_pages])
    return links, pages


def site_node(site: str) -> Term:
    """Return the term of a site: the address of its front page, without "www."."""
    return iri(f"http://{quote(site, safe=':')}/")


def _pages_with_links(week: CalendarWeek) -> Iterator[tuple[str, list[str]]]:
    """Yield for each document of the week its site and the sites of its links."""
    documents = Document.objects.filter(fetched__gte=week.start, fetched__lt=week.end, quads__gt=0)
    rows = documents.order_by("id").only("url")
    sites: dict[int, str] = {}
    for row in rows.iterator(chunk_size=DOCUMENTS_AT_ONCE):
        sites[context_of(row).key()] = site_of(row.url)
        if len(sites) == DOCUMENTS_AT_ONCE:
            yield from _targets(sites)
            sites = {}
    yield from _targets(sites)


def _targets(sites: dict[int, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the site of each document and the sites that it links to."""
    if not sites:
        return
    targets: dict[int, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT quad.c, term.value
            FROM pipeline_quad AS quad JOIN pipeline_term AS term ON term.id = quad.o
            WHERE quad.c = ANY(%s) AND quad.p = %s AND term.kind = 0
            """,
            [list(sites), expanded("sioc:links_to").key()],
        )
        for context, address in cursor:
            targets.setdefault(context, []).append(site_of(address))
    for context, linked_sites in targets.items():
        yield sites[context], linked_sites
