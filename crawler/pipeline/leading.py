"""Crawls that a query over the graph leads: what it answers is what they fetch next.

The paper's extract phase is a conjunctive query over the index, edited while a crawl runs (Harth, Umbrich and
Decker 2006, section 3.5). Here it is SPARQL or N3QL with joins, over all that is stored. It is asked of the
replica whenever that has taken over more, so that a fact of one document and a fact of another, read an hour
later, find an address together.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Max

from crawler.frontier.admission import Found, admit
from crawler.frontier.crawls import NOTHING_STORED
from crawler.frontier.models import Crawl
from crawler.pipeline.extract import AddressRules, link_class
from crawler.pipeline.models import CrawlLead, Document, UriFilter
from crawler.pipeline.prefixes import with_prefixes
from crawler.pipeline.sparql.replica import snapshot
from crawler.pipeline.sparql.run import QueryError, ask
from crawler.text.keys import digest
from crawler.text.marking import gettext_noop

RESULTS = "application/sparql-results+json"
SECONDS = 10
MAX_ROWS = 5_000
WEIGHT = 0.5
MAX_COURSE = 400
PATIENCE = timedelta(minutes=5)
"""For so long a crawl without URLs waits for the replica to take over what was read last."""


def addresses(query: str) -> dict[str, float]:
    """Return the addresses that a query names in the stored graph, with weights (0 to 1), highest first.

    They are the values of `?address`, or of the first variable; `?weight` is their score in the queue. Raises
    QueryError.
    """
    newest = snapshot()
    if newest is None:
        raise QueryError(NOTHING_STORED)
    response = ask(newest[0], with_prefixes(query), [RESULTS], seconds=SECONDS, rows=MAX_ROWS)
    content = json.loads(response.body)
    names = content.get("head", {}).get("vars", [])
    if "results" not in content or not names:
        raise QueryError(gettext_noop("the query names no addresses: begin it with SELECT ?address"))
    column = "address" if "address" in names else names[0]
    filtered = AddressRules(list(UriFilter.objects.filter(enabled=True)))
    weights: dict[str, float] = {}
    for row in content["results"]["bindings"]:
        term = row.get(column, {})
        if term.get("type") != "uri":
            continue
        address = filtered.usable(term["value"])
        if address:
            weights[address] = max(weights.get(address, 0.0), _weight(row.get("weight", {}).get("value")))
    return dict(sorted(weights.items(), key=lambda pair: -pair[1]))


def _weight(text: str | None) -> float:
    try:
        weight = float(text or WEIGHT)
    except ValueError:
        return WEIGHT
    return WEIGHT if math.isnan(weight) else min(max(weight, 0.0), 1.0)


def lead(pk: int) -> int:
    """Ask a running crawl's query if there is more to ask, and queue what it names. Returns the number of new
    addresses.

    A query that fails is named on the crawl's page and asked again when the graph has changed.
    """
    crawl = Crawl.objects.running().filter(pk=pk, into_graph=True).exclude(link_query="").first()
    newest = snapshot()
    if crawl is None or newest is None:
        return 0
    _, state = newest
    row, _ = CrawlLead.objects.get_or_create(crawl=crawl)
    query_digest = digest(crawl.link_query)
    if row.query == query_digest and state.change <= row.change:
        return 0
    failure, weights = "", {}
    try:
        weights = addresses(crawl.link_query)
    except QueryError as error:
        failure = str(error)[:500]
    with transaction.atomic():
        locked = Crawl.objects.select_for_update().running().filter(pk=pk).first()
        if locked is None:
            return 0
        links = [Found(url, link_class(crawl.seeds[0], url), weight, 1) for url, weight in weights.items()]
        course = row.course if failure else _extended(row.course, locked.requests, len(weights))
        before = locked.urls.count()
        admit(locked, links, datetime.now(UTC))
        new = locked.urls.count() - before
        CrawlLead.objects.filter(pk=row.pk).update(
            query=query_digest,
            change=state.change,
            seen=state.at,
            found=len(weights),
            failure=failure,
            course=course,
        )
    return new


def _extended(course: list[list[int]], requests: int, address_count: int) -> list[list[int]]:
    """Return the course with an answer more, if it is another than the last; thinned where it is long."""
    if course and course[-1][1] == address_count:
        return course
    course = [*course, [requests, address_count]]
    return course if len(course) <= MAX_COURSE else [*course[:-1:2], course[-1]]


def may_find_more(crawl: Crawl, now: datetime) -> bool:
    """Return whether the query of a crawl was not yet asked of all that the crawl has read."""
    if not crawl.link_query:
        return False
    newest = Document.objects.filter(crawl=crawl).aggregate(at=Max("changed"))["at"]
    began = newest or crawl.created
    if now - began > PATIENCE:
        return False
    row = CrawlLead.objects.filter(crawl=crawl).first()
    if row is None or row.query != digest(crawl.link_query):
        return True
    return newest is not None and (row.seen is None or row.seen < newest)


def led_crawls() -> list[int]:
    """Return the running crawls that a query leads."""
    led = Crawl.objects.running().filter(into_graph=True).exclude(link_query="")
    return list(led.values_list("pk", flat=True))
