"""Conversion of stored quads to Oxigraph's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import pyoxigraph

from crawler.pipeline.store import Quad
from crawler.pipeline.terms import node


def valid(quads: Iterable[Quad]) -> Iterator[pyoxigraph.Quad]:
    """Yield Oxigraph's quads, leaving out quads with a stored term that is invalid RDF."""
    for quad in quads:
        with suppress(ValueError, TypeError):
            yield pyoxigraph.Quad(*map(node, (quad.subject, quad.predicate, quad.object, quad.context)))
