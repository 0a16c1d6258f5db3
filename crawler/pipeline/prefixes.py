"""Short names of vocabularies, for people; prefix.cc's if it has one."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from crawler.pipeline.terms import Kind, Term

PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "dct": "http://purl.org/dc/terms/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "sioc": "http://rdfs.org/sioc/ns#",
    "schema": "http://schema.org/",
    "rss": "http://purl.org/rss/1.0/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "xhv": "http://www.w3.org/1999/xhtml/vocab#",
    "prov": "http://www.w3.org/ns/prov#",
    "freshet": "urn:freshet:",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "as": "https://www.w3.org/ns/activitystreams#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "void": "http://rdfs.org/ns/void#",
    "og": "http://ogp.me/ns#",
    "exif": "http://www.w3.org/2003/12/exif/ns#",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
}
_PREFIXES_BY_LENGTH = sorted(PREFIXES.items(), key=lambda prefix: -len(prefix[1]))


def expanded(name: str) -> Term:
    """Expand a name such as `dct:title` to its term. Raises KeyError for an unknown prefix."""
    prefix, _, local = name.partition(":")
    return Term(Kind.IRI, PREFIXES[prefix] + local)


def number(value: int) -> Term:
    """Return a whole number as a term."""
    return Term(Kind.LITERAL, str(value), datatype=PREFIXES["xsd"] + "integer")


def moment(when: datetime) -> Term:
    """Return a moment as a term, to the second and in UTC."""
    text = when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Term(Kind.LITERAL, text, datatype=PREFIXES["xsd"] + "dateTime")


def compact(iri: str) -> str:
    """Shorten an IRI of a known vocabulary to `dct:title`. Returns other IRIs unchanged."""
    for prefix, space in _PREFIXES_BY_LENGTH:
        if iri.startswith(space) and iri != space:
            return f"{prefix}:{iri[len(space) :]}"
    return iri


def with_prefixes(query: str) -> str:
    """Return a SPARQL query with a PREFIX line for each known short name that it does not declare."""
    text = _QUOTED.sub(" ", query)
    declared = {name.lower() for name in _DECLARED.findall(text)}
    used = {name for name in _USED.findall(_DECLARED.sub(" ", text)) if name in PREFIXES}
    lines = [f"PREFIX {name}: <{PREFIXES[name]}>\n" for name in sorted(used) if name not in declared]
    return "".join(lines) + query


_QUOTED = re.compile(r"""<[^<>\s]*>|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*""")
_DECLARED = re.compile(r"\bPREFIX\s+([\w.-]*):", re.IGNORECASE)
_USED = re.compile(r"(?<![\w:?$.-])([A-Za-z][\w.-]*):")
