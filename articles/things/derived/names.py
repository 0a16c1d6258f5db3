"""Names that the graph knows: of people, by their bylines and by documents, and of organisations."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from django.db import connection, transaction

from articles.things.evidence import NAMES, keys_of
from articles.things.gazetteer import ORGANISATION, PERSON, KnownName, gathered
from articles.things.people import name_key
from crawler.pipeline.index import Terms
from crawler.pipeline.prefixes import PREFIXES, expanded, number
from crawler.pipeline.terms import Kind, Term, iri, safe

GRAPH = "urn:freshet:organisations"
MAX_PAGES = 5
MAX_NAMES = 50_000
"""Names of a kind, those in most documents first."""
_SCHEMAS = (PREFIXES["schema"], "https://schema.org/")
CLASSES = {
    PERSON: [PREFIXES["foaf"] + "Person", PREFIXES["as"] + "Person", *(s + "Person" for s in _SCHEMAS)],
    ORGANISATION: [
        PREFIXES["foaf"] + "Organization",
        PREFIXES["foaf"] + "Group",
        PREFIXES["vcard"] + "Organization",
        PREFIXES["as"] + "Organization",
        *(
            schema + name
            for schema in _SCHEMAS
            for name in (
                "Organization", "NewsMediaOrganization", "Corporation", "GovernmentOrganization", "NGO",
                "EducationalOrganization", "CollegeOrUniversity", "SportsTeam", "SportsOrganization",
                "MusicGroup", "PoliticalParty", "ResearchOrganization", "Airline", "Library", "Museum",
            )
        ),
    ],
}  # fmt: skip
_TYPE = expanded("rdf:type").key()
_URL = [schema + name for schema in _SCHEMAS for name in ("url", "sameAs")] + [PREFIXES["foaf"] + "homepage"]


def known_names(kind: str) -> list[KnownName]:
    """Return the usable names of a kind that enough documents have, those in most documents first."""
    return gathered(kind, _typed(kind))[:MAX_NAMES]


def _typed(kind: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, document and address (empty for none) of the things of a kind that documents describe."""
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(
            """
            SELECT name.value, document.value, coalesce(address.value, '') FROM pipeline_quad AS kind
            JOIN pipeline_quad AS named ON named.s = kind.s AND named.c = kind.c AND named.p = ANY(%s)
            JOIN pipeline_term AS name ON name.id = named.o AND name.kind = 2 AND length(name.value) <= 100
            JOIN pipeline_term AS document ON document.id = kind.c
            LEFT JOIN pipeline_quad AS placed
                ON placed.s = kind.s AND placed.c = kind.c AND placed.p = ANY(%s)
            LEFT JOIN pipeline_term AS address ON address.id = placed.o
            WHERE kind.p = %s AND kind.o = ANY(%s) AND document.value NOT LIKE 'urn:freshet:%%'
            """,
            [keys_of(NAMES), keys_of(_URL), _TYPE, keys_of(CLASSES[kind])],
        )
        for text, document, address in cursor:
            yield " ".join(text.split()), document, address


def name_node(kind: str, text: str) -> Term:
    """Return the term of a name, whichever person or organisation it means."""
    return iri(f"urn:freshet:name:{kind}:{quote(name_key(text))}"[:2000])


def organisations_graph(rows: list[KnownName]) -> Terms:
    """Return the statements about organisations: name, documents that name them, sites and addresses."""
    statements: Terms = []
    for row in rows:
        node = name_node(ORGANISATION, row.name.text)
        pages = row.pages()[:MAX_PAGES]
        statements += [
            (node, expanded("rdf:type"), expanded("foaf:Organization")),
            (node, expanded("foaf:name"), Term(Kind.LITERAL, row.name.text)),
            (node, expanded("freshet:documents"), number(row.documents)),
            *((node, expanded("foaf:page"), iri(safe(address))) for address in pages),
        ]
    return statements
