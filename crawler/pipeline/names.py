"""Names of what is in the graph, for people: titles in place of addresses, and the pages about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.db import connection
from django.urls import reverse
from django.utils.http import urlencode

from crawler.pipeline.prefixes import expanded
from crawler.pipeline.store import read_terms
from crawler.pipeline.terms import iri

MAX_TITLES = 5_000
MAX_CHARACTERS = 200
_TITLES = ("dct:title", "foaf:name", "schema:name", "rdfs:label", "rss:title")
_END = re.compile(r"\.(?:html?|php|aspx?|xml|json)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Title:
    """The title of a thing, and the address of its page here."""

    title: str
    url: str


NAMERS: list[Callable[[Collection[str]], dict[str, Title]]] = []
"""Functions of apps that name addresses of theirs, such as feeds and articles; the first name holds."""
SITE_FINDERS: list[Callable[[str], list[str]]] = []
"""Functions of apps that return the hosts of the sites with a name."""
PERSON_PAGES: list[Callable[[str], str]] = []
"""Functions of apps that return the address of a person's page by name; the first one is used."""


def names_of(addresses: Collection[str]) -> dict[str, Title]:
    """Return a name for every address: an app's, else its title in the graph, else what it reads like."""
    names: dict[str, Title] = {}
    for namer in NAMERS:
        names = namer(addresses) | names
    titles = _stored_titles([address for address in addresses if address not in names])
    return {
        address: names.get(address) or Title(titles.get(address) or readable(address), page_about(address))
        for address in addresses
    }


def page_about(term: str) -> str:
    """Return the address of the page that shows who says what of a term."""
    return f"{reverse('graph-entity')}?{urlencode({'iri': term})}"


def readable(address: str) -> str:
    """Return what people can read in an address: its host and the last part of its path."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address[:MAX_CHARACTERS]
    if not parts.netloc:
        return address.rpartition(":")[2][:MAX_CHARACTERS] or address
    host = (parts.hostname or parts.netloc).removeprefix("www.")
    last = parts.fragment or _END.sub("", parts.path.rstrip("/").rpartition("/")[2])
    words = " ".join(re.split(r"[-_+\s]+", unquote(last))).strip()
    return f"{host} › {words}"[:MAX_CHARACTERS] if words else host


def hosts_named(name: str) -> list[str]:
    """Return the hosts of the sites with a name, each once."""
    return list(dict.fromkeys(host for finder in SITE_FINDERS for host in finder(name)))


def person_page(name: str) -> str:
    """Return the address of a person's page, empty where no app has such pages."""
    return PERSON_PAGES[0](name) if PERSON_PAGES else ""


def _stored_titles(addresses: Collection[str]) -> dict[str, str]:
    """Return the titles of these addresses in the graph, those that a document gives itself before others."""
    if not addresses:
        return {}
    of_key = {iri(address).key(): address for address in addresses}
    rank = {expanded(name).key(): number for number, name in enumerate(_TITLES)}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s, p, c, o FROM pipeline_quad WHERE s = ANY(%s) AND p = ANY(%s) LIMIT %s",
            [list(of_key), list(rank), MAX_TITLES],
        )
        rows = sorted(cursor.fetchall(), key=lambda row: (rank[row[1]], row[0] != row[2], row[2], row[3]))
    best: dict[int, int] = {}
    for subject, _, _, value in rows:
        best.setdefault(subject, value)
    terms = read_terms(set(best.values()))
    titles = {of_key[key]: " ".join(terms[value].value.split()) for key, value in best.items()}
    return {address: title[:MAX_CHARACTERS] for address, title in titles.items() if title}
