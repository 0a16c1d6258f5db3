"""Our terms and quads as Oxigraph has them."""

from __future__ import annotations

from typing import Any

import pyoxigraph

from crawler.pipeline.store import Quad
from crawler.pipeline.terms import Kind, Term


def node(term: Term) -> Any:
    """A named node, a blank node or a literal."""
    if term.kind == Kind.IRI:
        return pyoxigraph.NamedNode(term.value)
    if term.kind == Kind.BLANK:
        return pyoxigraph.BlankNode(term.value)
    if term.lang:
        return pyoxigraph.Literal(term.value, language=term.lang)
    if term.datatype:
        return pyoxigraph.Literal(term.value, datatype=pyoxigraph.NamedNode(term.datatype))
    return pyoxigraph.Literal(term.value)


def quad(given: Quad) -> pyoxigraph.Quad:
    """A quad."""
    return pyoxigraph.Quad(*map(node, (given.subject, given.predicate, given.object, given.context)))
