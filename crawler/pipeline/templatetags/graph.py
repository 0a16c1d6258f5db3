"""Template tags of pages about the graph."""

from __future__ import annotations

from django import template

from crawler.pipeline.prefixes import compact

register = template.Library()


@register.filter
def compact_iri(iri: str) -> str:
    """Return an IRI with its vocabulary's short name."""
    return compact(iri)
