"""The extract phase: finds further addresses in the graph, and filters them."""

from __future__ import annotations

import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db import connection, transaction
from django.db.models import F

from crawler.database.bulk import update_rows
from crawler.fetching.http.domains import host_of, registrable_domain
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.frontier.admission import Found, admit
from crawler.frontier.budgets import without_session
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.pipeline.documents import State, note
from crawler.pipeline.index import context_of
from crawler.pipeline.messages import PhaseOutcome
from crawler.pipeline.models import Document, LinkQuery, UriFilter
from crawler.pipeline.terms import Kind, iri
from crawler.text.patterns import PatternAllowance, compiled

MAX_OF_DOCUMENT = 2_000


@dataclass(slots=True)
class Extracted:
    """The addresses found in documents with their highest weights, and the hits of each query and filter."""

    found: dict[int, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    queries: Counter[int] = field(default_factory=Counter)
    filters: Counter[int] = field(default_factory=Counter)
    denied: int = 0


class AddressRules:
    """Rules on addresses, with the hits of each and the number of addresses that they denied."""

    def __init__(self, filters: Sequence[UriFilter]) -> None:
        self._rules = [(compiled(url_filter.pattern), url_filter) for url_filter in filters]
        self._allowance = PatternAllowance()
        self.filters: Counter[int] = Counter()
        self.denied = 0

    def usable(self, value: str) -> str:
        """Return the canonical address of the web that a term stands for, "" for another or a denied one."""
        address = _address(value)
        return address if address and self.are_wanted(address) else ""

    def are_wanted(self, address: str) -> bool:
        """Return whether an address may be queued."""
        for pattern, rule in self._rules:
            if self._allowance.found_in(pattern, address):
                self.filters[rule.pk] += 1
                self.denied += not rule.allow
                return rule.allow
        return True


def extracted(
    contexts: dict[int, int], queries: Sequence[LinkQuery], filters: Sequence[UriFilter]
) -> Extracted:
    """Run the queries on these graphs, `contexts` by document, without queueing anything."""
    result = Extracted()
    of_predicate: dict[int, list[LinkQuery]] = defaultdict(list)
    for query in queries:
        for name in query.predicates:
            of_predicate[iri(name).key()].append(query)
    documents = {context: document for document, context in contexts.items()}
    addresses = AddressRules(filters)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT DISTINCT quad.c, quad.p, term.value FROM pipeline_quad AS quad
            JOIN pipeline_term AS term ON term.id = quad.o
            WHERE quad.c = ANY(%s) AND quad.p = ANY(%s) AND term.kind = %s
            """,
            [list(documents), list(of_predicate), int(Kind.IRI)],
        )
        rows = cursor.fetchall()
    for context, predicate, value in rows:
        weights = result.found[documents[context]]
        for query in of_predicate[predicate]:
            result.queries[query.pk] += 1
        address = _address(value)
        # A page of a hundred thousand links (a calendar) would fill the crawl's queue alone; the first are
        # kept.
        if not address or (address not in weights and len(weights) >= MAX_OF_DOCUMENT):
            continue
        if not addresses.are_wanted(address):
            continue
        weight = max(query.weight for query in of_predicate[predicate])
        weights[address] = max(weight, weights.get(address, 0.0))
    result.filters, result.denied = addresses.filters, addresses.denied
    return result


@transaction.atomic
def extract(lease: uuid.UUID, worker: str) -> int:
    """Queue addresses from the graphs under this lease in their crawls. Returns the number of documents."""
    began = time.perf_counter()
    rows = list(Document.objects.select_for_update().filter(lease=lease, state=State.INDEXED).order_by("id"))
    result = extracted(
        {row.pk: context_of(row).key() for row in rows},
        list(LinkQuery.objects.filter(enabled=True)),
        list(UriFilter.objects.filter(enabled=True)),
    )
    _feed(rows, result)
    now = datetime.now(UTC)
    for row in rows:
        row.links = len(result.found.get(row.pk, ()))
        row.state, row.lease, row.leased_until, row.losses, row.changed = State.DONE, None, None, 0, now
    update_rows(Document, rows, ["links", "state", "lease", "leased_until", "losses", "changed"])
    for model, hits in ((LinkQuery, result.queries), (UriFilter, result.filters)):
        # In one order: two workers count hits of the same rules at the same time.
        for key, count in sorted(hits.items()):
            model.objects.filter(pk=key).update(hits=F("hits") + count)
    each = (time.perf_counter() - began) / max(len(rows), 1)
    note("extract", worker, [PhaseOutcome(row.pk, seconds=each) for row in rows])
    return len(rows)


def _feed(rows: Sequence[Document], result: Extracted) -> None:
    """Queue the addresses in those of the crawls that still run and fill the graph."""
    by_crawl: dict[int, list[Document]] = defaultdict(list)
    for row in rows:
        if row.crawl_id is not None:
            by_crawl[row.crawl_id].append(row)
    # By id, the order in which crawls are locked.
    for key, documents in sorted(by_crawl.items()):
        led = {"into_graph": True, "link_query": ""}  # others ask a query of their own (`leading`)
        crawl = Crawl.objects.select_for_update().running().filter(pk=key, **led).first()
        if crawl is None:
            continue
        links = [
            Found(address, link_class(row.url, address), weight, row.depth + 1)
            for row in documents
            for address, weight in sorted(result.found.get(row.pk, {}).items(), key=lambda pair: -pair[1])
        ]
        admit(crawl, links, datetime.now(UTC))


def link_class(page: str, address: str) -> str:
    """Return the class of a link between two addresses."""
    is_internal = registrable_domain(host_of(page)) == registrable_domain(host_of(address))
    return (CrawlUrl.Link.INTRA if is_internal else CrawlUrl.Link.INTER).value


def _address(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        return ""
    try:
        return without_session(canonical_url(value))
    except BadUrl:
        return ""
