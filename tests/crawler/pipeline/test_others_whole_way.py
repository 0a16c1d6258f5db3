"""XML and JSON of no known kind reach other people's transformers on the way from bytes to the graph."""

from __future__ import annotations

import pytest

from crawler.pipeline.inline import work_off
from crawler.pipeline.models import Document, HttpTransformer, Stylesheet
from tests.crawler.pipeline.test_foreign import TITLE
from tests.crawler.pipeline.test_plugins import N_TRIPLES, THEIRS, URL, with_body
from tests.crawler.pipeline.test_store import lines
from tests.servers import Reply, WebServer

pytestmark = pytest.mark.django_db


def worked_off(body: bytes, content_type: str) -> Document:
    row = with_body(body)
    Document.objects.filter(pk=row.pk).update(state="fetched", type="", content_type=content_type)
    work_off()
    row.refresh_from_db()
    return row


def test_a_stylesheet_makes_a_graph_of_xml() -> None:
    Stylesheet.objects.create(name="recipes", content=TITLE, types=["xml"])
    row = worked_off(b"<recipe><name>Soup</name></recipe>", "text/xml")
    assert (row.state, row.type, row.failure) == ("done", "xml", "")
    assert THEIRS[:-2] in " ".join(lines(URL))


def test_a_service_makes_a_graph_of_json() -> None:
    with WebServer() as web:
        web.replies["/heading"] = Reply(THEIRS.encode(), headers={"Content-Type": N_TRIPLES})
        HttpTransformer.objects.create(name="heading", address=f"{web.origin}/heading", types=["json"])
        row = worked_off(b'{"name": "Soup"}', "application/json")
        assert [request.body for request in web.requests] == [b'{"name": "Soup"}']
    assert (row.state, row.type, row.failure) == ("done", "json", "")
    assert THEIRS[:-2] in " ".join(lines(URL))


@pytest.mark.parametrize(
    ("body", "kind"), [(b"<recipe><name>Soup</name></recipe>", "text/xml"), (b'{"a": 1}', "application/json")]
)
def test_without_one_they_end_by_name(body: bytes, kind: str) -> None:
    row = worked_off(body, kind)
    assert (row.state, row.failed_phase, row.failure) == ("dead", "transform", "unsupported-type")
