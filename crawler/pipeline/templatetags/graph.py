"""What pages about the graph need beyond what all pages share."""

from __future__ import annotations

from django import template

from crawler.pipeline.prefixes import compact

register = template.Library()


@register.filter
def compact_iri(iri: str) -> str:
    """An IRI with its vocabulary's short name."""
    return compact(iri)
