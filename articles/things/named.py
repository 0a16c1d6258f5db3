"""Names of people and organisations in articles, from the derived graphs of mentions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

from articles.things.derived.mentions import PREDICATE
from articles.things.derived.names import GRAPH, name_node
from articles.things.gazetteer import ORGANISATION, PERSON
from crawler.pipeline.prefixes import expanded
from crawler.pipeline.store import quads
from crawler.pipeline.terms import iri, safe

MAX_NAMED = 12
MAX_ARTICLES = 200
"""Articles whose names are counted."""


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A person or an organisation that articles name: kind, name, and the number of these articles."""

    kind: str
    name: str
    articles: int


@dataclass(frozen=True, slots=True)
class KnownOrganisation:
    """An organisation that documents in the graph describe: its name and its addresses."""

    name: str
    addresses: list[str]


def named_in(addresses: Iterable[str]) -> list[NamedThing]:
    """Return the names in the articles at these addresses, those in most articles first."""
    keys = [iri(safe(address)).key() for address in list(addresses)[:MAX_ARTICLES] if address]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT node.value, min(name.value), count(DISTINCT said.s)
            FROM pipeline_quad AS said JOIN pipeline_term AS node ON node.id = said.o
            JOIN pipeline_term AS graph ON graph.id = said.c AND graph.value LIKE 'urn:freshet:mentions:%%'
            JOIN pipeline_quad AS named ON named.s = said.o AND named.c = said.c AND named.p = %s
            JOIN pipeline_term AS name ON name.id = named.o
            WHERE said.p = %s AND said.s = ANY(%s) AND node.value LIKE 'urn:freshet:name:%%'
            GROUP BY node.value ORDER BY 3 DESC, 2 LIMIT %s
            """,
            [expanded("foaf:name").key(), PREDICATE.key(), keys, MAX_NAMED],
        )
        return [NamedThing(node.split(":")[3], name, count) for node, name, count in cursor.fetchall()]


def known_person(name: str) -> str | None:
    """Return the spelling of a person's name that articles have, None if none has it."""
    rows = quads(subject=name_node(PERSON, name), predicate=expanded("foaf:name"))
    names = {row.object.value for row in rows if row.context.value.startswith("urn:freshet:mentions:")}
    return min(names, default=None)


def known_organisation(name: str) -> KnownOrganisation | None:
    """Return an organisation by its name, None if the graph does not know it."""
    node = name_node(ORGANISATION, name)
    statements = quads(subject=node, context=iri(GRAPH))
    names = sorted(row.object.value for row in statements if row.predicate == expanded("foaf:name"))
    if not names:
        return None
    pages = sorted(row.object.value for row in statements if row.predicate == expanded("foaf:page"))
    return KnownOrganisation(names[0], pages)
