"""Facts about a thing, as people read them: each fact with who says it, and disagreement shown as such."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_lazy

from crawler.pipeline.graph_search import Entity
from crawler.pipeline.names import Title, page_about
from crawler.pipeline.prefixes import PREFIXES, compact
from crawler.pipeline.store import META
from crawler.pipeline.terms import Kind, Term

MAX_VALUES = 5
MAX_SAYERS = 4
PREDICATES: dict[str, Any] = {
    "rdf:type": gettext_lazy("Is a"),
    "dct:title": gettext_lazy("Title"),
    "foaf:name": gettext_lazy("Name"),
    "schema:name": gettext_lazy("Name"),
    "rdfs:label": gettext_lazy("Name"),
    "dct:creator": gettext_lazy("Written by"),
    "foaf:maker": gettext_lazy("Written by"),
    "schema:author": gettext_lazy("Written by"),
    "dct:language": gettext_lazy("Language"),
    "dct:description": gettext_lazy("In short"),
    "dct:abstract": gettext_lazy("In short"),
    "dct:created": gettext_lazy("Published"),
    "dct:issued": gettext_lazy("Published"),
    "schema:datePublished": gettext_lazy("Published"),
    "dct:modified": gettext_lazy("Changed"),
    "sioc:links_to": gettext_lazy("Links to"),
    "rdfs:seeAlso": gettext_lazy("See also"),
    "sioc:container_of": gettext_lazy("Contains"),
    "sioc:has_container": gettext_lazy("Is in"),
    "dct:isPartOf": gettext_lazy("Is in"),
    "foaf:homepage": gettext_lazy("Home page"),
    "foaf:topic": gettext_lazy("Is about"),
    "schema:about": gettext_lazy("Is about"),
    "schema:mentions": gettext_lazy("Names"),
    "xhv:license": gettext_lazy("Licence"),
}
"""Predicates in words, by their short names."""
SINGLE = {"dct:title", "foaf:name", "schema:name", "dct:created", "dct:issued", "schema:datePublished",
          "schema:foundingDate", "schema:birthDate", "dct:language", "foaf:homepage"}  # fmt: skip
"""Predicates with one true value: two sources with different ones disagree."""


@dataclass(slots=True)
class FactValue:
    """A value of a fact, with its page, and the names of those who say it."""

    text: str
    url: str = ""
    lang: str = ""
    who: list[Title] = field(default_factory=list)
    is_own: bool = False

    @property
    def shown_who(self) -> list[Title]:
        """The first of those who say it."""
        return self.who[:MAX_SAYERS]

    @property
    def more_who(self) -> int:
        """The number of the others who say it."""
        return max(0, len(self.who) - MAX_SAYERS)


@dataclass(slots=True)
class Fact:
    """Values of one predicate of a thing."""

    label: str
    values: list[FactValue]
    is_disputed: bool = False

    @property
    def shown(self) -> list[FactValue]:
        """The first values; all of those that are disputed."""
        return self.values if self.is_disputed else self.values[:MAX_VALUES]

    @property
    def more(self) -> int:
        """The number of the other values."""
        return len(self.values) - len(self.shown)


def addresses_in(entity: Entity) -> set[str]:
    """Return the addresses of a thing's page that want names."""
    terms = {entity.term}
    for document in entity.said:
        terms |= {document.context, *(quad.object for quad in document.quads)}
    for quad in entity.named:
        terms |= {quad.subject, quad.context}
    return {term.value for term in terms if term.kind == Kind.IRI}


def facts_of(entity: Entity, names: Mapping[str, Title]) -> list[Fact]:
    """Return what documents say of a thing, by predicate, what most of them say first.

    The graph that tells where documents came from says nothing of the thing itself, and is left out.
    """
    values: dict[str, dict[Term, FactValue]] = {}
    for document in entity.said:
        if document.context == META:
            continue
        source = names.get(document.context.value, Title(document.context.value, ""))
        for quad in document.quads:
            value = values.setdefault(quad.predicate.value, {}).setdefault(
                quad.object, _value(quad.object, names)
            )
            if document.context == entity.term:
                value.is_own = True
            elif source not in value.who:
                value.who.append(source)
    facts = [_fact(predicate, list(by_object.values())) for predicate, by_object in values.items()]
    order = {name: number for number, name in enumerate(PREDICATES)}
    by_label = {predicate: order.get(compact(predicate), len(order)) for predicate in values}
    return [fact for _, fact in sorted(zip(by_label.values(), facts, strict=True), key=lambda pair: pair[0])]


def predicate_words(predicate: str) -> str:
    """Return a predicate in words: known ones in the reader's language, others as their name reads."""
    short = compact(predicate)
    if short in PREDICATES:
        return str(PREDICATES[short])
    local = re.split(r"[/#:]", predicate.rstrip("/#"))[-1]
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]+", " ", local).strip().capitalize() or predicate


def _fact(predicate: str, values: list[FactValue]) -> Fact:
    texts = {value.text.casefold() for value in values}
    sayers = {(value.is_own, tuple(name.title for name in value.who)) for value in values}
    is_disputed = compact(predicate) in SINGLE and len(texts) > 1 and len(sayers) > 1
    return Fact(predicate_words(predicate), values, is_disputed)


def _value(term: Term, names: Mapping[str, Title]) -> FactValue:
    if term.kind == Kind.LITERAL:
        return FactValue(" ".join(term.value.split())[:300], lang=term.lang)
    if term.kind == Kind.BLANK:
        return FactValue("", page_about(term.n3()))
    if any(term.value.startswith(space) for space in PREFIXES.values()):
        return FactValue(predicate_words(term.value).lower())
    name = names[term.value]
    return FactValue(name.title, name.url)
