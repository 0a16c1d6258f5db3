"""What is exported is read back as the same statements, in every format.

A double is in its canonical form here: pyld spells others so, and leaves their value.
"""

from __future__ import annotations

from typing import Any

import pyoxigraph
import pytest

from crawler.pipeline.export import FORMS, chunks
from crawler.pipeline.models import Document
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument
from crawler.reading import detect as types
from crawler.reading.detect import detect
from tests.crawler.pipeline.test_questions import WORLD
from tests.crawler.pipeline.test_store import indexed

pytestmark = pytest.mark.django_db
ODD = r"""<http://s.example/a%20b> <http://p.example/> "quote \" backslash \\ \n \t \u00e9 日本 \U0001F600" .
<http://s.example/a%20b> <http://p.example/> "same"@de .
<http://s.example/a%20b> <http://p.example/> "same"@en-GB .
<http://s.example/a%20b> <http://p.example/> "same" .
<http://s.example/a%20b> <http://p.example/> "" .
<http://s.example/a%20b> <http://p.example/> "007"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://s.example/a%20b> <http://p.example/> "1.5E0"^^<http://www.w3.org/2001/XMLSchema#double> .
<http://s.example/a%20b> <http://p.example/> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .
<http://s.example/a%20b> <http://p.example/> "<b>x</b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML> .
<http://s.example/a%20b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://t.example/T> .
<http://s.example/a%20b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "a literal" .
<http://s.example/a%20b> <http://p.example/list> _:l .
_:l <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> "one" .
_:l <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> <http://www.w3.org/1999/02/22-rdf-syntax-ns#nil> .
_:l <http://p.example/more> _:m .
_:m <http://p.example/> _:l .
<urn:isbn:1> <mailto:a@b.example> <http://s.example/?q=a&b=c#d> ."""


@pytest.fixture
def world(settings: Any) -> set[pyoxigraph.Quad]:
    for url, text in WORLD.items():
        body = text.encode()
        document = SourceDocument(url, detect(body).type, body, "text/html; charset=utf-8")
        indexed(transform(document).triples, url)
    indexed(ODD, "http://odd.example/a%20b?x=1&y=2")
    return canonical(b"".join(chunks(Document.objects.all(), FORMS["nq"])), pyoxigraph.RdfFormat.N_QUADS)


def canonical(body: bytes, form: pyoxigraph.RdfFormat, *, graphs: bool = True) -> set[pyoxigraph.Quad]:
    """The statements with blank nodes under names that follow from what is said of them."""
    data = pyoxigraph.Dataset(pyoxigraph.parse(body, format=form))
    if not graphs:
        data = pyoxigraph.Dataset(pyoxigraph.Quad(q.subject, q.predicate, q.object) for q in data)
    data.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return set(data)


@pytest.mark.parametrize("form", FORMS)
def test_every_format_says_the_same(world: set[pyoxigraph.Quad], form: str) -> None:
    body = b"".join(chunks(Document.objects.all(), FORMS[form]))
    assert canonical(body, FORMS[form].format) == world


@pytest.mark.parametrize(
    ("form", "kind"), [("nq", types.N_QUADS), ("trig", types.TRIG), ("jsonld", types.JSON_LD)]
)
def test_what_is_exported_can_be_read_again(world: set[pyoxigraph.Quad], form: str, kind: str) -> None:
    body = b"".join(chunks(Document.objects.all(), FORMS[form]))
    assert detect(body, "application/octet-stream").type == kind
    again = transform(SourceDocument("http://reader.example/", kind, body))
    merged = "\n".join(str(quad.triple) + " ." for quad in world).encode()
    expected = canonical(merged, pyoxigraph.RdfFormat.N_TRIPLES)
    assert canonical(again.triples.encode(), pyoxigraph.RdfFormat.N_TRIPLES) == expected
