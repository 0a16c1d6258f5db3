"""Names in bylines, and which sites' people of one name are the same person. Pure.

People of one name on one site are one person. Two sites' people of one name are one where a document of each
gives them the same address: a home page, a profile, a mail address, an ORCID; or where the home page of the
one is on the site of the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from crawler.text.bylines import plain_byline
from crawler.text.characters import without_accents

MAX_NAMES = 20
"""Names of one byline."""
_SEPARATORS = re.compile(r"\s*[;|]\s*|\s+(?:and|und|et|y|e|og|och|en|&)\s+", re.IGNORECASE)
_BY = re.compile(r"^(?:by|von|par|por|di)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Evidence:
    """A reason why two sites' people of one name are the same: the sites and the address they share."""

    sites: tuple[str, str]
    address: str


@dataclass(slots=True)
class Person:
    """A person: the name, the sites with that person, and why they are one."""

    name: str
    sites: list[str]
    evidence: list[Evidence] = field(default_factory=list)


def names_of(byline: str) -> list[str]:
    """Return the names in a byline such as "By Ada Example and Bob Other", each once."""
    names: list[str] = []
    for part in _SEPARATORS.split(_BY.sub("", plain_byline(byline))):
        pieces = [piece.strip() for piece in part.split(",")]
        # "Lovelace, Ada" is one name; "Ada Lovelace, Bob Other" are two.
        is_list = len(pieces) > 1 and all(" " in piece for piece in pieces if piece)
        names += [_plain_name(piece) for piece in (pieces if is_list else [part])]
    return list(dict.fromkeys(filter(None, names)))[:MAX_NAMES]


def _plain_name(text: str) -> str:
    """Return a name without brackets and needless blanks around it."""
    return " ".join(text.split()).strip("()<>, ")


def name_key(name: str) -> str:
    """Return a name in small letters, without accents and punctuation, for comparing."""
    return " ".join(re.sub(r"[^\w\s]", " ", without_accents(name)).split())


def site_of(address: str) -> str:
    """Return the host of an address without "www.", empty for none."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def merged(name: str, sites: Sequence[str], addresses: Mapping[str, frozenset[str]]) -> list[Person]:
    """Return the people of one name. `addresses` has what documents of each site give as theirs."""
    leader = {site: site for site in sites}

    def find(site: str) -> str:
        while leader[site] != site:
            site = leader[site]
        return site

    evidence: list[Evidence] = []
    for at, first in enumerate(sites):
        for second in sites[at + 1 :]:
            shared = sorted(_shared(first, second, addresses))
            if shared:
                evidence.append(Evidence((first, second), shared[0]))
                leader[find(second)] = find(first)
    people: dict[str, Person] = {}
    for site in sites:
        people.setdefault(find(site), Person(name, [])).sites.append(site)
    for reason in evidence:
        people[find(reason.sites[0])].evidence.append(reason)
    return list(people.values())


def _shared(first: str, second: str, addresses: Mapping[str, frozenset[str]]) -> set[str]:
    """Return the addresses by which two sites' people are one. A front page says nothing on its own site."""
    of_first, of_second = addresses.get(first, frozenset()), addresses.get(second, frozenset())
    shared = set(of_first & of_second)
    shared |= {address for address in of_first if site_of(address) == second}
    return shared | {address for address in of_second if site_of(address) == first}
