"""Addresses that documents in the graph give as those of a person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from django.db import connection, transaction

from articles.things.people import name_key, site_of
from crawler.database.words import words_query
from crawler.pipeline.prefixes import PREFIXES
from crawler.pipeline.terms import Kind, Term
from crawler.text.search import Search, SearchError, parse_search

MAX_STATEMENTS = 5_000
_SCHEMAS = (PREFIXES["schema"], "https://schema.org/")
NAMES = [
    PREFIXES["foaf"] + "name",
    PREFIXES["vcard"] + "fn",
    PREFIXES["as"] + "name",
    *(schema + "name" for schema in _SCHEMAS),
]
_ADDRESSES = [
    *(PREFIXES["foaf"] + name for name in ("homepage", "weblog", "mbox", "mbox_sha1sum", "account", "page")),
    PREFIXES["owl"] + "sameAs",
    *(schema + name for schema in _SCHEMAS for name in ("url", "sameAs", "email", "identifier")),
]


def addresses_of(name: str, sites: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the addresses that documents of each site give for people of a name.

    An address is an IRI, or the text of an identifier. One that is only a site's own front page says nothing
    of the people on that site, and is left out.
    """
    try:
        search = parse_search(f'"{name.replace(chr(34), " ")}"')
    except SearchError:
        return {}
    by_site: defaultdict[str, set[str]] = defaultdict(set)
    for context, written, address in _statements(search):
        site = site_of(context)
        is_own = site in sites and name_key(written) == name_key(name)
        if is_own and address and not _is_front_page(address, site):
            by_site[site].add(address.rstrip("/"))
    return {site: frozenset(addresses) for site, addresses in by_site.items()}


def stated_addresses(keys: Collection[str]) -> dict[tuple[str, str], frozenset[str]]:
    """Return the addresses that documents give for people of these names, by `name_key` and site.

    It reads all of the graph's names once, and leaves out what `addresses_of` leaves out.
    """
    addresses: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(
            """
            SELECT document.value, name.value, address.value FROM pipeline_quad AS named
            JOIN pipeline_quad AS said ON said.s = named.s AND said.c = named.c AND said.p = ANY(%s)
            JOIN pipeline_term AS name ON name.id = named.o AND name.kind = 2 AND length(name.value) <= 200
            JOIN pipeline_term AS address ON address.id = said.o AND address.kind <> 1
            JOIN pipeline_term AS document ON document.id = named.c
            WHERE named.p = ANY(%s) AND document.value NOT LIKE 'urn:freshet:%%'
            """,
            [keys_of(_ADDRESSES), keys_of(NAMES)],
        )
        for context, name, address in cursor:
            key, site = name_key(name), site_of(context)
            if key in keys and address and not _is_front_page(address, site):
                addresses[key, site].add(address.rstrip("/"))
    return {place: frozenset(values) for place, values in addresses.items()}


def _is_front_page(address: str, site: str) -> bool:
    """Return whether an address is the front page of a site."""
    return site_of(address) == site and address.rstrip("/").count("/") == 2


def _statements(search: Search) -> list[tuple[str, str, str]]:
    """Return document, name and address of the people whose names match a search."""
    query = words_query(search)
    if not query:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH name AS MATERIALIZED (
                SELECT id, value FROM pipeline_term
                WHERE kind = 2 AND words @@ CAST(%s AS tsquery) AND length(value) <= 200 LIMIT 200
            ), person AS MATERIALIZED (
                SELECT DISTINCT named.s, named.c, name.value FROM name JOIN pipeline_quad AS named
                    ON named.o = name.id WHERE named.p = ANY(%s) LIMIT %s
            )
            SELECT document.value, person.value, address.value
            FROM person JOIN pipeline_quad AS said ON said.s = person.s AND said.c = person.c
            JOIN pipeline_term AS address ON address.id = said.o
            JOIN pipeline_term AS document ON document.id = person.c
            WHERE said.p = ANY(%s) AND address.kind <> 1 AND document.value NOT LIKE 'urn:freshet:%%'
            UNION
            SELECT document.value, person.value, subject.value
            FROM person JOIN pipeline_term AS subject ON subject.id = person.s AND subject.kind = 0
            JOIN pipeline_term AS document ON document.id = person.c
            WHERE subject.id <> document.id AND document.value NOT LIKE 'urn:freshet:%%' LIMIT %s
            """,
            [query, keys_of(NAMES), MAX_STATEMENTS, keys_of(_ADDRESSES), MAX_STATEMENTS],
        )
        return [(document, name, address) for document, name, address in cursor.fetchall()]


def keys_of(names: Collection[str]) -> list[int]:
    """Return the keys of predicates; no predicate has ever needed the second of its keys."""
    return [Term(Kind.IRI, name).key() for name in names]
