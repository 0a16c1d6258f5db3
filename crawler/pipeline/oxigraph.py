"""Our quads as Oxigraph has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import pyoxigraph

from crawler.pipeline.store import Quad
from crawler.pipeline.terms import node


def valid(given: Iterable[Quad]) -> Iterator[pyoxigraph.Quad]:
    """Quads; those that were stored with a term that no RDF can hold are left out."""
    for one in given:
        with suppress(ValueError, TypeError):
            yield pyoxigraph.Quad(*map(node, (one.subject, one.predicate, one.object, one.context)))
